package kcore

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestFetchMapped would catch code that is given for epochs in which zeros beside it say that nothing was
// mapped there, or no longer say so. It would also catch an answer that depends on how much is asked for.
func TestFetchMapped(t *testing.T) {
	const base = 0xffffffffc0000000
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		now := make([]byte, 120)
		for i := range now {
			now[i] = byte(rnd.IntN(3) / 2)
		}
		img := &image.Image{}
		if err := img.AddBytes(base, bytes.Clone(now)); err != nil {
			t.Fatal(err)
		}
		var pokes []Poke
		truth := [][]byte{bytes.Clone(now)}
		for i := range 8 {
			at, n := rnd.IntN(len(now)-6), 1+rnd.IntN(5)
			old := bytes.Clone(now[at : at+n])
			for k := range n {
				now[at+k] = byte(rnd.IntN(2))
			}
			if bytes.Equal(old, now[at:at+n]) {
				now[at] ^= 1
			}
			pokes = append(pokes, RecordedPoke(uint64(1000+i), 0, base+uint64(at), old, bytes.Clone(now[at:at+n])))
			truth = append(truth, bytes.Clone(now))
		}
		j, err := NewJournal(pokes)
		if err != nil {
			t.Fatal(err)
		}
		tx := NewText(j, img, TextOptions{})
		for o := range now {
			for _, n := range []int{1, 2, 3, 4, 15} {
				n = min(n, len(now)-o)
				var got [9][16]byte
				var have [9]int
				var spans [9]event.Span
				for e, b := range truth {
					from, to := o, o
					for from > 0 && b[from-1] == 0 {
						from--
					}
					for to < len(b) && b[to] == 0 {
						to++
					}
					want := n
					if to-max(from, o-3) >= notMapped && to > o {
						want = 0
					}
					have[e], spans[e] = tx.FetchMapped(got[e][:n], base+uint64(o), event.Epoch(e))
					if have[e] != want || want > 0 && !bytes.Equal(got[e][:n], b[o:o+n]) {
						t.Fatalf("seed %d, %d bytes at %d as of %d: %x, %d known, want %d of %x", seed, n, o, e, got[e], have[e], want, b)
					}
				}
				for e := range truth {
					for f := range truth {
						if spans[e].Has(event.Epoch(f)) && (have[e] != have[f] || have[e] > 0 && got[e] != got[f]) {
							t.Fatalf("seed %d, %d bytes at %d: %v as of %d, but as of %d they are others", seed, n, o, spans[e], e, f)
						}
					}
				}
			}
		}
	}
}
