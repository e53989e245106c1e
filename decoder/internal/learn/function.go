package learn

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// insn is an instruction of a function as it stands in the code.
type insn struct {
	isa.Insn
	addr uint64
}

func (x *insn) end() uint64 { return x.addr + uint64(x.Len) }

// function is a function's instructions, one behind the other as they stand. Its cold
// part, if it has one of its own, follows.
type function struct {
	insns   []insn
	index   map[uint64]int  // by address: which of insns begins there
	orphans []uint64        // addresses of code that nothing in the function leads to
	padding map[uint64]bool // what fills up to the next function or loop
	led     map[uint64]int  // how many branches lead there
	from    map[uint64]span // the first and the last of these
	open    map[uint64]bool // what stands before does not go on to it
}

// maxFunction bounds what is read of a function, bytes.
const maxFunction = 64 << 10

// function reads the function that holds addr. ok is false where no symbol does.
func (g *Generator) function(addr uint64) (f *function, ok bool) {
	y, ok := g.Symbol(addr)
	if !ok || y.Len == 0 {
		return nil, false
	}
	if f, ok := g.functions[y.Addr]; ok {
		return f, true
	}
	f = &function{index: map[uint64]int{}, padding: map[uint64]bool{}, led: map[uint64]int{}, from: map[uint64]span{}, open: map[uint64]bool{}}
	g.sweep(f, y.Addr, min(y.Len, maxFunction))
	if c, ok := g.Cold(y.Name); ok {
		g.sweep(f, c.Addr, min(c.Len, maxFunction))
	}
	f.findOrphans()
	if g.functions == nil {
		g.functions = map[uint64]*function{}
	}
	g.functions[y.Addr] = f
	return f, true
}

// sweep reads n bytes from addr on, one instruction behind the other.
func (g *Generator) sweep(f *function, addr, n uint64) {
	code := make([]byte, n)
	code = code[:g.Body(code, addr)]
	for off := 0; off < len(code); {
		x := insn{addr: addr + uint64(off)}
		if g.ISA.Decode(&x.Insn, code[off:], x.addr, g.Mode) != isa.OK {
			off += g.step()
			continue
		}
		f.index[x.addr] = len(f.insns)
		f.insns = append(f.insns, x)
		off += int(x.Len)
	}
}

// step returns how far the next instruction lies behind one that cannot be read, bytes.
func (g *Generator) step() int {
	if g.Mode == isa.ModeA64 {
		return 4
	}
	return 1
}

// findOrphans finds the code that stands behind an instruction which does not go on to
// it, and that no branch of the function leads to. The code of a jump label that is
// switched off is of this kind: the compiler moves it out of line.
func (f *function) findOrphans() {
	for i := range f.insns {
		x := &f.insns[i]
		if x.Target == 0 {
			continue
		}
		s, led := f.from[x.Target]
		if f.led[x.Target]++; !led {
			s.lo = x.addr
		}
		f.from[x.Target] = span{min(s.lo, x.addr), max(s.hi, x.addr)}
	}
	open := false // the instruction before does not go on to this one
	for i := range f.insns {
		x := &f.insns[i]
		if open {
			f.open[x.addr] = true
		}
		if open && (x.Flags&isa.FlagNop != 0 || x.Class == isa.Break) && f.led[x.addr] == 0 {
			f.padding[x.addr] = true
			continue
		}
		if open && f.led[x.addr] == 0 {
			f.orphans = append(f.orphans, x.addr)
		}
		switch x.Class {
		case isa.Jump, isa.JumpInd, isa.Return, isa.Undefined, isa.FarReturn, isa.FarJump:
			open = true
		default:
			open = false
		}
	}
}

// behindNops returns where the NOPs end that stand at addr. They may be other jump labels.
func (f *function) behindNops(addr uint64) uint64 {
	if i, ok := f.index[addr]; ok {
		for ; i < len(f.insns) && f.insns[i].addr == addr && f.insns[i].Flags&isa.FlagNop != 0; i++ {
			addr = f.insns[i].end()
		}
	}
	return addr
}

// followsNop reports whether a NOP of n bytes stands right before addr. It may be another jump label.
func (f *function) followsNop(addr, n uint64) bool {
	i, ok := f.index[addr]
	return ok && i > 0 && f.insns[i-1].end() == addr && f.insns[i-1].Flags&isa.FlagNop != 0 && uint64(f.insns[i-1].Len) == n
}

// returnsTo reports whether the out-of-line code at orphan goes back to addr, or behind that,
// up to last.
func (f *function) returnsTo(orphan, addr, last uint64) bool {
	i, ok := f.index[orphan]
	for k := i; ok && k < len(f.insns); k++ {
		x := &f.insns[k]
		if k > i && slices.Contains(f.orphans, x.addr) {
			return false // other code that was moved out of line
		}
		if (x.Class == isa.Jump || x.Class == isa.Cond) && addr <= x.Target && x.Target <= last {
			return true
		}
	}
	return false
}

// skips reports whether the jump at site, which ends at end and leads to target, looks like
// that of a jump label. What it skips has no other way in, or what it leads to has none
// and comes back behind it. It may come back behind other labels in a row, whose conditions
// it knows.
func (g *Generator) skips(site, end, target uint64) bool {
	f, ok := g.function(site)
	if !ok {
		return false
	}
	if _, ok := f.index[target]; !ok {
		return false // a jump label stays in its function
	}
	return !f.padding[end] && slices.Contains(f.orphans, end) || f.open[target] && f.led[target] == 1 && f.returnsTo(target, end, f.behindNops(end))
}
