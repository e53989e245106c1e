package pt

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// FuzzLexer: whatever the bytes, the lexer ends, its offsets rise to the end
// without a hole, and encoder and text form give the bytes back. The seeds are
// the lines of testdata/packets/pt.txt with what follows them, and those named
// in testdata/fuzz/FuzzLexer.
func FuzzLexer(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(append(bytes.Clone(c.Bytes), c.Rest...))
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		if out := reencode(t, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		packettest.Retext(t, buf, NewLexer(buf, 0).All(), func(p *Packet) (off, end int64) { return p.Off, p.End() }, &codec)
		packettest.FindsOnly(t, buf, psb, FindSync)
	})
}
