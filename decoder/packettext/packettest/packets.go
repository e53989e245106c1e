package packettest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Packets is a protocol as the tests that all protocols share see it: its lexer,
// its encoder and its text form. What is nil or empty is not tested.
type Packets[P comparable, PP packet[P]] struct {
	Name    string // of the file in testdata/packets
	Doc     string // of the document in docs/formats; "": Name
	Formats int    // how many formats of trace the tests take
	// Unit returns the format that a case's trace unit sends, -1 if there is none;
	// nil: cases name no unit, and formats share their text form.
	Unit  func(name string) (format int)
	Codec func(format int) *packettext.Codec[P]
	Lex   func(format int, buf []byte, base int64) Lexer[P]
	Kind  func(p *P) int   // 0: bytes that are no packet
	Off   func(p *P) int64 // of the byte that a packet starts in, bytes; nil: Size before its End
	Sync  string           // what sync points begin with
	Find  func(buf []byte, from int) (off int, ok bool)

	Refused string       // lines of text that no packet holds, " => " and what the error says; without that, one that a packet does
	Dumped  [][2]string  // the bytes of a packet of the last format, and its dump
	NoKind  fmt.Stringer // a kind that the table does not have

	Random func(r *rand.Rand, format int) P // a packet that the lexer can give
	Put    func(p *P, off int64, size int)  // sets where such a packet lies and how long it is, bytes
	Rounds [2]int                           // of random packets: in a test's small form and in its full one
	Heads  []string                         // what random bytes hold more often than chance does
	Odd    func(kind int, v uint8) P        // a packet that no lexer gives, with v in its numbers
	Most   int                              // bytes that the encoder makes of it at most
	Bytes  func(r *rand.Rand) byte          // of streams in which many packets can be read at a time

	// Of lexers that can Fill: a packet of which every field is wrong, and what clears the
	// fields that Fill and PlaceAt leave open.
	Dirty P
	Tidy  func(p *P)
}

// packet is a pointer to a packet of any protocol.
type packet[P any] interface {
	*P
	fmt.Stringer
	AppendText(dst, raw []byte) []byte
	AppendFields(dst []byte) []byte
	Append(dst []byte) []byte
	End() int64
	Size() int64
}

// Lexer splits bytes into packets.
type Lexer[P any] interface {
	// Next reads one packet; it returns false behind the last.
	Next(p *P) bool
	// Reset begins other bytes, the first of which lies at offset base of its stream.
	Reset(buf []byte, base int64)
}

// Test runs all that does not depend on how a protocol's table is written.
func (x *Packets[P, PP]) Test(t *testing.T) {
	// Catches, packet by packet, a wrong length, a wrong field, a text that does not
	// come back, and a kind that no case shows.
	if !x.halves() {
		t.Run("cases", x.checkCases)
	}
	// Catches text that is taken though no packet holds it.
	t.Run("refused", x.refuses)
	// Catches a dump that names kinds otherwise than the manual, means something else
	// than was sent, or hides why bytes are bad.
	t.Run("dumped", x.dumps)
	// Catches a field that is lost or displaced in bytes or text for some value, and
	// a length that depends on what comes before or after.
	if x.Random != nil {
		t.Run("sequences", func(t *testing.T) { x.Sequences(t, x.twelve) })
	}
	// Catches a read that depends on more than the bytes: any bytes come back whole,
	// among them sync points and packets cut short.
	if x.Heads != nil {
		t.Run("bytes", x.randomBytes)
	}
	// Catches a panic on packets that no lexer gives.
	t.Run("anything", x.anything)
	// Catches packets read many at a time that differ from those read one by one. It
	// looks at the end of the bytes, of the packets asked for, behind bytes that are no
	// packet.
	if x.Bytes != nil {
		t.Run("fill", x.fill)
	}
}

// halves reports whether packets consist of half bytes.
func (x *Packets[P, PP]) halves() bool { return x.Codec(0).Pack != nil }

// file returns where a file of the repository lies, as its path there.
func (x *Packets[P, PP]) file(tb testing.TB, name string) string {
	tb.Helper()
	for dir := ""; len(dir) < 100; dir += "../" {
		if _, err := os.Stat(dir + "go.mod"); err == nil {
			return dir + name
		}
	}
	tb.Fatal("no go.mod above the test")
	return ""
}

// formatOf returns the format of a case, 0 where it names no unit.
func (x *Packets[P, PP]) formatOf(tb testing.TB, c *textCase) (format int) {
	tb.Helper()
	if x.Unit != nil {
		if format = x.Unit(c.Unit); format < 0 {
			tb.Fatalf("%s: no trace unit %q", c.At, c.Unit)
		}
	}
	return format
}

func (x *Packets[P, PP]) anything(t *testing.T) {
	for kind := range 256 {
		for _, v := range []uint8{0, 1, 3, 7, 13, 15, 64, 255} {
			p := x.Odd(kind, v)
			if b := PP(&p).Append(nil); len(b) > x.Most {
				t.Errorf("%+v gives %d bytes", p, len(b))
			}
			_ = PP(&p).String()
			_ = PP(&p).AppendText(nil, nil)
		}
	}
}
