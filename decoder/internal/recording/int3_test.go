package recording

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

// int3Memory is memory that holds zeros, but for b at some places. It counts the bytes read.
type int3Memory struct {
	b    []byte
	at   []int64
	read int64
}

// ReadAt reads the memory (io.ReaderAt).
func (m *int3Memory) ReadAt(dst []byte, off int64) (int, error) {
	clear(dst)
	m.read += int64(len(dst))
	for _, at := range m.at {
		if from, until := max(at, off), min(at+int64(len(m.b)), off+int64(len(dst))); from < until {
			copy(dst[from-off:until-off], m.b[from-at:])
		}
	}
	return len(dst), nil
}

// TestInt3EntryLarge would catch a handler that is missed in a copy of all memory or behind many
// small ranges, and one chosen though another lies far behind it. It would catch reading the
// direct map, too, which may be terabytes.
func TestInt3EntryLarge(t *testing.T) {
	const base = 0xffffffff81000000
	handler := slices.Concat([]byte{0x0f, 0x01, 0xca, 0xfc, 0x6a, 0xff, 0xf6, 0x44, 0x24, 0x10, 0x03, 0x75, 0x18}, int3Gap)
	type part struct {
		addr uint64
		size int64
		at   []int64
	}
	var small []part
	for i := range uint64(300) {
		small = append(small, part{base + i*0x2000, 0x1000, nil})
	}
	text := part{base + 0x1000000, 32 << 20, []int64{0xba0}}
	for _, c := range []struct {
		name  string
		parts []part
		want  uint64
	}{
		{"behind the direct map", []part{{0xffff888000000000, 1 << 40, []int64{0x1000ba0}}, text}, text.addr + 0xba0},
		{"before modules", []part{text, {0xffffffffc0000000, 1008 << 20, nil}}, text.addr + 0xba0},
		{"behind small ranges", append(small, text), text.addr + 0xba0},
		{"another far behind", []part{{base, 300 << 20, []int64{0xba0, 290 << 20}}}, 0},
		{"in the direct map only", []part{{0xffff888000000000, 64 << 20, []int64{0xba0}}}, 0},
	} {
		img, read, held := &image.Image{}, int64(0), int64(0)
		var all []*int3Memory
		for _, p := range c.parts {
			m := &int3Memory{b: handler, at: p.at}
			all = append(all, m)
			if err := img.AddFile(p.addr, m, 0, p.size); err != nil {
				t.Fatal(err)
			}
			if p.addr-textArea < textSize {
				held += p.size
			}
		}
		got, ok := int3Entry(img)
		for _, m := range all {
			read += m.read
		}
		if got != c.want && ok || ok != (c.want != 0) {
			t.Errorf("%s: %x, %v, want %x", c.name, got, ok, c.want)
		}
		if read > held+held/1000 {
			t.Errorf("%s: %d bytes read, the text's area has %d", c.name, read, held)
		}
	}
}
