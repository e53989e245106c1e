package step

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// A call is one stop, also where a thunk serves it: at the function to which the
// thunk leads. So flow --level call lists it. Trampolines, which call who traces a function, are
// no stops either.

// longestThunk is how many items a thunk has at most, with those of other thunks that it leads to.
const longestThunk = 16

// lookBack has the window begin far enough before the cursor, and before the item to which it
// goes backwards, for called.
func (c *cursor) lookBack() error {
	for c.i <= longestThunk+1 && !c.first {
		n, err := c.before(c.ctx)
		if err != nil {
			return err
		}
		c.i += n
	}
	return nil
}

// toCall goes to the first instruction of the next call, or of the previous one.
func (c *cursor) toCall(back bool) (found bool, err error) {
	if err := c.lookBack(); err != nil {
		return false, err
	}
	return c.toward(back, c.called)
}

// called reports whether a call led to the cursor, at once or through thunks. What interrupts a
// function before its first instruction was not called: the function counts once it runs.
func (c *cursor) called() bool {
	if c.k > 0 || c.i == 0 || c.i >= len(c.items) {
		return false
	}
	x, p := &c.items[c.i], &c.items[c.i-1]
	if p.n != int(p.block.N) || x.interrupts() {
		return false
	}
	switch p.block.Class {
	case isa.Call, isa.CallInd:
		const int3 = 1 // bytes: who fills the return predictor of the CPU skips one
		return (x.block.Addr-p.block.End > int3 || c.beginsFunction(x)) && c.mayBeCalled(x)
	case isa.Return, isa.Jump, isa.JumpInd:
		return c.leadsOn(p) && c.beginsFunction(x) && c.thunkCalled()
	case isa.FarReturn:
		return !x.resumes() && c.beginsFunction(x)
	}
	return false
}

// interrupts reports whether x is what an interrupt or an exception led to.
func (x *item) interrupts() bool {
	return !x.resumes() && slices.ContainsFunc(x.notes, func(n decoder.Note) bool {
		return n.Kind == decoder.NoteEvent && n.Event.Kind == event.Async
	})
}

// resumes reports whether x is where tracing came on: it goes on there, or begins anew.
func (x *item) resumes() bool {
	return slices.ContainsFunc(x.notes, func(n decoder.Note) bool { return n.Kind == decoder.NoteTrackOn })
}

// thunkCalled reports whether the thunk that led to the cursor was called, and not jumped to. It
// says so, too, where this is not seen, as behind an interrupt: no call is to be left out.
func (c *cursor) thunkCalled() bool {
	for i := c.i - 2; i >= max(0, c.i-1-longestThunk); i-- {
		p := &c.items[i]
		if c.leadsOn(p) {
			continue
		}
		jumps := p.block.Class == isa.Jump || p.block.Class == isa.JumpInd || p.block.Class == isa.Cond
		return !jumps || p.n != int(p.block.N)
	}
	return true
}

// named returns what the code that x begins with is called.
func (c *cursor) named(x *item) (p rows.Place) {
	p.Sym, p.Off, p.DSO, p.Known = c.of.Symbol(x.block.Space, x.block.Addr, x.stamp.Time.Likely())
	return p
}

// leadsOn reports whether x lies in a thunk.
func (c *cursor) leadsOn(x *item) bool {
	p := c.named(x)
	return p.LeadsOn(c.of.Kernel(x.block.Addr))
}

// mayBeCalled reports whether x lies neither in a thunk nor in a trampoline.
func (c *cursor) mayBeCalled(x *item) bool {
	p := c.named(x)
	kernel := c.of.Kernel(x.block.Addr)
	return !p.LeadsOn(kernel) && !(kernel && p.CallsOn())
}

// beginsFunction reports whether x is where a function begins that may be called.
func (c *cursor) beginsFunction(x *item) bool {
	p := c.named(x)
	return p.Sym != "" && p.Off == 0 && c.mayBeCalled(x)
}
