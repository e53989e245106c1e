package calls

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Tree follows the calls of a recording's flow. It is a decoder.Sink, for one goroutine. It
// holds what is in progress, and no more.
type Tree struct {
	Session *decoder.Session // whose flow it is; must be set

	// OnBegin and OnEnd, where set, are told of each call, callers before callees as they
	// begin and callees before callers as they end.
	OnBegin, OnEnd func(*Call)
	// OnRestart, where set, says that all that was told does not count: the flow comes
	// once more, with other code (decoder.Restarter). It returns false if it cannot forget.
	OnRestart func() bool

	Unmatched uint64 // returns that no call awaited
	Unwound   uint64 // calls that ended because one outside of them did

	cpus    []cpu // by stream
	threads map[threadKey]*thread
	places  []place // by a hash of their blocks
	found   map[functionKey]*function
	free    []*Call
}

// begin forgets all.
func (t *Tree) begin() {
	t.cpus, t.threads = nil, map[threadKey]*thread{}
	t.places, t.found = make([]place, maxPlaces), map[functionKey]*function{}
	t.Unmatched, t.Unwound = 0, 0
	for _, st := range t.Session.Streams() {
		c := cpu{Tree: t, st: st, machine: t.Session}
		for _, g := range decoder.Guests(t.Session) {
			if g.Meta().Guest == st.Guest {
				c.machine = g
			}
		}
		c.switches = switchName(c.machine)
		t.cpus = append(t.cpus, c)
	}
}

// Restart begins anew (decoder.Restarter).
func (t *Tree) Restart() bool {
	if t.OnRestart != nil && !t.OnRestart() {
		return false
	}
	t.begin()
	return true
}

// Close ends the calls that are in progress.
func (t *Tree) Close() {
	for i := range t.cpus {
		t.cpus[i].settle()
	}
	for _, th := range t.sorted() {
		c := &t.cpus[th.stream]
		c.thread, c.last = th, event.Time{Lo: th.seen.Lo, Hi: event.Always.Hi}
		for _, p := range []*stack{&th.kernel, &th.user} {
			c.part = p
			for len(p.calls) > 0 {
				c.end(AtEnd)
			}
		}
	}
}

// ending is the classes after which another rule tells where the flow goes than that
// it goes on in the function.
const ending = isa.ClassSet(1<<isa.Call | 1<<isa.CallInd | 1<<isa.Return | 1<<isa.FarReturn | 1<<isa.Syscall | 1<<isa.VMEnter)

// Flow takes flow (decoder.Sink).
func (t *Tree) Flow(b *decoder.Batch) error {
	if t.cpus == nil {
		t.begin()
	}
	c := &t.cpus[b.Stream]
	note, next := c.notes(b, 0, -1)
	stamp := ^uint32(0)
	// What most ranges need stands in variables: they go on in the function at hand.
	lo, size, inner, awaits, fresh := c.lo, c.size, c.inner, c.await != nothing, false
	insns, verdict, prev := uint64(0), decoder.Certain, c.prev
	for i := 0; i < len(b.Ranges); i++ {
		if !awaits && !fresh {
			n := 0
			if n, insns, verdict = straight(b.Ranges[i:next], stamp, lo, size, inner, insns, verdict); n > 0 {
				i, prev = i+n, b.Ranges[i+n-1].Block
				if i == len(b.Ranges) {
					break
				}
			}
		}
		x := &b.Ranges[i]
		k := x.Block
		if i >= next {
			c.ran(insns, verdict, prev)
			insns, verdict = 0, decoder.Certain
			note, next = c.notes(b, note, i)
			lo, size, inner, awaits, stamp = c.lo, c.size, c.inner, c.await != nothing, ^uint32(0)
		}
		if x.Stamp != stamp {
			stamp, fresh = x.Stamp, true
			if c.moment(b.Stamps, int(stamp)); c.thread == nil || c.switches == "" && c.stated >= c.until {
				c.ran(insns, verdict, prev)
				insns, verdict = 0, decoder.Certain
				c.runs()
				lo, size, inner = c.lo, c.size, c.inner
			}
		}
		n := uint64(x.N)
		if off := k.Addr - lo; (awaits || off-1 >= inner || k.End-lo > size) && (awaits || k != c.returner) {
			c.ran(insns, verdict, prev)
			insns, verdict = 0, decoder.Certain
			n = c.arrives(x)
			lo, size, inner, awaits = c.lo, c.size, c.inner, false
		}
		insns += n
		if x.Verdict == decoder.Ambiguous && c.top != nil {
			c.top.Ambiguous += n
		}
		verdict = max(verdict, x.Verdict)
		if fresh {
			c.last, c.lastStated, fresh = c.now, c.stated, false
		}
		if prev = k; ending.Has(k.Class) && x.N == k.N {
			awaits = c.leaves(k)
		}
	}
	c.ran(insns, verdict, prev)
	c.notes(b, note, math.MaxInt)
	return nil
}

// notes takes b's notes from number note on that lie before range i. It returns the number of the
// one that follows, and the range that this one lies before.
func (c *cpu) notes(b *decoder.Batch, note, i int) (following, next int) {
	for ; note < len(b.Notes) && b.Notes[note].At <= i; note++ {
		c.note(&b.Notes[note])
	}
	if note < len(b.Notes) {
		return note, b.Notes[note].At
	}
	return note, len(b.Ranges)
}

// straight goes over those ranges at the beginning of list that neither begin nor end a call:
// they have the stamp, lie in the function's code and are not ambiguous. n of them do.
func straight(list []decoder.BatchRange, stamp uint32, lo, size, inner, insns uint64, v decoder.Verdict) (n int, sum uint64, weakest decoder.Verdict) {
	for i := range list {
		x := &list[i]
		k := x.Block
		if x.Stamp != stamp || k.Addr-lo-1 >= inner || k.End-lo > size || ending.Has(k.Class) || x.Verdict == decoder.Ambiguous {
			return i, insns, v
		}
		insns += uint64(x.N)
		v = max(v, x.Verdict)
	}
	return len(list), insns, v
}

// ran notes what ran in the innermost call since the last time, up to the end of prev.
func (c *cpu) ran(insns uint64, v decoder.Verdict, prev *decoder.Block) {
	if c.prev = prev; c.top != nil {
		c.top.Self += insns
		c.top.Verdict = max(c.top.Verdict, v)
	}
}
