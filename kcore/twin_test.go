package kcore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// world is the slow twin: memory as it really was at each epoch, byte by byte.
type world struct {
	base  uint64
	truth [][]int // by epoch, by offset: the byte, -1: no text there
	pokes []Poke
	poked []bool // by offset
}

// size of the twin's memory: three pages, so that sites cross pages.
const worldSize = 3 * pageSize

// randomWorld makes memory and pokes such as kernels make. Sites of 5 and 2 bytes
// go to and fro, with kprobes of one byte over them. Slots come, are patched
// inside and go, some of them across pages.
func randomWorld(rnd *rand.Rand, pokes int) *world {
	w := &world{base: 0xffffffffc0000000, poked: make([]bool, worldSize)}
	cur := make([]int, worldSize)
	for i := range cur {
		cur[i] = 1 + rnd.IntN(255)
	}
	type slot struct{ off, n int }
	var live []slot
	spots := []int{100, 103, 500, pageSize - 3, pageSize - 1, 5000, 7000}
	slotSpots := []int{3000, 3010, 2*pageSize - 50}
	for _, s := range slotSpots {
		for k := range 60 {
			cur[s+k] = -1
		}
	}
	w.truth = append(w.truth, slices.Clone(cur))
	now := uint64(1000)
	poke := func(off int, old, new []byte) {
		p := RecordedPoke(now, rnd.IntN(2), w.base+uint64(off), old, new)
		now += uint64(1 + rnd.IntN(5000))
		for i := range max(len(old), len(new)) {
			w.poked[off+i] = true
			cur[off+i] = -1
			if i < len(new) {
				cur[off+i] = int(new[i])
			}
		}
		w.pokes = append(w.pokes, p)
		w.truth = append(w.truth, slices.Clone(cur))
	}
	text := func(off, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(cur[off+i])
		}
		return b
	}
	change := func(off, n int) {
		old := text(off, n)
		new := slices.Clone(old)
		if n == 1 && old[0] != x86Trap {
			new[0] = x86Trap
		} else { // few texts, so that the same one comes again
			for i := range new {
				new[i] = byte(1 + (off+i+rnd.IntN(2))%5)
			}
		}
		poke(off, old, new)
	}
	for len(w.pokes) < pokes {
		switch k := rnd.IntN(10); {
		case k < 5:
			change(spots[rnd.IntN(len(spots))], []int{5, 5, 2, 1}[rnd.IntN(4)])
		case k < 7 || len(live) == 0:
			s := slot{slotSpots[rnd.IntN(len(slotSpots))], 8 + rnd.IntN(40)}
			if slices.ContainsFunc(live, func(l slot) bool { return s.off < l.off+l.n && l.off < s.off+s.n }) {
				continue
			}
			b := make([]byte, s.n)
			for i := range b {
				b[i] = byte(1 + rnd.IntN(255))
			}
			poke(s.off, nil, b)
			live = append(live, s)
		case k < 8:
			s := live[rnd.IntN(len(live))]
			change(s.off+rnd.IntN(s.n-5), 5)
		default:
			i := rnd.IntN(len(live))
			poke(live[i].off, text(live[i].off, live[i].n), nil)
			live = slices.Delete(live, i, i+1)
		}
	}
	return w
}

// image is a copy of memory whose page i was copied at epochs[i]; text that is
// not there reads as zeros, as /proc/kcore gives it.
func (w *world) image(t *testing.T, epochs [3]int) *image.Image {
	t.Helper()
	return w.torn(t, epochs, -1, 0)
}

// torn is such a copy taken while a poke was being written: its trap is in,
// and the new tail up to a byte. A poke of -1 is none.
func (w *world) torn(t *testing.T, epochs [3]int, poke, upto int) *image.Image {
	t.Helper()
	b := make([]byte, worldSize)
	for i := range b {
		b[i] = byte(max(0, w.truth[epochs[i/pageSize]][i]))
	}
	if poke >= 0 {
		p := &w.pokes[poke]
		copy(b[p.Addr-w.base:], p.New[:upto])
		b[p.Addr-w.base] = x86Trap
	}
	img := &image.Image{}
	if err := img.AddBytes(w.base, b); err != nil {
		t.Fatal(err)
	}
	return img
}

func (w *world) text(t *testing.T, img *image.Image) *Text {
	t.Helper()
	j, err := NewJournal(slices.Clone(w.pokes))
	if err != nil {
		t.Fatal(err)
	}
	return NewText(j, img, TextOptions{})
}

// check compares a text with the twin. What it knows is the truth. Of bytes that
// were there at the start and never part of a slot, it knows all.
func (w *world) check(t *testing.T, what string, tx *Text) {
	t.Helper()
	if fs := tx.Findings(); len(fs) > 0 {
		t.Fatalf("%s: finding %s; the journal is whole", what, &fs[0])
	}
	slot := make([]bool, worldSize)
	for _, p := range w.pokes {
		for d := range p.size() {
			o := int(p.Addr-w.base) + d
			slot[o] = slot[o] || len(p.Old) == 0
		}
	}
	var b [1]byte
	for e, truth := range w.truth {
		for o := range truth {
			if !w.poked[o] && e > 0 {
				continue
			}
			n, span := tx.Fetch(b[:], w.base+uint64(o), event.Epoch(e))
			if !span.Has(event.Epoch(e)) {
				t.Fatalf("%s: offset %d epoch %d: span %v", what, o, e, span)
			}
			switch {
			case n == 1 && truth[o] >= 0 && int(b[0]) != truth[o]:
				t.Fatalf("%s: offset %d epoch %d: %02x, truth %02x", what, o, e, b[0], truth[o])
			case n == 0 && truth[o] >= 0 && !slot[o]:
				t.Fatalf("%s: offset %d epoch %d: unknown, truth %02x", what, o, e, truth[o])
			}
		}
	}
}

// TestTwin would catch text that depends on when the image was taken. The code at
// each epoch is the truth from an early image forward, from a late one backward,
// and from the middle. It is also the truth from an image whose pages were copied
// at different moments, and from one that caught a poke half done.
func TestTwin(t *testing.T) {
	halves := 0
	for seed := range uint64(testsize.Of(t, 20, 100)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n := 5 + rnd.IntN(80)
		w := randomWorld(rnd, n)
		mid := rnd.IntN(n + 1)
		during := [3]int{mid, min(n, mid+rnd.IntN(4)), min(n, mid+rnd.IntN(8))}
		slices.Sort(during[:])
		for _, at := range [][3]int{{0, 0, 0}, {n, n, n}, {mid, mid, mid}, during} {
			tx := w.text(t, w.image(t, at))
			w.check(t, fmt.Sprintf("seed %d, %d pokes, image of epochs %v", seed, n, at), tx)
		}
		if mid < n && w.pokes[mid].Scheme == SchemeBP {
			upto := 1 + rnd.IntN(len(w.pokes[mid].New))
			what := fmt.Sprintf("seed %d, %d pokes, image of epoch %d with %d bytes of the next poke", seed, n, mid, upto)
			tx := w.text(t, w.torn(t, [3]int{mid, mid, mid}, mid, upto))
			w.check(t, what, tx)
			halves += tx.Placement().Half
		}
		w.check(t, fmt.Sprintf("seed %d, no image", seed), w.known(t))
	}
	if halves < 5 {
		t.Errorf("%d pokes half done, want some in every other world", halves)
	}
}

// known is the text with an image of what is never poked only.
func (w *world) known(t *testing.T) *Text {
	img := &image.Image{}
	for o := 0; o < worldSize; o++ {
		if !w.poked[o] && w.truth[0][o] >= 0 {
			if err := img.AddBytes(w.base+uint64(o), []byte{byte(w.truth[0][o])}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w.text(t, img)
}

// TestSpans would catch a span that is too long, so that stale code would be
// executed, or too short, so that blocks would be walked again for nothing. Fetch
// at every epoch, over bytes that are partly poked, partly unknown, has the span
// that asking every epoch gives.
func TestSpans(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		n := 5 + rnd.IntN(60)
		w := randomWorld(rnd, n)
		tx := w.text(t, w.image(t, [3]int{0, 0, 0}))
		for range 40 {
			o := []int{90, 495, 2990, pageSize - 25, 2*pageSize - 55, 6990}[rnd.IntN(6)] + rnd.IntN(20)
			size := 1 + rnd.IntN(60)
			var got [][]byte
			var spans []event.Span
			for e := range event.Epoch(n + 1) {
				b := make([]byte, size)
				k, s := tx.Fetch(b, w.base+uint64(o), e)
				got, spans = append(got, b[:k]), append(spans, s)
			}
			for e := range got {
				from, until := e, e
				for from > 0 && bytes.Equal(got[from-1], got[e]) {
					from--
				}
				for until <= n && bytes.Equal(got[until], got[e]) {
					until++
				}
				want := event.Span{From: event.Epoch(from), Until: event.Epoch(until)}
				if until > n {
					want.Until = event.MaxEpoch
				}
				if spans[e] != want {
					t.Fatalf("seed %d: offset %d, %d bytes, epoch %d: span %v, want %v", seed, o, size, e, spans[e], want)
				}
			}
		}
	}
}

// TestBetween would catch a poke that a range of code is not told of. Such a poke
// may reach in from the page before, end at the first byte, or lie at the bounds
// of the epochs. It would also catch one told twice.
func TestBetween(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	w := randomWorld(rnd, 120)
	tx := w.text(t, &image.Image{})
	var dst []int
	for range 3000 {
		a, n := w.base+uint64(rnd.IntN(worldSize)), 1+rnd.IntN(pageSize)
		if rnd.IntN(2) == 0 { // around the ends of pages
			a, n = w.base+uint64(pageSize*(1+rnd.IntN(2))-6+rnd.IntN(12)), 1+rnd.IntN(12)
		}
		lo, hi := event.Epoch(rnd.IntN(121)), event.Epoch(rnd.IntN(122))
		var want []int
		for i := range tx.Len() {
			r := tx.Poke(i).Range()
			if event.Epoch(i) >= lo && event.Epoch(i) < hi && r.Addr < a+uint64(n) && r.Last() >= a {
				want = append(want, i)
			}
		}
		if dst = tx.Between(a, n, lo, hi, dst[:0]); !slices.Equal(dst, want) {
			t.Fatalf("Between(%#x, %d, %d, %d) = %v, want %v", a, n, lo, hi, dst, want)
		}
	}
	if got := tx.Between(0, 1<<62, 0, 200, nil); len(got) != 0 {
		t.Errorf("pokes in the lower half: %v", got)
	}
	if got := tx.Between(w.base, 1<<62, 0, 200, nil); len(got) != 120 {
		t.Errorf("%d pokes from the base on, want 120", len(got))
	}
}

// TestFetchAllocates would catch an allocation on the walker's path, and a list
// of all that is known made for each stretch that is not.
func TestFetchAllocates(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(4, 4)), 60)
	tx := w.text(t, w.image(t, [3]int{0, 0, 0}))
	buf := make([]byte, 64)
	dst := make([]int, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		tx.Fetch(buf, w.base+90, 30)
		tx.Fetch(buf, w.base+5000, 30)
		dst = tx.Between(w.base+pageSize-20, 64, 0, 60, dst[:0])
		tx.Epochs(event.Time{Lo: 5000, Hi: 9000})
		tx.Unknown(w.base+3000, worldSize, 30)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// TestRanges would catch a stretch of the written code that is too long or too
// short by a byte, at the ends of pokes, pages and images. It is held against
// asking each byte.
func TestRanges(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 10))
		pokes := tornJournal(rnd, 1+rnd.IntN(12))
		lo := uint64(0x10000 - 30 + rnd.IntN(20))
		tx := place(t, slices.Clone(pokes), lo, make([]byte, rnd.IntN(60)), TextOptions{})
		for e := range event.Epoch(len(pokes) + 1) {
			var want []image.Range
			for a := uint64(0x10000 - 60); a < 0x10000+100; a++ {
				switch k := len(want) - 1; {
				case len(at(tx, a, 1, e)) == 0:
				case k >= 0 && want[k].Addr+want[k].Len == a:
					want[k].Len++
				default:
					want = append(want, image.Range{Addr: a, Len: 1})
				}
			}
			if got := tx.Ranges(e); !slices.Equal(got, want) {
				t.Fatalf("seed %d epoch %d: ranges %x, want %x", seed, e, got, want)
			}
			a, n := uint64(0x10000-60+rnd.IntN(160)), uint64(rnd.IntN(200))
			row := uint64(0)
			for row < n && len(at(tx, a+row, 1, e)) == 0 {
				row++
			}
			if got := tx.Unknown(a, n, e); got != row {
				t.Fatalf("seed %d epoch %d: %d bytes unknown from %#x on, want %d", seed, e, got, a, row)
			}
		}
	}
}
