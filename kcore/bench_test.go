package kcore

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestShared would catch, under the race detector, a Text that is written to
// once it is shared, and answers that depend on who asks beside.
func TestShared(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(8, 8)), 100)
	tx := w.text(t, w.image(t, [3]int{50, 50, 50}))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 9))
			var b [16]byte
			for range 2000 {
				o, e := rnd.IntN(worldSize), rnd.IntN(101)
				n, _ := tx.Fetch(b[:], w.base+uint64(o), event.Epoch(e))
				for i := range n {
					if int(b[i]) != w.truth[e][o+i] && w.truth[e][o+i] >= 0 {
						t.Errorf("offset %d epoch %d: %02x, truth %02x", o+i, e, b[i], w.truth[e][o+i])
						return
					}
				}
				tx.Between(w.base+uint64(o), 64, 0, event.Epoch(e), nil)
				tx.Marks(w.base+uint64(o), 64, 0, event.Epoch(e), nil)
			}
		})
	}
	wg.Wait()
}

// TestManyPokes would catch time that grows with the square of the pokes on
// one site: 60,000 pokes that break everywhere must not take minutes.
func TestManyPokes(t *testing.T) {
	texts := [][]byte{{0xcc, 1, 2, 3, 4}, {0xcc, 5, 6, 7, 8}, nop5, call5}
	rnd := rand.New(rand.NewPCG(9, 9))
	var pokes []Poke
	for i := range testsize.Of(t, 15000, 60000) {
		pokes = append(pokes, RecordedPoke(uint64(i), 0, siteAddr+uint64(rnd.IntN(3)), texts[rnd.IntN(4)], texts[rnd.IntN(4)]))
	}
	tx := place(t, pokes, siteAddr-8, slices.Concat(make([]byte, 8), texts[0], make([]byte, 40)), TextOptions{}, event.Time{Lo: 5, Hi: 9})
	if len(tx.Findings()) < 500 {
		t.Errorf("%d findings, want hundreds", len(tx.Findings()))
	}
}

// BenchmarkFetch measures what the walker asks for: 64 bytes of a page without
// pokes, and of one with.
func BenchmarkFetch(b *testing.B) {
	r := readRecording(b, "tracepoints")
	tx := r.text(b, r.before)
	buf := make([]byte, 64)
	poked := tx.Poke(300).Addr &^ 15
	plain := uint64(0)
	for _, rg := range tx.Image().Ranges() {
		for a := rg.Addr; a < rg.Last()-pageSize && plain == 0; a += pageSize {
			if tx.pages[a>>pageShift] == nil {
				plain = a
			}
		}
	}
	for name, addr := range map[string]uint64{"plain": plain, "poked": poked} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tx.Fetch(buf, addr, 100)
			}
		})
	}
	b.Run("epochs", func(b *testing.B) {
		at := tx.Poke(300).Time
		for b.Loop() {
			tx.Epochs(event.Time{Lo: at, Hi: at + 1000})
		}
	})
}

// BenchmarkNewText measures bringing a real journal and its kcore together.
func BenchmarkNewText(b *testing.B) {
	r := readRecording(b, "tracepoints")
	img, err := image.Open(r.before, image.Options{})
	if err != nil {
		b.Fatal(err)
	}
	j, err := NewJournal(r.pokes)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		NewText(j, img, TextOptions{})
	}
}
