package packettest

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Row is what a protocol's table says of a kind of packet, for those whose kind the
// leading byte tells.
type Row struct {
	Name    string
	Lead    string // the leading byte: two hex digits, or eight bits with letters where any bit may stand
	Layout  string // what follows it
	Says    string
	Section string // of the manual
}

// Fixed returns the leading byte; those bits of b that mask has are fixed.
func (r *Row) Fixed(tb testing.TB) (b, mask byte) {
	tb.Helper()
	if len(r.Lead) == 2 {
		v, err := strconv.ParseUint(r.Lead, 16, 8)
		if err != nil {
			tb.Fatalf("%q: %v", r.Lead, err)
		}
		return byte(v), 0xff
	}
	if len(r.Lead) != 8 {
		tb.Fatalf("%q is neither two digits nor eight bits", r.Lead)
	}
	for _, c := range r.Lead {
		b, mask = b<<1, mask<<1
		if c == '0' || c == '1' {
			b, mask = b|byte(c-'0'), mask|1
		}
	}
	return b, mask
}

// TableAgrees fails the test where the lexer or the document say something else than
// the table. The lexer gets the Prefixes, behind them zeros, ones and others, in each
// format. slow returns the length of a kind's packet by the table alone, 0 where it is
// none.
func (x *Packets[P, PP]) TableAgrees(t *testing.T, row func(kind int) Row, slow func(kind, format int, buf []byte) int) {
	t.Helper()
	x.DocAgrees(t, []string{"packet", "bytes", "says", "section"}, 2, func(kind int) []string {
		r := row(kind)
		return []string{r.Name, "`" + r.Lead + r.Layout + "`", r.Says, r.Section}
	})
	var kinds [256][]int // by first byte
	for k := 1; k < len(x.Codec(0).Table); k++ {
		r := row(k)
		lead, mask := r.Fixed(t)
		for b := range 256 {
			if (byte(b)^lead)&mask == 0 {
				kinds[b] = append(kinds[b], k)
			}
		}
	}
	behind := []string{
		strings.Repeat("\x00", 300), strings.Repeat("\xff", 21),
		"\x00\x00\x80\xc0\x80\x40\xff\x80\x80\x80\x80\x80\x80\x00\x00\x00\x00\x00\x00\x00",
		"\x80\x80\x80\x80\x80\x80\x80\x7f\x00\xc0\x80\x80\x80\x80\x01\x01\x01\x01",
	}
	for format := range x.Formats {
		lex := x.Lex(format, nil, 0)
		for _, tail := range behind {
			buf := append(make([]byte, 3), tail...)
			for front := range Prefixes(t, 7) {
				copy(buf, front[:])
				x.rowAgrees(t, lex, buf, kinds[buf[0]], func(kind int) int { return slow(kind, format, buf) })
			}
		}
	}
}

// rowAgrees fails the test where lex reads another packet at the front of buf than the
// first of kinds that has a length there.
func (x *Packets[P, PP]) rowAgrees(t *testing.T, lex Lexer[P], buf []byte, kinds []int, length func(kind int) int) {
	want, size := 0, 0
	for _, k := range kinds {
		if size = length(k); size != 0 {
			want = k
			break
		}
	}
	var p P
	lex.Reset(buf, 0)
	lex.Next(&p)
	kind, n := x.Kind(&p), 0
	if kind != 0 {
		n = int(PP(&p).Size())
	}
	if kind != want || n != size {
		t.Fatalf("%x: lexer: kind %d, %d bytes; table: kind %d, %d bytes", buf[:16], kind, n, want, size)
	}
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
	file := "docs/formats/" + cmp.Or(x.Doc, x.Name) + "-packets.md"
	doc, err := os.ReadFile(x.file(t, file))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), b.String()) {
		t.Errorf("%s does not hold the table of spec.go, which is\n%s", file, b.String())
	}
	_, rest, ok := strings.Cut(string(doc), "```\n")
	example, _, ok2 := strings.Cut(rest, "```")
	if _, err := codec.Assemble(nil, example); err != nil || !ok || !ok2 {
		t.Errorf("%s: example: %v (found: %v)", file, err, ok && ok2)
	}
}
