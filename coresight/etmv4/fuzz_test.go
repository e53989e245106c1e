package etmv4

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
)

// units are the trace units of the fuzz targets, by their first byte.
var units = []string{"etmv4.0", "etmv4.6", "ete1.0", "ete1.3"}

// FuzzLexer: whatever the bytes, the lexer ends, its offsets rise to the end
// without a hole, many packets at a time are those one by one, and encoder and
// text form give the bytes back. The seeds are the lines of
// testdata/packets/etmv4.txt with what follows them, and those named in
// testdata/fuzz/FuzzLexer.
func FuzzLexer(f *testing.F) {
	for _, c := range readCases(f) {
		for i, name := range units {
			if name == c.unit {
				f.Add(uint8(i), append(bytes.Clone(c.bytes), c.rest...))
			}
		}
	}
	f.Fuzz(func(t *testing.T, unit uint8, buf []byte) {
		c := testConfigs[units[int(unit)%len(units)]]
		if out := reencode(t, c, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		var text []byte
		for p := range NewLexer(c, buf, 0).All() {
			text = append(AppendText(text, p, buf[p.Off:p.End()]), '\n')
		}
		if out, err := Assemble(c, nil, string(text)); err != nil || !bytes.Equal(out, buf) {
			t.Fatalf("%x: text %s gives %x, %v", buf, text, out, err)
		}
		place := func(q []Packet, off int64) { tidy(t, q, off) }
		if wrong := tracetest.Fills(NewLexer(c, buf, 7), NewLexer(c, buf, 7), place, slices.Repeat([]Packet{dirty}, 1+len(buf)%20)); wrong != "" {
			t.Fatalf("%x: %s", buf, wrong)
		}
		for from := 0; ; {
			off, ok := FindSync(buf, from)
			if !ok {
				break
			}
			if off < from || !bytes.HasPrefix(buf[off:], []byte(async)) {
				t.Fatalf("%x: FindSync from %d gives %d", buf, from, off)
			}
			from = off + 1
		}
	})
}
