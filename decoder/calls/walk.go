package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
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
	c := &t.cpus[b.Stream]
	from := 0
	for i := range b.Notes {
		n := &b.Notes[i]
		if n.At > from {
			t.goesOn(c, b.Ranges[from:n.At], b.Stamps)
			from = n.At
		}
		c.note(n)
	}
	if from < len(b.Ranges) {
		t.goesOn(c, b.Ranges[from:], b.Stamps)
	}
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

// goesOver takes ranges between which no note lies. What most of them need stands in
// variables: they go on in the function at hand.
func (c *cpu) goesOver(list []decoder.BatchRange, stamps []decoder.Stamp) {
	stamp, prev, counts := noStamp, c.prev, c.counts
	lo, size, inner, awaits := c.lo, c.size, c.inner, c.await != nothing
	fresh, here := false, false                  // c.last is not of the stamp yet; how the flow comes to the range was seen
	insns, verdict := uint64(0), decoder.Certain // of what ran in the innermost call, and is not counted there
	plain := c.OnRan == nil
	for i := 0; i < len(list); i++ {
		if plain && !awaits && !here {
			if n, ran := straight(list[i:], stamp, lo, size, inner); n > 0 {
				insns += ran & counts
				prev = list[i+n-1].Block
				if i += n; i == len(list) {
					break
				}
			}
		}
		x := &list[i]
		k := x.Block
		n := uint64(x.N) & counts
		if !here {
			if x.Stamp != stamp {
				stamp, fresh = x.Stamp, true
				if c.moment(stamps, int(stamp)); c.thread == nil || c.tenure.over(c.stated, c.now) {
					c.begins()
					c.ran(insns, verdict, prev)
					insns, verdict = 0, decoder.Certain
					c.runs()
					lo, size, inner = c.lo, c.size, c.inner
				}
			}
			if off := k.Addr - lo; awaits || (off-1 >= inner || k.End-lo > size) && k != c.returner {
				c.ran(insns, verdict, prev)
				insns, verdict = 0, decoder.Certain
				if awaits || !c.jumpsBriefly(k) {
					c.begins()
					n = c.arrives(x) & counts
				}
				lo, size, inner, awaits = c.lo, c.size, c.inner, false
			}
		}
		if here = false; fresh {
			c.last, c.lastStated, fresh = c.now, c.stated, false
		}
		insns += n
		c.tells(c.top, x)
		if x.Verdict >= decoder.Unconfirmed {
			if c.begins(); x.Verdict == decoder.Ambiguous && c.top != nil {
				c.top.Ambiguous += n
			}
		}
		verdict = max(verdict, x.Verdict)
		if prev = k; !ending.Has(k.Class) || x.N != k.N {
			continue
		}
		if next := i + 1; next < len(list) && c.top != nil && c.Fold && stamps[list[next].Stamp].Time.Lo < c.tenure.until {
			next := &list[next]
			if next.Stamp != stamp {
				stamp, fresh = next.Stamp, true
				c.moment(stamps, int(stamp))
			}
			if here = c.briefly(k, next.Block, insns, verdict); here {
				insns, verdict, lo, size, inner = 0, decoder.Certain, c.lo, c.size, c.inner
				continue
			}
		}
		awaits = c.leaves(k)
	}
	c.ran(insns, verdict, prev)
	c.begins()
}

// straight returns how many ranges go straight on in the function that the flow is in, with
// one stamp and certain, and how many instructions these have. They end behind a call or the
// like. The function's code is as in cpu. It is the part of goesOver that most ranges need.
func straight(list []decoder.BatchRange, stamp uint32, lo, size, inner uint64) (n int, insns uint64) {
	for i := range list {
		x := &list[i]
		k := x.Block
		if x.Stamp != stamp || x.Verdict != decoder.Certain || k.Addr-lo-1 >= inner || k.End-lo > size || ending.Has(k.Class) {
			return i, insns
		}
		insns += uint64(x.N)
	}
	return len(list), insns
}

// tells tells of a range that ran in c.
func (t *Tree) tells(c *Call, x *decoder.BatchRange) {
	if t.OnRan != nil {
		t.OnRan(c, x)
	}
}
