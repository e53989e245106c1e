package etmv4

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// units are the trace units of the fuzz targets, by their first byte.
var units = []string{"etmv4.0", "etmv4.6", "ete1.0", "ete1.3"}

// FuzzLexer reads any bytes. The lexer ends, its offsets rise to the end without a
// hole, and many packets at a time are those one by one. Encoder and text form give
// the bytes back. The seeds are the lines of testdata/packets/etmv4.txt with what
// follows them, and those named in testdata/fuzz/FuzzLexer.
func FuzzLexer(f *testing.F) {
	for _, c := range readCases(f) {
		for i, name := range units {
			if name == c.Unit {
				f.Add(uint8(i), append(bytes.Clone(c.Bytes), c.Rest...))
			}
		}
	}
	f.Fuzz(func(t *testing.T, unit uint8, buf []byte) {
		c := testConfigs[units[int(unit)%len(units)]]
		if out := reencode(t, c, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		packettest.Retext(t, buf, NewLexer(c, buf, 0).All(), func(p *Packet) (off, end int64) { return p.Off, p.End() }, codec(c))
		place := func(q []Packet, off int64) { tidy(t, q, off) }
		if wrong := packettest.Fills(NewLexer(c, buf, 7), NewLexer(c, buf, 7), place, slices.Repeat([]Packet{dirty}, 1+len(buf)%20)); wrong != "" {
			t.Fatalf("%x: %s", buf, wrong)
		}
		packettest.FindsOnly(t, buf, async, FindSync)
	})
}
