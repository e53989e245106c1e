package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// ending is the classes after which another rule tells where the flow goes than that
// it goes on in the function.
const ending = isa.ClassSet(1<<isa.Call | 1<<isa.CallInd | 1<<isa.Return | 1<<isa.FarReturn | 1<<isa.Syscall | 1<<isa.VMEnter)

// noStamp is the index of no stamp.
const noStamp = ^uint32(0)

// Flow takes flow (decoder.Sink).
func (t *Tree) Flow(b *decoder.Batch) error {
	if t.cpus == nil {
		t.begin()
	}
	t.lend(b)
	c := &t.cpus[b.Stream]
	from := 0
	for i := range b.Notes {
		n := &b.Notes[i]
		counts := c.cycles != nil && n.Kind == decoder.NoteEvent && n.Event.Detail == event.DetailCycleCount
		if n.Kind == decoder.NoteCut || n.Kind == decoder.NoteEvent && n.Event.Kind != event.Async && !counts {
			continue // it leads nowhere
		}
		if n.At > from {
			t.goesOn(c, b.Ranges[from:n.At], b.Stamps)
			from = n.At
		}
		c.note(n)
	}
	if from < len(b.Ranges) {
		t.goesOn(c, b.Ranges[from:], b.Stamps)
	}
	t.steps.handOver()
	return nil
}

// goesOn takes ranges between which no note lies: in parts that lie inside of the time that
// counts, or outside.
func (t *Tree) goesOn(c *cpu, list []decoder.BatchRange, stamps []decoder.Stamp) {
	if t.From == 0 && t.Until == 0 {
		c.counts = everything
		c.goesOver(list, stamps)
		return
	}
	for len(list) > 0 {
		in, n := t.inTime(stamps[list[0].Stamp].Time), 1
		for n < len(list) && (list[n].Stamp == list[n-1].Stamp || t.inTime(stamps[list[n].Stamp].Time) == in) {
			n++
		}
		if c.counts = 0; in {
			c.counts = everything
		}
		c.goesOver(list[:n], stamps)
		c.begins()
		list = list[n:]
	}
}

// everything is what counts of numbers: all of their bits.
const everything = ^uint64(0)

// inTime reports whether a moment lies in the time that counts.
func (t *Tree) inTime(x event.Time) bool { return x.Hi >= t.From && (t.Until == 0 || x.Lo <= t.Until) }

// clip returns the moment of the time that counts which is nearest to ns.
func (t *Tree) clip(ns uint64) uint64 {
	if t.Until != 0 {
		ns = min(ns, t.Until)
	}
	return max(ns, t.From)
}

// goesOver takes ranges between which no note lies.
func (c *cpu) goesOver(list []decoder.BatchRange, stamps []decoder.Stamp) {
	stamp, prev, counts, awaits, fresh, here := noStamp, c.prev, c.counts, c.await != nothing, false, false
	// fresh: c.last is not of the stamp yet; here: how the flow comes to the range was seen
	insns, verdict := uint64(0), decoder.Certain // of what ran in the innermost call, and is not counted there
	for i := 0; i < len(list); i++ {
		if !awaits && !fresh && c.OnRan == nil && verdict == decoder.Certain {
			if i, insns, prev, here = simply(c, list, i, stamp, insns, prev, here); i == len(list) {
				break
			}
		}
		x, k, n := &list[i], list[i].Block, uint64(list[i].N)&counts
		if !here {
			if x.Stamp != stamp {
				stamp, fresh = x.Stamp, true
				if c.moment(stamps, int(stamp)); awaits && answers(c, k) {
					awaits, here = false, true
				} else if c.thread == nil || c.tenure.over(c.stated, c.now) {
					c.begins()
					c.ran(insns, verdict, prev)
					insns, verdict = 0, decoder.Certain
					c.runs()
				}
			}
			if awaits || !here && (k.Addr-c.lo-1 >= c.inner || k.End-c.lo > c.size) && k != c.returner {
				c.ran(insns, verdict, prev)
				insns, verdict = 0, decoder.Certain
				if awaits || !c.jumpsBriefly(k) {
					c.begins()
					n = c.arrives(x) & counts
				}
				awaits = false
			}
		}
		here, fresh = false, fresh && passed(c)
		insns += n
		tells(c, x, n)
		verdict = max(verdict, x.Verdict)
		if prev = k; !ending.Has(k.Class) || x.N != k.N {
			continue
		}
		if flow.IsDetour(x) {
			k, stamp = bypasses(c, k, stamps, insns, verdict)
			insns, verdict, fresh, prev = 0, decoder.Certain, false, k
		}
		if next := i + 1; next < len(list) && c.top != nil && (c.Fold || c.Brief) && stamps[list[next].Stamp].Time.Lo < c.tenure.until {
			next := &list[next]
			if next.Stamp != stamp {
				stamp, fresh = next.Stamp, true
				c.moment(stamps, int(stamp))
			}
			if here = c.briefly(k, next.Block, insns, verdict); here {
				insns, verdict = 0, decoder.Certain
				continue
			}
		}
		awaits = c.leaves(k)
	}
	c.ran(insns, verdict, prev)
}

// answers takes what was awaited as the ranges before ended: done if that is a call or a return,
// brief calls go on, and k comes next.
func answers(c *cpu, k *decoder.Block) (done bool) {
	if c.await != callee && c.await != caller || c.top == nil || !c.Fold && !c.Brief || c.stated >= c.tenure.until {
		return false
	}
	if done = c.briefly(c.branch, k, 0, decoder.Certain); done {
		c.await = nothing
	}
	return done
}

// tells tells of a range, which may be ambiguous or unconfirmed: n of its instructions are the
// innermost call's.
func tells(c *cpu, x *decoder.BatchRange, n uint64) {
	if c.OnRan != nil {
		c.OnRan(c.top, x)
	}
	if x.Verdict < decoder.Unconfirmed {
		return
	}
	if c.begins(); x.Verdict == decoder.Ambiguous && c.top != nil {
		c.top.Ambiguous += n
		if ending.Has(x.Block.Class) {
			c.part.doubt() // those that a handler interrupted, too
		}
	}
}
