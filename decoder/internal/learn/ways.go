package learn

import "github.com/ptdecode/ptdecode/decoder/isa"

// Where the jump of a jump label may lead, as the code around it says. The compiler has it
// skip a block that nothing else leads into, or go to code that it moved out of line.

// span is addresses from lo to hi, both within.
type span struct{ lo, hi uint64 }

// maxBlocks bounds the blocks behind one site that its jump may skip.
const maxBlocks = 16

// outOfLine returns where a jump label at site may jump to, whose instruction ends at
// end. likely is code of its function that nothing else leads to, and that comes back behind the
// site. Of other are such code that goes elsewhere, and what lies behind a block (behind).
func (g *Generator) outOfLine(site, end uint64) (likely, other []uint64) {
	f, ok := g.function(site)
	if !ok {
		return nil, nil
	}
	stuck := f.stuck(site, end)
	for _, o := range f.orphans {
		switch {
		case stuck[o]:
		case f.returnsTo(o, end, end):
			likely = append(likely, o)
		case len(other) < 64:
			other = append(other, o)
		}
	}
	for _, to := range f.behind(end) {
		if !stuck[to] {
			other = append(append(other, to), f.jumpingTo(to)...)
		}
	}
	return likely, other
}

// jumpingTo returns where code begins that goes straight on to a jump to addr. It stands out of line, and branches lead
// to it. No trace tells a jump to such code from one to addr.
func (f *function) jumpingTo(addr uint64) (list []uint64) {
	for i := range f.insns {
		if x := &f.insns[i]; x.Class != isa.Jump || x.Target != addr {
			continue
		}
		for k := i; k >= 0 && (k == i || straightOn.Has(f.insns[k].Class)); k-- {
			if at := f.insns[k].addr; f.open[at] {
				if f.led[at] > 0 {
					list = append(list, at)
				}
				break
			}
		}
	}
	return list
}

// behind returns where blocks end that begin at addr. All ways into such a block begin there, and
// some branch leads to where it ends.
func (f *function) behind(addr uint64) (list []uint64) {
	i, ok := f.index[addr]
	last := uint64(0) // the last branch that leads into what lies before x
	for k := i; ok && k < len(f.insns) && len(list) < maxBlocks; k++ {
		x := &f.insns[k]
		from, led := f.from[x.addr]
		if k > i && led && last < x.addr {
			list = append(list, x.addr)
		}
		if led && from.lo < addr {
			break
		}
		if led {
			last = max(last, from.hi)
		}
	}
	return list
}

// stuck returns the instructions from which all ways lead to site, and none out of the function. A
// jump from site to one of them would never come out. It returns none where the code that goes on at end
// does not come out either.
func (f *function) stuck(site, end uint64) map[uint64]bool {
	out := make([]bool, len(f.insns))
	leaves := func(addr uint64) bool {
		k, ok := f.index[addr]
		return !ok || out[k]
	}
	for again := true; again; {
		again = false
		for k := len(f.insns) - 1; k >= 0; k-- {
			if x := &f.insns[k]; !out[k] && x.addr != site && x.leaves(leaves) {
				out[k], again = true, true
			}
		}
	}
	if !leaves(end) {
		return nil
	}
	stuck := map[uint64]bool{}
	for k := range f.insns {
		if !out[k] {
			stuck[f.insns[k].addr] = true
		}
	}
	return stuck
}

// leaves reports whether x may leave its function, itself or by what it leads to, of which out says so.
func (x *insn) leaves(out func(addr uint64) bool) bool {
	switch x.Class {
	case isa.JumpInd, isa.Return, isa.Undefined, isa.FarReturn, isa.FarJump:
		return true
	case isa.Jump:
		return out(x.Target)
	case isa.Cond:
		return out(x.Target) || out(x.end())
	}
	return out(x.end())
}
