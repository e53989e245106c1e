package rows

import (
	"strings"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// leaps takes a jump or return to another function than its own, behind where that begins: longjmp and C++ exceptions
// leave calls so. What a function called is over where the flow goes on in it. It reports whether any call is.
func (s *callStack) leaps(m *Maker, r *Row) bool {
	n := len(s.frames)
	if n == 0 || !m.mayLeap(r) {
		return false
	}
	i := n - 1
	if m.names.At(r, r.IP).Sym == "_Unwind_Resume" { // what called it is over
		i--
	}
	for ; i >= 0 && i >= n-maxUnwind && s.frames[i].ret != 0; i-- {
		if m.together(r, s.frames[i].ret-1, r.Addr) {
			s.cut(i)
			return true
		}
	}
	return false
}

// mayLeap reports whether r is a branch as leaps takes it.
func (m *Maker) mayLeap(r *Row) bool {
	if r.Class != isa.JumpInd && r.Class != isa.Return || !r.HasAddr {
		return false
	}
	to := m.names.At(r, r.Addr)
	return to.Sym != "" && (to.Off != 0 || strings.HasSuffix(to.Sym, coldSuffix)) && !m.together(r, r.IP, r.Addr)
}

// coldSuffix ends the name of what a compiler moved out of a function.
const coldSuffix = ".cold"

// together reports whether a and b lie in the same function, with what a compiler moved out of it.
func (m *Maker) together(r *Row, a, b uint64) bool {
	p, q := m.names.At(r, a), m.names.At(r, b)
	if p.DSO != q.DSO || p.Sym == q.Sym && a-p.Off != b-q.Off { // several static functions may have one name
		return false
	}
	return strings.TrimSuffix(p.Sym, coldSuffix) == strings.TrimSuffix(q.Sym, coldSuffix)
}
