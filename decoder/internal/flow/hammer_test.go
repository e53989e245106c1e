package flow

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestHammer would catch, above all under the race detector, a block that is
// changed after others can see it. Many walkers follow the same trace through
// one cache, and all of them build and link the blocks at once.
func TestHammer(t *testing.T) {
	programs := testsize.Of(t, 12, 60)
	for seed := range programs {
		m := newMachine(uint64(seed), 20+seed)
		m.run(500)
		cache := NewCache()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				w := NewWalker(&m.text, cache, Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64})
				w.paths.misses = pathAfter
				for range 3 {
					var got addrs
					src := events(slices.Clone(m.evs))
					if err := w.Run(&src, &got); err != nil {
						t.Error(err)
					}
					if apart(got.ips, m.ips) >= 0 || len(got.gaps) > 0 {
						t.Errorf("seed %d: a walker that shares its cache leaves the truth", seed)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestReplay would catch a path that leaves another return stack than its calls
// and returns do one by one, also where they push old entries out. Nor may it make a
// guess of another entry.
func TestReplay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		one := ReturnStack{depth: 4 + r.IntN(isa.MaxStack-3)}
		var all ReturnStack
		doubted := r.IntN(isa.MaxStack + 4)
		for i := range r.IntN(isa.MaxStack + 4) {
			if one.Push(uint64(i), nil); i == doubted {
				one.Doubt()
			}
		}
		all = one
		p := path{span: event.EveryEpoch}
		for i := range pathRanges {
			b := &Block{End: 0x1000 + uint64(i), lead: toStated | calls, N: 1}
			if r.IntN(2) == 0 && p.calls > 0 || p.calls == pathCalls {
				b.lead = toStated | returns
				one.Pop()
			} else {
				one.Push(b.End, b)
			}
			p.extend(b, nil, false)
		}
		if all.replay(&p); !one.Equal(&all) || one.vague != all.vague {
			t.Fatalf("%d entries one by one, %d of them guesses, %d and %d at once", one.n, one.vague, all.n, all.vague)
		}
	}
}

// TestPathAnew would catch a path that is of no use any more once its code has
// changed. The walker would then go block by block over a site that changes
// often.
func TestPathAnew(t *testing.T) {
	const n = 9
	w := testWalker(toggles(n))
	w.paths.misses = pathAfter
	evs := events{at(10, 10, syncAt(0x1000))}
	for i := range uint64(n + 1) {
		for range 100 {
			evs = append(evs, at(100*i+50, 100*i+50, bits("tttttttttt")))
		}
	}
	evs = append(evs, at(100*n+50, 100*n+50, syncAt(0x1000)), end())
	var v verdicts
	if err := w.Run(&evs, &v); err != nil {
		t.Fatal(err)
	}
	last := 0
	for i := range w.paths.table {
		if p := &w.paths.table[i]; p.n > 0 && p.span.From == n && p.from.Span == event.EveryEpoch {
			last++
		}
	}
	if last == 0 {
		t.Error("no path holds for the last text")
	}
}
