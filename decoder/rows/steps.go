package rows

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// step is what the branch at the end of a block, after which the flow went on at an address,
// does to the tree of calls, whenever it runs. It is kept for that block, address
// and way into a thunk.
// taskCalls.step, which asks for all of it each time, is the slow twin.
type step struct {
	block *flow.Block
	next  uint64
	does  stepKind
	led   Transfer // how the thunk was entered that the branch lies in; NoTransfer: in none, or not known
	leads Transfer // the same of where it leads

	kernel bool // the branch lies in the kernel's code
	thunk  bool // in one of its thunks
	hidden bool // it calls a trampoline, which is no level of the tree
	enters bool // it enters a function
	leaps  bool // a return that may leave calls as callStack.leaps says, if no call awaits it
	ret    uint64
	row    *Row // of the call, but for its stream, time, verdict and depth; nil: it is not listed
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

// stepBits says how many steps are kept, as a power of two.
const stepBits = 15

// steps are those that are kept. They lie close together, since most are far from the last
// one in time.
type steps struct {
	at   []uint16 // by hash, or behind that: an index in list from 1; 0: none
	list []step
}

// stepOf returns what the branch at the end of x, a range of b, does, behind which the flow
// went on at next. A thunk that it lies in was entered as led says. The step is valid until the
// next call.
func (c *callTree) stepOf(m *Maker, st *Stream, b *flow.Batch, x *flow.Range, next uint64, led Transfer) *step {
	t, k := &c.steps, x.Block
	i := (k.Addr ^ next<<1 ^ uint64(led)) * 0x9e3779b97f4a7c15 >> (64 - stepBits - 1)
	for n := 0; ; n++ {
		if n >= len(t.at) {
			t.at, t.list = make([]uint16, 2<<stepBits), make([]step, 0, 1<<10)
			n = 0
		}
		at := t.at[i]
		if at == 0 {
			break
		}
		if s := &t.list[at-1]; s.block == k && s.next == next && s.led == led {
			return s
		}
		i = (i + 1) & (2<<stepBits - 1)
	}
	if len(t.list) == 1<<stepBits-1 { // full
		clear(t.at)
		t.list = t.list[:0]
		return c.stepOf(m, st, b, x, next, led)
	}
	t.list = append(t.list, m.newStep(branchRow(st, b, x), k, next, led))
	t.at[i] = uint16(len(t.list))
	s := &t.list[len(t.list)-1]
	if s.row != nil {
		s.row.Number = uint16(len(t.list) - 1)
	}
	return s
}

// newStep makes the step of k, next and led of the branch r.
func (m *Maker) newStep(r Row, k *flow.Block, next uint64, led Transfer) step {
	s := step{block: k, next: next, led: led, leads: led, kernel: m.names.machine(&r).Kernel(r.IP), ret: r.IP + uint64(r.Len)}
	switch {
	case !m.names.leads(&r, k.Target, k.End, next), r.Transfer == TransferCond:
		s.does = stepNothing
	case r.Transfer == TransferCall && m.skips(&r):
		s.does = stepNothing
	case !m.names.Lasting(&r, r.IP) || !m.names.Lasting(&r, r.Addr):
	case r.Transfer == TransferCall:
		s.does = stepCall
		s.hidden = m.folds(&r)
		s.thunk = m.names.leadsOn(&r, r.IP)
	case r.Transfer == TransferReturn:
		s.does = stepReturn
	case r.Transfer == TransferJump:
		s.does = stepJump
	}
	if s.does <= stepNothing {
		return s
	}
	s.leads = m.led(&r, led)
	if s.enters = m.names.entry(&r); r.Transfer == TransferJump {
		s.enters = m.enters(&r)
	}
	far := m.mayLeap(&r)
	s.leaps = far && s.does == stepReturn
	switch {
	case s.enters && m.names.takesStack(&r), far && s.does == stepJump:
		s.does = stepAsRow
	case s.does == stepJump && !s.enters:
		s.does = stepNothing
	}
	if s.enters && m.lists(&r) {
		call := asCall(&r)
		m.madeBy(&call, &r, led)
		call.Stream, call.Time, call.Verdict = nil, event.Time{}, flow.Certain
		s.row = &call
	}
	return s
}

// asRow reports whether s is to be taken by its row.
func (t *taskCalls) asRow(s *step) bool {
	return s.does == stepAsRow || s.leaps && t.stackOf(s).awaiting(s.next) < 0
}

// stackOf returns the calls that s belongs to.
func (t *taskCalls) stackOf(s *step) *callStack {
	if s.kernel {
		return &t.kernel
	}
	return &t.user
}

// take is taskCalls.step.
func (t *taskCalls) take(s *step) (depth int, listed bool) {
	c := t.stackOf(s)
	switch s.does {
	case stepCall:
		return c.enter(frame{s.ret, s.thunk, s.hidden}), s.row != nil
	case stepReturn:
		if c.leave(s.next) {
			return 0, false
		}
		return c.goesTo(s.enters), s.row != nil
	case stepJump:
		return c.jumps(s.row != nil), s.row != nil
	}
	return 0, false
}
