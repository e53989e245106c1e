package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// naming answers what the code of a session is called, besides Session.Symbol.
type naming struct {
	rec    *recording.Recording
	kernel func(addr uint64) bool // Session.Kernel
}

// Lines returns the places in the source that the code at addr, in an address space at a
// time, ns, was made of. The first is the line itself. Each other is the call in which the
// one before it was inlined, the last that of the function. nil: nothing tells.
func (n *naming) Lines(space uint32, addr, time uint64) []symbols.Frame {
	if space == 0 || n.kernel(addr) {
		return nil
	}
	var list []symbols.Frame
	for _, f := range n.rec.Processes.Spaces.Lines(space, addr) {
		list = append(list, symbols.Frame{Sym: f.Func, File: f.File, Line: f.Line})
	}
	return list
}

// UserEpochs returns the changes of a program's code, counted in its address space, from
// and up to which what lay at addr lay there. It is event.EveryEpoch where nothing took
// its place.
func (n *naming) UserEpochs(space uint32, addr uint64) event.Span {
	return event.EveryEpoch
}
