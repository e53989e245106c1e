package tracetest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Packets is a protocol as the tests that all protocols share see it: its lexer,
// its encoder and its text form. What is nil or empty is not tested.
type Packets[P comparable, PP packet[P]] struct {
	Name    string // of the files in testdata/packets and docs/formats
	Formats int    // how many formats of trace the tests take
	// Unit returns the format that a case's trace unit sends, -1 if there is none;
	// nil: cases name no unit, and formats share their text form.
	Unit  func(name string) (format int)
	Codec func(format int) *packettext.Codec[P]
	Lex   func(format int, buf []byte, base int64) Lexer[P]
	Kind  func(p *P) int // 0: bytes that are no packet
	Sync  string         // what sync points begin with
	Find  func(buf []byte, from int) (off int, ok bool)

	Refused [][2]string // lines of text that no packet holds, and what the error says
	Dumped  [][2]string // the bytes of a packet of the last format, and its dump
	Beyond  P           // of NoKind
	NoKind  fmt.Stringer

	Random func(r *rand.Rand, format int) P // a packet that the lexer can give
	Put    func(p *P, off int64, size int)  // sets where such a packet lies and how long it is, bytes
	Rounds [2]int                           // of random packets: in a test's small form and in its full one
	Heads  []string                         // what random bytes hold more often than chance does
	Odd    func(kind int, v uint8) P        // a packet that no lexer gives, with v in its numbers
	Most   int                              // bytes that the encoder makes of it at most
	Bytes  func(r *rand.Rand) byte          // of streams in which many packets can be read at a time

	// Of lexers that can Fill: a packet of which every field is wrong, the
	// protocol's Place, and what clears the fields that Fill leaves open.
	Dirty P
	Place func(q []P, off int64)
	Tidy  func(p *P)
}

// packet is a pointer to a packet of any protocol.
type packet[P any] interface {
	*P
	fmt.Stringer
	AppendText(dst, raw []byte) []byte
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
	t.Run("cases", func(t *testing.T) {
		packettest.CheckCases[P, PP](t, x.Cases(t), func(c *packettest.Case) *packettext.Codec[P] { return x.Codec(x.formatOf(t, c)) })
	})
	// Catches text that is taken though no packet holds it.
	t.Run("refused", func(t *testing.T) { packettest.Refuses(t, x.Codec(x.Formats-1), x.Refused) })
	// Catches a dump that names kinds otherwise than the manual, means something else
	// than was sent, or hides why bytes are bad.
	t.Run("dumped", func(t *testing.T) {
		packettest.Dumps[P, PP](t, func(code string) (p P) {
			x.Lex(x.Formats-1, []byte(code), 0).Next(&p)
			return p
		}, x.Dumped, x.Beyond, x.NoKind)
	})
	// Catches a field that is lost or displaced in bytes or text for some value, and
	// a length that depends on what comes before or after.
	if x.Random != nil {
		t.Run("sequences", x.sequences)
	}
	// Catches a read that depends on more than the bytes: any bytes come back whole,
	// among them sync points and packets cut short.
	t.Run("bytes", x.randomBytes)
	// Catches a panic on packets that no lexer gives.
	t.Run("anything", x.anything)
	// Catches packets read many at a time that differ from those read one by one. It
	// looks at the end of the bytes, of the packets asked for, behind bytes that are no
	// packet.
	if x.Bytes != nil {
		t.Run("fill", x.fill)
	}
}

// Lexers returns the Lex of a protocol whose lexer is made of a format.
func Lexers[F, P any, L Lexer[P]](formats []F, make func(f F, buf []byte, base int64) L) func(format int, buf []byte, base int64) Lexer[P] {
	return func(format int, buf []byte, base int64) Lexer[P] { return make(formats[format], buf, base) }
}

// Cases returns the cases of the protocol's file.
func (x *Packets[P, PP]) Cases(tb testing.TB) []packettest.Case {
	tb.Helper()
	return packettest.Cases(tb, "../../testdata/packets/"+x.Name+".txt", x.Codec(0).Table, false)
}

// formatOf returns the format of a case, 0 where it names no unit.
func (x *Packets[P, PP]) formatOf(tb testing.TB, c *packettest.Case) (format int) {
	tb.Helper()
	if x.Unit != nil {
		if format = x.Unit(c.Unit); format < 0 {
			tb.Fatalf("%s: no trace unit %q", c.At, c.Unit)
		}
	}
	return format
}

// Reencode returns the packets of buf as bytes again, those that are bad as they
// stand. It fails the test where packets do not follow each other without a hole.
func (x *Packets[P, PP]) Reencode(tb testing.TB, format int, buf []byte) []byte {
	tb.Helper()
	return packettest.Reencode[P, PP](tb, buf, func(base int64) iter.Seq[P] { return packettext.All(x.Lex(format, buf, base).Next) },
		func(p *P) bool { return x.Kind(p) == 0 })
}

func (x *Packets[P, PP]) sequences(t *testing.T) {
	packettest.Sequences[P, PP](t, testsize.Of(t, x.Rounds[0], x.Rounds[1]), func(r *rand.Rand, round int) (s packettest.Sequence[P]) {
		format := round % x.Formats
		for range 12 {
			p := x.Random(r, format)
			off := len(s.Bytes)
			s.Bytes = PP(&p).Append(s.Bytes)
			x.Put(&p, int64(off), len(s.Bytes)-off)
			s.Packets = append(s.Packets, p)
		}
		s.Lex, s.Codec = packettext.All(x.Lex(format, s.Bytes, 0).Next), x.Codec(format)
		return s
	})
}

func (x *Packets[P, PP]) randomBytes(t *testing.T) {
	packettest.RandomBytes(t, testsize.Of(t, 10_000, 100_000), append(x.Heads, x.Sync), func(round int, buf []byte) []byte {
		return x.Reencode(t, round%x.Formats, buf)
	})
}

func (x *Packets[P, PP]) anything(t *testing.T) {
	for kind := range 256 {
		for _, v := range []uint8{0, 1, 3, 7, 64, 255} {
			p := x.Odd(kind, v)
			if b := PP(&p).Append(nil); len(b) > x.Most {
				t.Errorf("%+v gives %d bytes", p, len(b))
			}
			_ = PP(&p).String()
			_ = PP(&p).AppendText(nil, nil)
		}
	}
}

func (x *Packets[P, PP]) fill(t *testing.T) {
	for format := range x.Formats {
		packettest.Fill(t, 1000, x.Dirty, x.placer(t), x.Bytes,
			func(buf []byte) packettest.Lexer[P] { return x.Lex(format, buf, 7).(packettest.Lexer[P]) })
	}
}

// placer returns what gives packets that Fill has read the rest of their fields. What
// it clears must not show in their text or bytes.
func (x *Packets[P, PP]) placer(tb testing.TB) func(q []P, off int64) {
	return func(q []P, off int64) {
		x.Place(q, off)
		for i := range q {
			p := q[i]
			x.Tidy(&p)
			packettest.Same[P, PP](tb, q[i], p)
			q[i] = p
		}
	}
}
