package tracetest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// Row is what a protocol's table says of a kind of packet, for those whose kind the
// leading byte tells.
type Row struct {
	Name    string
	Lead    string // as packettest.Lead reads it
	Layout  string // what follows it
	Says    string
	Section string // of the manual
}

// TableAgrees fails the test where the lexer or the document say something else than
// the table. The lexer gets three bytes that a packet can start with, behind them
// zeros, ones and others, in each format. slow returns the length of a kind's packet
// by the table alone, 0 where it is none.
func (x *Packets[P, PP]) TableAgrees(t *testing.T, row func(kind int) Row, slow func(kind, format int, buf []byte) int) {
	t.Helper()
	x.DocAgrees(t, []string{"packet", "bytes", "says", "section"}, 2, func(kind int) []string {
		r := row(kind)
		return []string{r.Name, "`" + r.Lead + r.Layout + "`", r.Says, r.Section}
	})
	leads := make([]string, len(x.Codec(0).Table))
	for kind := range leads {
		leads[kind] = row(kind).Lead
	}
	behind := []string{
		strings.Repeat("\x00", 300), strings.Repeat("\xff", 21),
		"\x00\x00\x80\xc0\x80\x40\xff\x80\x80\x80\x80\x80\x80\x00\x00\x00\x00\x00\x00\x00",
		"\x80\x80\x80\x80\x80\x80\x80\x7f\x00\xc0\x80\x80\x80\x80\x01\x01\x01\x01",
	}
	for format := range x.Formats {
		l := x.Lex(format, nil, 0)
		packettest.SpecAgrees(t, behind, leads, func(kind int, buf []byte) int { return slow(kind, format, buf) }, func(buf []byte) (kind, size int) {
			var p P
			l.Reset(buf, 0)
			l.Next(&p)
			if kind = x.Kind(&p); kind == 0 {
				return 0, 0
			}
			return kind, int(PP(&p).Size())
		})
	}
}

// SlowASync returns the length of the A-sync of ETMv3 or PTM that buf begins with, 0
// if it begins with none. It looks at one byte after the other.
func SlowASync(buf []byte) (n int) {
	for n < len(buf) && buf[n] == 0 {
		n++
	}
	if n < 5 || n > 250 || n == len(buf) || buf[n] != 0x80 {
		return 0
	}
	return n + 1
}

// DocAgrees fails the test where the protocol's document lacks the table of its
// packets, or shows text that is none of its packets. columns names the columns
// beside that of the text form; row returns those of a kind.
func (x *Packets[P, PP]) DocAgrees(t *testing.T, columns []string, textAt int, row func(kind int) []string) {
	t.Helper()
	codec := x.Codec(x.Formats - 1)
	var b strings.Builder
	line := func(words []string, text string) {
		b.WriteString("| " + strings.Join(slices.Insert(words, textAt, text), " | ") + " |\n")
	}
	line(columns, "text form")
	b.WriteString("|" + strings.Repeat("---|", len(columns)+1) + "\n")
	for kind := 1; kind < len(codec.Table); kind++ {
		line(row(kind), "`"+codec.Table[kind].Usage()+"`")
	}
	packettest.DocAgrees(t, "../../docs/formats/"+x.Name+"-packets.md", b.String(),
		func(text string) ([]byte, error) { return codec.Assemble(nil, text) })
}

// Layout is the parts of a packet behind its leading byte, those that have a name.
func Layout[T ~uint8](parts []T, names []string) (s string) {
	for _, p := range parts {
		if names[p] != "" {
			s += " " + names[p]
		}
	}
	return s
}

// RandomStamp returns a timestamp of ETMv3 or PTM as the lexer gives it, and how many
// bytes it has.
func RandomStamp(r *rand.Rand, wide bool) (v uint64, n uint8) {
	most := uint8(7)
	if wide {
		most = 9
	}
	n = 1 + uint8(r.IntN(int(most)))
	if n == most {
		return r.Uint64() >> max(0, 64-(7*(int(most)-1)+8)), n
	}
	return r.Uint64() & (1<<(7*n) - 1), n
}
