package trials

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
)

// maxPath is how many instructions before a contradiction are looked at.
const maxPath = 1024

// Visit is x as a place to learn from. ok is false where it says nothing of the kernel's
// code, or follows from another. kernel reports whether an address is the kernel's.
func Visit(x *flow.Contradiction, kernel func(addr uint64) bool) (v learn.Visit, ok bool) {
	g := &x.Gap
	if !kernel(g.IP) || !g.Reason.Contradicts() {
		return v, false
	}
	v = learn.Visit{Stream: g.Stream, Off: g.Off, Begin: g.Off, IP: g.IP, Time: g.Time, Unread: g.Reason == event.NoText}
	for i := len(x.Stretch) - 1; i >= 0; i-- {
		d := &x.Stretch[i]
		for k := len(d.Ranges) - 1; k >= 0; k-- {
			r := &d.Ranges[k]
			switch {
			case r.Verdict == flow.Ambiguous:
				return v, false // the flow was a guess: what contradicts it may lie before
			case r.Block.Space != 0:
				return v, len(v.Path) > 0
			}
			v.Begin = min(v.Begin, d.Stamps[r.Stamp].Off)
			v.Path = appendBack(v.Path, r)
			if len(v.Path) >= maxPath {
				return v, true
			}
		}
	}
	return v, true
}

// appendBack appends the addresses of r's instructions, the last one first.
func appendBack(list []uint64, r *flow.Range) []uint64 {
	a := r.End()
	for i := int(r.N) - 1; i >= 0; i-- {
		a -= uint64(r.Block.Lens[i])
		list = append(list, a)
	}
	return list
}
