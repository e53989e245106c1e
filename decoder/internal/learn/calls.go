package learn

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Calls tells of a flow whether returns go where they must: behind a call. Where the trace
// states a return's target, the flow is there, whatever led to it. So a flow that was
// somewhere else before shows in its returns.
type Calls struct {
	// Astray counts returns that did not go behind the last call, of calls that were made
	// before Settle. Skipped counts those of them that went behind an older one. Right code
	// hardly does: the return of another task goes elsewhere.
	Astray, Skipped int

	open     []openCall // that have not returned, the newest last
	returned bool       // the last block ended with a return
	settled  bool
	before   int // of open, how many were made before Settle
}

// openCall is a call that has not returned.
type openCall struct {
	back uint64 // where its return must go
	near bool   // it may be a retpoline's, which writes another return address
}

// maxOpen bounds the calls that are remembered. A retpoline calls what lies at most thunk
// bytes behind (arch/x86/lib/retpoline.S, v6.1).
const (
	maxOpen = 64
	thunk   = 64
)

// Block takes the block of the flow at addr, which ends at end with an instruction of a
// class; target is where that leads by itself.
func (c *Calls) Block(addr, end, target uint64, class isa.Class) {
	if c.returned {
		c.back(addr)
	}
	k := len(c.open)
	switch class {
	case isa.Call, isa.CallInd:
		if class == isa.Call && target == end {
			break // it asks where it is
		}
		if k == maxOpen {
			c.open = append(c.open[:0], c.open[k/2:]...)
			c.before = max(0, c.before-k/2)
		}
		c.open = append(c.open, openCall{end, class == isa.Call && target-end < thunk})
	case isa.Return:
		c.returned = k > 0
	}
}

// Forget says that nobody knows the calls of what goes on: those of another task, or of what a gap hides.
func (c *Calls) Forget() { c.open, c.returned, c.before = c.open[:0], false, 0 }

// Settle says that the flow is right from here on.
func (c *Calls) Settle() {
	if !c.settled {
		c.settled, c.before = true, len(c.open)
	}
}

// back takes that a return went to addr.
func (c *Calls) back(addr uint64) {
	c.returned = false
	k := len(c.open) - 1
	if c.open[k].back == addr || c.open[k].near {
		c.open = c.open[:k]
	} else {
		if !c.settled || k < c.before {
			c.Astray++
			if slices.ContainsFunc(c.open[:k], func(x openCall) bool { return x.back == addr }) {
				c.Skipped++
			}
		}
		c.open = c.open[:0]
	}
	c.before = min(c.before, len(c.open))
}
