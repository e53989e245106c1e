package kcore

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// tornJournal makes pokes that need not fit together, of any lengths, on a few
// bytes around the end of a page.
func tornJournal(rnd *rand.Rand, n int) []Poke {
	text := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = []byte{0x90, 0xcc, 0xe8}[rnd.IntN(3)]
		}
		return b
	}
	var pokes []Poke
	for i := range n {
		old, new := rnd.IntN(24), rnd.IntN(24)
		switch rnd.IntN(4) {
		case 0:
			old = new
		case 1:
			old, new = 1, 1
		}
		if old+new == 0 {
			new = 1
		}
		t := uint64(2 * repeatGap * i)
		pokes = append(pokes, RecordedPoke(t, 0, 0x10000-20+uint64(rnd.IntN(40)), text(old), text(new)))
	}
	return pokes
}

// TestTorn would catch a panic on journals that make no sense, and a byte that is
// called known though two sources deny it or none states it. It would also catch
// a span that asking each epoch does not give.
func TestTorn(t *testing.T) {
	const lo, size = 0x10000 - 30, 90
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		pokes := tornJournal(rnd, 1+rnd.IntN(25))
		n := len(pokes)
		var img []byte
		if seed%3 > 0 {
			img = make([]byte, 20+rnd.IntN(60))
			for i := range img {
				img[i] = []byte{0x90, 0xcc, 0xe8, 0}[rnd.IntN(4)]
			}
		}
		tx := place(t, slices.Clone(pokes), lo+5, img, TextOptions{})
		for a := uint64(lo); a < lo+size; a++ {
			var first event.Span
			var was []byte
			for e := range event.Epoch(n + 1) {
				var b [1]byte
				k, span := tx.Fetch(b[:], a, e)
				if e > 0 && bytes.Equal(was, b[:k]) != (span == first) {
					t.Fatalf("seed %d: %#x epoch %d: % x span %v, before % x span %v", seed, a, e, b[:k], span, was, first)
				}
				first, was = span, bytes.Clone(b[:k])
				if k == 1 {
					checkSources(t, seed, pokes, img, lo+5, a, int(e), b[0])
				}
			}
		}
	}
}

// checkSources fails if a byte is not what the sources of its interval say.
func checkSources(t *testing.T, seed uint64, pokes []Poke, img []byte, base, a uint64, e int, b byte) {
	t.Helper()
	var prev, next []byte
	poked := false
	for i := range pokes {
		p := &pokes[i]
		if a-p.Addr >= uint64(p.size()) {
			continue
		}
		poked = true
		if i < e {
			prev = part(p.New, p.Addr, a, 1)
		} else {
			next = part(p.Old, p.Addr, a, 1)
			break
		}
	}
	held := part(img, base, a, 1)
	switch {
	case prev != nil && prev[0] != b, next != nil && next[0] != b:
		t.Fatalf("seed %d: %#x epoch %d: %02x, but before % x, behind % x", seed, a, e, b, prev, next)
	case prev == nil && next == nil && (held == nil || held[0] != b):
		t.Fatalf("seed %d: %#x epoch %d: %02x from nowhere (poked: %v, image % x)", seed, a, e, b, poked, held)
	}
}
