package kcore

import (
	"runtime"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// allocated returns the bytes that do asks for, and those that what it returns
// still holds.
func allocated(do func() any) (asked, held uint64) {
	var a, b, c runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&a)
	x := do()
	runtime.ReadMemStats(&b)
	runtime.GC()
	runtime.ReadMemStats(&c)
	runtime.KeepAlive(x)
	return b.TotalAlloc - a.TotalAlloc, c.HeapAlloc - min(a.HeapAlloc, c.HeapAlloc)
}

// crowds are pokes under which simple bookkeeping multiplies.
var crowds = []struct {
	what  string
	n     int
	pokes func(n int) []Poke
	bytes uint64 // a poke of them may cost
}{
	{"probes in a page of code that comes and goes", 1000, func(n int) (out []Poke) {
		page := make([]byte, 4096)
		for i := range n {
			p := RecordedPoke(uint64(i), 0, 0xffffffffc0000000, page, nil)
			if i%2 != 0 {
				p.Old, p.New = nil, page
			}
			out = append(out, p)
			for k := range 2 {
				out = append(out, RecordedPoke(uint64(i), 0, 0xffffffffc0000000+uint64(2*i+k)%4096, []byte{0}, trap1))
			}
		}
		return out
	}, 8 << 10},
	{"long pokes that overlap", 500, func(n int) (out []Poke) {
		text := make([]byte, 65535)
		for i := range n {
			out = append(out, RecordedPoke(uint64(i), 0, 0xffffffffc0000000+uint64(i), text, text))
		}
		return out
	}, 48 << 10},
	{"long pokes that overlap and contradict each other", 500, func(n int) (out []Poke) {
		a, b := make([]byte, 65535), []byte(strings.Repeat("\x90", 65535))
		for i := range n {
			out = append(out, RecordedPoke(uint64(i), 0, 0xffffffffc0000000+uint64(i), a, b))
		}
		return out
	}, 256 << 10},
	{"one site", 100_000, func(n int) (out []Poke) {
		for i := range n {
			out = append(out, RecordedPoke(uint64(i), 0, 0xffffffffc0000000, [][]byte{nop5, call5}[i%2], [][]byte{call5, nop5}[i%2]))
		}
		return out
	}, 350},
	{"a site a page", 20_000, func(n int) (out []Poke) {
		for i := range n {
			out = append(out, RecordedPoke(uint64(i), 0, 0xffffffff80000000+uint64(i)*4096, nop5, call5))
		}
		return out
	}, 1200}, // a tenth of it is the race detector's
}

// TestMemory would catch bookkeeping that multiplies pokes by what they overlap.
// Pokes may ask for so many bytes each, and twice the pokes for little more than
// twice as many.
func TestMemory(t *testing.T) {
	for _, c := range crowds {
		var asked, held [2]uint64
		for i := range asked {
			n := c.n / testsize.Of(t, 4, 1) << i
			pokes := c.pokes(n)
			k := uint64(len(pokes))
			asked[i], held[i] = allocated(func() any {
				j, err := NewJournal(pokes)
				if err != nil {
					t.Fatal(err)
				}
				return NewText(j, &image.Image{}, TextOptions{})
			})
			t.Logf("%s: %d pokes: asked for %d bytes, %d a poke; holds %d", c.what, k, asked[i], asked[i]/k, held[i])
			if asked[i]/k > c.bytes {
				t.Errorf("%s: %d pokes: %d bytes a poke, want %d at most", c.what, k, asked[i]/k, c.bytes)
			}
		}
		if float64(asked[1]) > 2.3*float64(asked[0]) {
			t.Errorf("%s: twice the pokes ask for %d bytes after %d, want 2.3 times as many at most", c.what, asked[1], asked[0])
		}
	}
}
