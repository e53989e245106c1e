package ptm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
)

// FuzzLexer: whatever the bytes and the format, the lexer ends, its offsets
// rise to the end without a hole, many packets at a time are those one by one,
// and encoder and text form give the bytes back. The seeds are the lines of
// testdata/packets/ptm.txt with what follows them, and those named in
// testdata/fuzz/FuzzLexer.
func FuzzLexer(f *testing.F) {
	for _, c := range readCases(f) {
		for how := range formats {
			f.Add(append(bytes.Clone(c.bytes), c.rest...), uint8(how))
		}
	}
	f.Fuzz(func(t *testing.T, buf []byte, how uint8) {
		form := formats[int(how)%len(formats)]
		if out := reencode(t, form, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		var text []byte
		for p := range NewLexer(form, buf, 0).All() {
			text = append(AppendText(text, p, buf[p.Off:p.End()]), '\n')
		}
		if out, err := Assemble(nil, string(text)); err != nil || !bytes.Equal(out, buf) {
			t.Fatalf("%x: text %s gives %x, %v", buf, text, out, err)
		}
		place := func(q []Packet, off int64) { tidy(t, q, off) }
		if wrong := tracetest.Fills(NewLexer(form, buf, 7), NewLexer(form, buf, 7), place, slices.Repeat([]Packet{dirty}, 1+len(buf)%20)); wrong != "" {
			t.Fatalf("%x: %s", buf, wrong)
		}
		for from := 0; ; {
			off, ok := FindSync(buf, from)
			if !ok {
				break
			}
			if off < from || !bytes.HasPrefix(buf[off:], []byte{0, 0, 0, 0, 0, 0x80}) {
				t.Fatalf("%x: FindSync from %d gives %d", buf, from, off)
			}
			from = off + 1
		}
	})
}
