package boot

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestInt3Entry would catch a handler that is not found where the image is read in
// pieces, one taken from code that only looks alike, and one chosen among two.
func TestInt3Entry(t *testing.T) {
	const base = 0xffffffff81000000
	push := []byte{0x6a, 0xff, 0xf6, 0x44, 0x24, 0x10, 0x03, 0x75, 0x18}
	with := func(front ...byte) []byte { return slices.Concat(front, push, int3Gap) }
	plain := with(0x0f, 0x01, 0xca, 0xfc)
	cases := []struct {
		name string
		base uint64
		put  map[int][]byte
		want uint64
	}{
		{"plain", base, map[int][]byte{0xba0: plain}, base + 0xba0},
		{"endbr64, NOP for clac", base, map[int][]byte{0xba0: with(0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x00, 0xfc)}, base + 0xba0},
		{"across pieces", base, map[int][]byte{1<<20 - 16: plain}, base + 1<<20 - 16},
		{"before an image's end", base, map[int][]byte{1<<20 + 0x1000 - 48: plain}, base + 1<<20 + 0x1000 - 48},
		{"not where a function begins", base, map[int][]byte{0xba4: plain}, 0},
		{"no testb", base, map[int][]byte{0xba0: slices.Concat([]byte{0x6a, 0xff, 0x75, 0x18}, int3Gap)}, 0},
		{"five pushes", base, map[int][]byte{0xba0: plain[:len(plain)-4]}, 0},
		{"two", base, map[int][]byte{0xba0: plain, 0x2000: plain}, 0},
		{"a program's", 0x400000, map[int][]byte{0xba0: plain}, 0},
	}
	for _, c := range cases {
		code := make([]byte, 1<<20+0x1000)
		for at, b := range c.put {
			copy(code[at:], b)
		}
		img := &image.Image{}
		if err := img.AddBytes(c.base, code); err != nil {
			t.Fatal(err)
		}
		if got, ok := int3Entry(img); got != c.want && ok || ok != (c.want != 0) {
			t.Errorf("%s: %x, %v, want %x", c.name, got, ok, c.want)
		}
	}
}
