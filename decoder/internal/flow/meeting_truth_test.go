package flow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// way is what a CPU may have executed: a flow that a thread followed, and goes on
// with as another thread after the two were united.
type way struct {
	run  []claimAt
	cuts []int64 // offsets
	on   *thread
}

// crowd is threads that split, emit and meet at random, and all ways that led there.
type crowd struct {
	w    *window
	rnd  *rand.Rand
	ways []way
	now  int64 // steps so far
	met  int   // times that two threads had met before
}

// split lets a thread go on as two.
func (c *crowd) split() {
	i := c.rnd.IntN(len(c.w.threads))
	kids := c.w.multiply(i, 2)
	for _, x := range c.ways {
		if x.on == kids[0] && len(c.ways) < 64 {
			c.ways = append(c.ways, way{slices.Clone(x.run), slices.Clone(x.cuts), kids[1]})
		}
	}
}

// step lets all threads emit about the same: some letters and, maybe, a cut.
func (c *crowd) step() {
	c.now++
	s := make([]byte, 1+c.rnd.IntN(4))
	for i := range s {
		s[i] = byte(c.rnd.IntN(4))
	}
	cut := c.rnd.IntN(3) == 0
	for _, t := range c.w.threads {
		own := slices.Clone(s)
		switch k := c.rnd.IntN(len(own)); c.rnd.IntN(12) {
		case 0:
			own[k] = byte(c.rnd.IntN(4))
		case 1:
			own = slices.Delete(own, k, k+1)
		case 2:
			own = slices.Insert(own, k, byte(c.rnd.IntN(4)))
		}
		at := -1
		if cut && c.rnd.IntN(16) > 0 {
			at = c.rnd.IntN(len(own) + 1)
		}
		c.emit(t, own, at)
	}
}

// emit appends s to what t did, with a settled cut before letter at. It all has one time, which is no other
// thread's.
func (c *crowd) emit(t *thread, s []byte, at int) {
	out := &t.tail.out
	st := out.Stamps[t.tail.stamp]
	st.Time.Lo = max(st.Time.Lo, uint64(4*c.now)+c.rnd.Uint64N(8))
	st.Time.Hi = max(st.Time.Hi, st.Time.Lo+c.rnd.Uint64N(4))
	t.tail.stamp = uint32(len(out.Stamps))
	out.Stamps = append(out.Stamps, st)
	for i := range len(s) + 1 {
		if i == at {
			n := Note{Kind: NoteCut, Verdict: Trace, At: len(out.Ranges), IP: 1}
			n.Event.Off = c.now
			out.Notes = append(out.Notes, n)
		}
		if i < len(s) {
			r := Range{Block: &Block{Span: event.EveryEpoch, Addr: uint64(s[i]), N: 1, Mode: isa.Mode64, Lens: []uint8{1}}, N: 1, Stamp: t.tail.stamp}
			if t.gapBefore {
				r.Verdict, t.gapBefore = Ambiguous, false
			}
			out.Ranges = append(out.Ranges, r)
		}
	}
	for i := range c.ways {
		if x := &c.ways[i]; x.on == t {
			for _, ip := range s {
				x.run = append(x.run, claimAt{ip, st.Time})
			}
			if at >= 0 {
				x.cuts = append(x.cuts, c.now)
			}
		}
	}
}

// unite unites two threads.
func (c *crowd) unite() {
	l := c.w.threads
	i := c.rnd.IntN(len(l))
	j := (i + 1 + c.rnd.IntN(len(l)-1)) % len(l)
	l[i].penalty, l[j].penalty = c.rnd.Uint64N(8), c.rnd.Uint64N(8)
	keep, drop := likelier(l[i], l[j])
	if _, _, ok := c.w.metAt(keep, drop); ok {
		c.met++
	}
	c.w.unite(keep, drop)
	for k := range c.ways {
		if c.ways[k].on == drop {
			c.ways[k].on = keep
		}
	}
	c.w.threads = slices.DeleteFunc(l, func(t *thread) bool { return t == drop })
	c.w.drop(drop)
}

// settled returns the offsets of the settled cuts of the flow that ends at n.
func settled(n *node) (cuts []int64) {
	for ; n != nil; n = n.parent {
		for i := range n.out.Notes {
			if x := &n.out.Notes[i]; x.Verdict == Trace {
				cuts = append(cuts, x.Event.Off)
			}
		}
	}
	return cuts
}

// TestMeetings would catch a claim, its time, or a settled cut, that stays although a thread that
// was united with the flow told otherwise. A meeting may say too much was compared, or
// one of its flows may be another since.
func TestMeetings(t *testing.T) {
	met := 0
	for seed := range uint64(testsize.Of(t, 1000, 12000, 50000)) {
		w := testWalker(&testText{addr: 0x1000})
		w.exec.cfg.FullWork = -1 // meetings count from the first on
		c := &crowd{w: &w.exec.window, rnd: rand.New(rand.NewPCG(seed, 0))}
		w.exec.out.batch.Stamps = make([]Stamp, 1)
		first := &thread{tail: c.w.spare.node()}
		first.tail.out.Stamps = make([]Stamp, 1)
		c.w.threads = []*thread{first}
		c.ways = []way{{on: first}}
		for range 10 + c.rnd.IntN(40) {
			switch k := c.rnd.IntN(3); {
			case len(c.w.threads) < 5 && k == 0:
				c.split()
			case len(c.w.threads) > 1 && k == 1:
				c.unite()
			}
			c.step()
		}
		for len(c.w.threads) > 1 {
			c.unite()
		}
		met += c.met
		tail := c.w.threads[0].tail
		got, cuts := claimed(tail), settled(tail)
		for _, x := range c.ways {
			if !holds(got, [][]claimAt{x.run}) {
				t.Fatalf("seed %d: %v is not in %v", seed, got, x.run)
			}
			for _, off := range cuts {
				if !slices.Contains(x.cuts, off) {
					t.Fatalf("seed %d: a cut at %d is settled; one way has cuts at %v", seed, off, x.cuts)
				}
			}
		}
	}
	t.Logf("%d times, two threads had met before", met)
	if met < testsize.Of(t, 500, 1000) {
		t.Error("too few meetings to tell")
	}
}
