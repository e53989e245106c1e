package rows

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// step is what the branch at the end of a block, after which the flow went on at an address,
// does to the tree of calls, whenever it runs. It is kept for that block and address.
// taskCalls.step, which asks for all of it each time, is the slow twin.
type step struct {
	block *flow.Block
	next  uint64
	does  stepKind

	kernel bool // the branch lies in the kernel's code
	thunk  bool // in one of its thunks
	hidden bool // it calls a trampoline, which is no level of the tree
	enters bool // it enters a function
	listed bool // that is listed
	ret    uint64
	row    Row // of the call, but for its stream, time, verdict and depth
}

// stepKind says how a step is taken.
type stepKind uint8

const (
	stepAsRow   stepKind = iota // by its row: what it does depends on more
	stepNothing                 // it does nothing
	stepCall
	stepReturn
	stepJump
)

// stepBits says how many steps are kept, as a power of two. Each lies in one of stepWays
// places.
const (
	stepBits = 15
	stepWays = 4
)

// stepOf returns what the branch at the end of x, a range of b, does, behind which the flow
// went on at next.
func (c *callTree) stepOf(m *Maker, st *Stream, b *flow.Batch, x *flow.Range, next uint64) *step {
	k := x.Block
	if c.steps == nil {
		c.steps = make([]*step, 1<<stepBits)
	}
	at := (k.Addr ^ next<<1) * 0x9e3779b97f4a7c15 >> (64 - stepBits) &^ (stepWays - 1)
	ways := c.steps[at : at+stepWays]
	for _, s := range ways {
		if s != nil && s.block == k && s.next == next {
			return s
		}
	}
	s := m.newStep(branchRow(st, b, x), k, next)
	copy(ways[1:], ways) // the newest comes first
	ways[0] = s
	s.row.Number = uint16(c.made % len(c.steps))
	c.made++
	return s
}

// newStep makes the step of k and next of the branch r.
func (m *Maker) newStep(r Row, k *flow.Block, next uint64) *step {
	s := &step{block: k, next: next, kernel: m.names.machine(&r).Kernel(r.IP), ret: r.IP + uint64(r.Len)}
	switch {
	case !m.names.leads(&r, k.Target, k.End, next), r.Transfer == TransferCond:
		s.does = stepNothing
	case r.Transfer == TransferCall && r.skips():
		s.does = stepNothing
	case !m.names.Lasting(&r, r.IP) || !m.names.Lasting(&r, r.Addr):
	case r.Transfer == TransferCall:
		s.does = stepCall
		s.hidden = m.folds(&r)
		s.thunk = m.names.inKernel(&r, r.IP, leadsOn)
	case r.Transfer == TransferReturn:
		s.does = stepReturn
	case r.Transfer == TransferJump:
		s.does = stepJump
	}
	if s.does <= stepNothing {
		return s
	}
	s.enters = m.names.entry(&r)
	s.listed = s.enters && m.lists(&r)
	switch {
	case s.enters && m.names.takesStack(&r):
		s.does = stepAsRow
	case s.does == stepJump && !s.enters:
		s.does = stepNothing
	}
	s.row = asCall(&r)
	s.row.Stream, s.row.Time, s.row.Verdict = nil, event.Time{}, flow.Certain
	return s
}

// take is taskCalls.step.
func (t *taskCalls) take(s *step) (depth int, listed bool) {
	c := &t.user
	if s.kernel {
		c = &t.kernel
	}
	switch s.does {
	case stepCall:
		return c.enter(frame{s.ret, s.thunk, s.hidden}), s.listed
	case stepReturn:
		if c.leave(s.next) {
			return 0, false
		}
		return c.goesTo(s.enters), s.listed
	case stepJump:
		return c.jumps(s.listed), s.listed
	}
	return 0, false
}
