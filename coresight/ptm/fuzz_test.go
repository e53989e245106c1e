package ptm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// FuzzLexer reads any bytes in any format. The lexer ends, its offsets rise to the
// end without a hole, and many packets at a time are those one by one. Encoder and
// text form give the bytes back. The seeds are the lines of
// testdata/packets/ptm.txt with what follows them, and those named in
// testdata/fuzz/FuzzLexer.
func FuzzLexer(f *testing.F) {
	for _, c := range readCases(f) {
		for how := range formats {
			f.Add(append(bytes.Clone(c.Bytes), c.Rest...), uint8(how))
		}
	}
	f.Fuzz(func(t *testing.T, buf []byte, how uint8) {
		form := formats[int(how)%len(formats)]
		if out := reencode(t, form, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		packettest.Retext(t, buf, NewLexer(form, buf, 0).All(), func(p *Packet) (off, end int64) { return p.Off, p.End() }, &codec)
		place := func(q []Packet, off int64) { tidy(t, q, off) }
		if wrong := packettest.Fills(NewLexer(form, buf, 7), NewLexer(form, buf, 7), place, slices.Repeat([]Packet{dirty}, 1+len(buf)%20)); wrong != "" {
			t.Fatalf("%x: %s", buf, wrong)
		}
		packettest.FindsOnly(t, buf, "\x00\x00\x00\x00\x00\x80", FindSync)
	})
}
