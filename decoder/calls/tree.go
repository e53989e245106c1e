package calls

import (
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
	places  map[*decoder.Block]place
	found   map[functionKey]*function
	free    []*Call
}

// begin forgets all.
func (t *Tree) begin() {
	t.cpus, t.threads = nil, map[threadKey]*thread{}
	t.places, t.found = map[*decoder.Block]place{}, map[functionKey]*function{}
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
	n, stamp := 0, ^uint32(0)
	for i := range b.Ranges {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			c.note(&b.Notes[n])
			stamp = ^uint32(0)
		}
		x := &b.Ranges[i]
		k := x.Block
		if x.Stamp != stamp {
			stamp = x.Stamp
			c.moment(b.Stamps[stamp].Time)
		}
		insns := uint64(x.N)
		if off := k.Addr - c.lo; c.await != nothing || off-1 >= c.inner || k.End-c.lo > c.size {
			insns = c.arrives(x)
		}
		top := c.top
		top.Self += insns
		if x.Verdict > top.Verdict {
			top.Verdict = x.Verdict
		}
		c.last, c.prev = c.now, k
		if ending.Has(k.Class) && x.N == k.N {
			c.leaves(k)
		}
	}
	for ; n < len(b.Notes); n++ {
		c.note(&b.Notes[n])
	}
	return nil
}
