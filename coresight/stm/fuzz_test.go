package stm

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzLexer: whatever the bytes, the lexer ends, its places rise to the end
// without a hole, and encoder and text form give the bytes back. The seeds are
// the lines of testdata/packets/stm.txt with what follows them.
func FuzzLexer(f *testing.F) {
	for _, c := range packets.Cases(f) {
		all := slices.Concat(c.Bytes, c.Rest)
		f.Add(pack(all))
		f.Add(pack(slices.Insert(all, 0, 0)))
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		if out := reencode(t, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		packets.TextComesBack(t, 0, buf)
		for from := 0; from <= len(buf); from++ {
			at, ok := findAsync(buf, from)
			if want, wantOK := slowSync(unpack(buf), from); ok != wantOK || at != want {
				t.Fatalf("%x: search from half byte %d gives %d, %v, want %d, %v", buf, from, at, ok, want, wantOK)
			}
		}
	})
}
