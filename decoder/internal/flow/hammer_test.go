package flow

import (
	"math/rand/v2"
	"slices"
	"strings"
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

// TestPathStack would catch a path that leaves another return stack than its calls
// and returns do one by one, also where they push old entries out. Nor may it make a
// guess of another entry, or return by one.
func TestPathStack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compressed := 0
	for range 4000 {
		one := ReturnStack{depth: 4 + r.IntN(isa.MaxStack-3)}
		doubted := r.IntN(isa.MaxStack + 4)
		for i := range r.IntN(isa.MaxStack + 4) {
			if one.Push(uint64(i), nil); i == doubted {
				one.Doubt()
			}
		}
		before := one
		th := &thread{stack: one}
		var c tracer
		p := &path{span: event.EveryEpoch}
		for i := range pathRanges {
			b := &Block{End: 0x1000 + uint64(i), lead: toStated | calls, N: 1}
			p.end = b
			if addr, ok := c.returnsTo(th, p); ok && r.IntN(2) == 0 || c.height-c.low == pathCalls {
				b.lead = toStated | returns
				guess := one.guessed()
				if a, _, _ := one.Pop(); a != addr || guess {
					t.Fatalf("a return goes to %#x, want %#x; a guess: %v", addr, a, guess)
				}
				compressed += int(p.backs)
			} else {
				one.Push(b.End, b)
			}
			c.extend(p, nil, b.lead&returns != 0, &th.stack)
		}
		all := before
		if !all.leadsTo(p) {
			t.Fatal("not the stack that the path was made with")
		}
		all.reenact(c.rs[:p.n], c.call[:c.height-c.low], -c.low, c.high)
		if !one.Equal(&all) || one.vague != all.vague {
			t.Fatalf("%d entries one by one, %d of them guesses, %d and %d at once", one.n, one.vague, all.n, all.vague)
		}
	}
	if compressed < 1000 {
		t.Errorf("%d returns from calls before a path: too few to say anything", compressed)
	}
}

// TestPathKey would catch a path that is taken where something else is asked for, or where
// the stack has other return addresses below the newest, or only guesses.
func TestPathKey(t *testing.T) {
	b := &Block{Addr: 0x1000}
	is := ask{from: b, key: 5 | 3<<pathBits | wantsTarget, to: 0x2000, back: 'b'}
	stack := func(addrs string) *ReturnStack {
		s := &ReturnStack{depth: 4}
		for _, a := range addrs {
			if a == '?' {
				s.Doubt()
			} else {
				s.Push(uint64(a), nil)
			}
		}
		return s
	}
	ps := new(Paths)
	_, h := ps.pathOf(&is, stack("ab"))
	if ps.admit(h) != nil {
		t.Error("a path is kept that was asked for once")
	}
	p := ps.admit(h)
	*p = path{ask: is, backs: 2, under: [pathBacks - 1]uint64{'a'}}
	for _, c := range []struct {
		what   string
		change func(*ask)
		stack  string
		want   *path
	}{
		{"the same", func(*ask) {}, "xab", p},
		{"another address below the newest", func(*ask) {}, "aab", p},
		{"another one that it uses", func(*ask) {}, "axb", nil},
		{"too few addresses", func(*ask) {}, "b", nil},
		{"a guess", func(*ask) {}, "a?b", nil},
		{"a guess below", func(*ask) {}, "x?ab", p},
		{"another version of the block", func(is *ask) { is.from = &Block{Addr: 0x1000} }, "ab", p},
		{"one that leads elsewhere", func(is *ask) { is.from = &Block{Addr: 0x1000, lead: calls} }, "ab", nil},
		{"one with another target", func(is *ask) { is.from = &Block{Addr: 0x1000, Target: 0x1004} }, "ab", nil},
		{"a longer one", func(is *ask) { is.from = &Block{Addr: 0x1000, End: 0x1004} }, "ab", nil},
		{"one of more instructions", func(is *ask) { is.from = &Block{Addr: 0x1000, N: 2} }, "ab", nil},
		{"one in another mode", func(is *ask) { is.from = &Block{Addr: 0x1000, Mode: isa.Mode32} }, "ab", nil},
		{"another program's", func(is *ask) { is.from = &Block{Addr: 0x1000, Space: 2} }, "ab", nil},
		{"another block", func(is *ask) { is.from = &Block{Addr: 0x1001} }, "ab", nil},
		{"other outcomes", func(is *ask) { is.key-- }, "ab", nil},
		{"more outcomes", func(is *ask) { is.key += 1 << pathBits }, "ab", nil},
		{"another target", func(is *ask) { is.to = 0x2001 }, "ab", nil},
		{"no target", func(is *ask) { is.key &^= wantsTarget }, "ab", nil},
		{"another newest address", func(is *ask) { is.back = 'c' }, "ab", nil},
	} {
		as := is
		c.change(&as)
		if got, _ := ps.pathOf(&as, stack(c.stack)); got != c.want {
			t.Errorf("%s: %p, want %p", c.what, got, c.want)
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
	evs := events{at(10, 10, syncAt(0x1030))}
	for i := range uint64(n + 1) {
		for range 100 {
			evs = append(evs, at(100*i+50, 100*i+50, bits("tttttttttn")), at(100*i+50, 100*i+50, to(0x1030)))
		}
	}
	evs = append(evs, at(100*n+50, 100*n+50, syncAt(0x1030)), end())
	var v verdicts
	if err := w.Run(&evs, &v); err != nil {
		t.Fatal(err)
	}
	last := 0
	for i := range w.paths.n {
		if p := w.paths.nthPath(i); p.n > 0 && p.span.Has(n) && p.from.Span == event.EveryEpoch {
			last++
		}
	}
	if last == 0 {
		t.Error("no path holds for the last text")
	}
}

// oldCode is a Sink that counts ranges of code that was gone at the event before they ran.
type oldCode struct {
	allTold
	text *testText
	old  int
}

func (o *oldCode) Flow(b *Batch) error {
	for _, r := range b.Ranges {
		if at, _ := o.text.Epochs(b.Stamps[r.Stamp].Time); r.Block.Span.Until <= at {
			o.old++
		}
	}
	return o.allTold.Flow(b)
}

// TestRenewedPaths would catch a path that leads as the code did before a change, which
// does something else, and one that tells of code that is not there any more. The code of a loop
// is changed again and again, to what does the same or not. The careful way is the twin.
func TestRenewedPaths(t *testing.T) {
	nops := []string{"\x66\x90", "\x89\xc0", "\x90\x90"}              // nop, mov, two nops
	jumps := []string{"\x75\xf4", "\x75\xf5", "\xeb\xf4", "\x74\xf4"} // jne 0, jne 1, jmp 0, je 0
	for seed := range uint64(testsize.Of(t, 4, 8)) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		// nop, jne 8, jmp *rax; and at 8: one of nops, one of jumps, jmp *rax
		text := code(map[int]string{0: "\x90\x75\x05\xff\xe0", 8: nops[0] + jumps[0] + "\xff\xe0"})
		old := [2]string{nops[0], jumps[0]}
		evs := events{at(0, 0, syncAt(0x1000))}
		for i := range uint64(60) {
			k, forms := 0, nops
			if seed%2 == 1 && rnd.IntN(2) == 0 {
				k, forms = 1, jumps
			}
			next := forms[rnd.IntN(len(forms))]
			text.pokes = append(text.pokes, testPoke{0x1008 + 2*uint64(k), old[k], next, 1000 * (i + 1), int(i)})
			old[k] = next
			for k := range uint64(6) {
				now := 1000*(i+1) + 100*(k+1)
				evs = append(evs, at(now, now, bits(strings.Repeat("t", 5*(1+rnd.IntN(3)))+"n")), at(now, now, to(0x1000)))
			}
		}
		evs = append(evs, end())
		var got [2]oldCode
		for i := range got {
			w := testWalker(text)
			w.careful, w.paths.misses = i == 1, pathAfter
			got[i].text = text
			for range 6 {
				src := events(slices.Clone(evs))
				if err := w.Run(&src, &got[i]); err != nil {
					t.Fatal(err)
				}
			}
			if i == 0 && w.paths.n == 0 || got[i].old > 0 {
				t.Errorf("seed %d: %d paths, %d ranges of old code", seed, w.paths.n, got[i].old)
			}
		}
		if !slices.Equal(got[0].allTold, got[1].allTold) {
			t.Errorf("seed %d: the fast way tells something else than the careful one", seed)
		}
	}
}

// TestPathsOfOneCache would catch a path over the blocks of one cache that a walker of another takes.
func TestPathsOfOneCache(t *testing.T) {
	w, o := testWalker(code(map[int]string{0: "\x90\x75\xfd"})), testWalker(code(map[int]string{0: "\x90\x75\xfd"}))
	w.paths.table, w.paths.seen = new([pathTable]uint16), new([pathSeen]uint32)
	for range 2 {
		w.paths.admit(1)
	}
	if UsePaths(o, w.paths); w.paths.n != 0 {
		t.Error("paths over the blocks of one cache serve a walker of another")
	}
}
