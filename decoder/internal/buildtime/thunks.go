package buildtime

import "encoding/binary"

// Features that decide on thunks (arch/x86/include/asm/cpufeatures.h, v6.1).
const (
	featRetpoline      = 11*32 + 12
	featRetpolineFence = 11*32 + 13
)

// thunkSize is how far the thunks of the 16 registers lie apart, bytes
// (RETPOLINE_THUNK_SIZE).
const thunkSize = 32

// returnThunk returns __x86_return_thunk: what all returns jump to as built.
func (v *vmlinux) returnThunk() uint64 {
	if v.symbols["__x86_return_thunk"] != 0 {
		return v.symbols["__x86_return_thunk"]
	}
	votes, best := map[uint64]int{}, uint64(0)
	t := v.sections[".return_sites"]
	for at, b := t.addr, t.data; len(b) >= 4 && len(t.data)-len(b) < 4096; at, b = at+4, b[4:] {
		if _, to, ok := v.branchTo(relative(b, at)); ok {
			if votes[to]++; votes[to] > votes[best] {
				best = to
			}
		}
	}
	v.symbols["__x86_return_thunk"] = best
	return best
}

// returnSites reads .return_sites: s32 distances to jumps to __x86_return_thunk
// (apply_returns, patch_return).
func (k *Kernel) returnSites() (list []site) {
	v := k.file
	t, thunk := v.sections[".return_sites"], v.returnThunk()
	for at, b := t.addr, t.data; len(b) >= 4; at, b = at+4, b[4:] {
		addr := relative(b, at)
		if op, to, ok := v.branchTo(addr); !ok || op != opJump || to != thunk || !v.isText(addr) {
			continue
		}
		list = append(list, site{addr, 5, stageReturn, []Choice{ReturnThunk}, func(code []byte, s State) {
			k.writeReturn(code, addr, s)
		}})
	}
	return list
}

// plainReturn is a return without a thunk, with what fills up its 5 bytes.
var plainReturn = []byte{opRet, opInt3, opInt3, opInt3, opInt3}

// writeReturn writes a return of 5 bytes at addr.
func (k *Kernel) writeReturn(code []byte, addr uint64, s State) {
	switch how := s.Get(ReturnThunk); {
	case how == ThunkBuilt:
		branch(code, opJump, addr, k.file.returnThunk())
	case how == ThunkOther, how == ThunkLowHalf && addr&0x20 == 0:
		branch(code, opJump, addr, k.Thunk)
	default:
		copy(code, plainReturn)
	}
}

// indirectThunks returns where the thunks of the registers begin: RAX's comes first, and
// it is the most used.
func (v *vmlinux) indirectThunks() uint64 {
	const name = "__x86_indirect_thunk_array"
	if a := v.symbols[name]; a != 0 {
		return a
	}
	best := uint64(0)
	t := v.sections[".retpoline_sites"]
	for at, b := t.addr, t.data; len(b) >= 4; at, b = at+4, b[4:] {
		if to, _, ok := v.toThunk(relative(b, at)); ok && (best == 0 || to < best) {
			best = to
		}
	}
	v.symbols[name] = best
	return best
}

// toThunk reads the branch at addr that goes to a thunk: a call, a jump or a
// conditional jump, which may have a prefix.
func (v *vmlinux) toThunk(addr uint64) (to uint64, n int, ok bool) {
	b := v.at(addr, 6)
	switch {
	case b == nil:
		return 0, 0, false
	case b[0] == opCall || b[0] == opJump:
		return relative(b[1:], addr+5), 5, true
	case b[0] == prefixCS && (b[1] == opCall || b[1] == opJump), b[0] == 0x0f && b[1]&0xf0 == 0x80:
		return relative(b[2:], addr+6), 6, true
	}
	return 0, 0, false
}

// retpolineSites reads .retpoline_sites: s32 distances to branches to
// __x86_indirect_thunk_REG (apply_retpolines, patch_retpoline).
func retpolineSites(v *vmlinux) (list []site) {
	first := v.indirectThunks()
	t := v.sections[".retpoline_sites"]
	choices := []Choice{{Feature, featRetpoline}, {Feature, featRetpolineFence}}
	for at, b := t.addr, t.data; len(b) >= 4; at, b = at+4, b[4:] {
		addr := relative(b, at)
		to, n, ok := v.toThunk(addr)
		reg := (to - first) / thunkSize
		if !ok || !v.isText(addr) || reg > 15 {
			continue
		}
		list = append(list, site{addr, n, stageRetpoline, choices, func(code []byte, s State) {
			fence := s.Get(choices[1]) == Present
			if s.Get(choices[0]) == Present && !fence {
				return
			}
			if c := indirect(code, int(reg), fence); len(c) <= len(code) {
				for i := copy(code, c); i < len(code); i++ {
					code[i] = opNop
				}
				optimizeNops(code)
			}
		}})
	}
	return list
}

// indirect returns the indirect branch that stands for a branch to the thunk of a
// register.
func indirect(was []byte, reg int, fence bool) (c []byte) {
	op := was[0]
	if op == prefixCS {
		op = was[1]
	}
	if op == 0x0f { // a conditional jump: past a jump on the other condition
		c = append(c, 0x70|was[1]&0xf^1, byte(len(was)-2))
		op = opJump
	}
	if fence {
		c = append(c, 0x0f, 0xae, 0xe8) // LFENCE
	}
	modrm := byte(0xd0) // call *reg
	if op == opJump {
		modrm = 0xe0
	}
	if reg >= 8 {
		c = append(c, 0x41)
	}
	c = append(c, 0xff, modrm|byte(reg&7))
	if op == opJump && len(c) < len(was) {
		c = append(c, opInt3)
	}
	return c
}

// ThunkOf returns the thunk that code made by this kernel returns by: the target of a
// jump at its end. code lies at addr, both as linked; built is set if it returns by
// itself. It looks for the jump before what no instruction follows.
func (k *Kernel) ThunkOf(to uint64) (how int, ok bool) {
	b := k.file.at(to, 2)
	switch {
	case to == k.file.returnThunk():
		return ThunkBuilt, true
	case b == nil || !k.file.isText(to):
		return 0, false
	case b[0] == opRet && to&0x20 != 0:
		return ThunkLowHalf, true
	case to>>12 == k.file.returnThunk()>>12 || k.nearThunk(to):
		return ThunkOther, true
	}
	return 0, false
}

// nearThunk reports whether to lies behind the thunks of the registers and not behind
// __x86_return_thunk: all thunks lie there.
func (k *Kernel) nearThunk(to uint64) bool {
	first := k.file.indirectThunks()
	return first != 0 && to >= first && to <= k.file.returnThunk()
}

// le reads a 64-bit word.
func le(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// InThunk reports whether addr is in a thunk of a register.
func (k *Kernel) InThunk(addr uint64) bool {
	first := k.file.indirectThunks()
	return first != 0 && addr-first < 16*thunkSize
}
