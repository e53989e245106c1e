package buildtime

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// The tables without sections of their own, which include/asm-generic/vmlinux.lds.h
// (v6.1) puts between symbols.
var tableNames = [...]struct{ start, stop string }{
	jumpTable:   {"__start___jump_table", "__stop___jump_table"},
	callTable:   {"__start_static_call_sites", "__stop_static_call_sites"},
	mcountTable: {"__start_mcount_loc", "__stop_mcount_loc"},
}

// Kinds of such tables.
const (
	jumpTable = iota
	callTable
	mcountTable
)

// Sizes of their entries, bytes: struct jump_entry (s32 code, s32 target, s64 key, each
// a distance from itself), struct static_call_site (s32 code, s32 key, likewise), and an
// address.
var entrySizes = [...]uint64{jumpTable: 16, callTable: 8, mcountTable: 8}

// findTable returns a table of a kind: where the symbols say, else where the longest
// row of entries lies of which each one leads to code that fits it.
func (v *vmlinux) findTable(kind int) stretch {
	lo, hi := v.symbols[tableNames[kind].start], v.symbols[tableNames[kind].stop]
	if lo != 0 && hi > lo {
		if b := v.at(lo, hi-lo); b != nil {
			return stretch{addr: lo, data: b}
		}
	}
	var best stretch
	size := entrySizes[kind]
	for _, s := range v.segs {
		for off := uint64(0); off+size <= uint64(len(s.data)); {
			n := uint64(0)
			for off+n+size <= uint64(len(s.data)) && v.fits(kind, s.addr+off+n, s.data[off+n:]) {
				n += size
			}
			if n > uint64(len(best.data)) {
				best = stretch{addr: s.addr + off, data: s.data[off : off+n : off+n]}
			}
			off += max(n, min(size, 8))
		}
	}
	if len(best.data) < minRow*int(size) {
		return stretch{}
	}
	return best
}

// minRow is how many entries in a row are a table. The tests of shape below hardly
// ever pass by chance, once, and never so often.
const minRow = 4

// fits reports whether b, which lies at addr, begins with an entry of a kind of table.
func (v *vmlinux) fits(kind int, addr uint64, b []byte) bool {
	switch kind {
	case jumpTable:
		if at := relative(b, addr); !v.isText(at) && !v.initCode(at) { // most are not
			return false
		}
		_, ok := v.jumpEntry(addr, b)
		return ok
	case callTable:
		_, ok := v.callEntry(addr, b)
		return ok
	}
	return v.isMcount(le(b))
}

// initCode reports whether addr is in code that boot throws away.
func (v *vmlinux) initCode(addr uint64) bool {
	return slices.ContainsFunc(v.init[:], func(s stretch) bool { return addr-s.addr < uint64(len(s.data)) })
}

// jumpEntry is a static branch: a NOP or a jump of 2 or 5 bytes at code.
type jumpEntry struct {
	code, target, key uint64
	n                 int
	jumps             bool // as built
}

// jumpEntry reads an entry of the jump table.
func (v *vmlinux) jumpEntry(addr uint64, b []byte) (e jumpEntry, ok bool) {
	e.code, e.target, e.key = relative(b, addr), relative(b[4:], addr+4), addr+8+le(b[8:])
	e.key &^= 3 // bits: likely, and in init code
	if v.at(e.target, 1) == nil || e.key < 1<<63 {
		return e, false
	}
	if v.arm {
		return e, e.armJump(v.at(e.code, armSize))
	}
	c := v.at(e.code, 5)
	if c == nil {
		return e, false
	}
	switch {
	case bytes.HasPrefix(c, nops[2]):
		e.n = 2
	case bytes.Equal(c, nops[5]):
		e.n = 5
	case c[0] == opJumpShort && e.code+2+uint64(int64(int8(c[1]))) == e.target:
		e.n, e.jumps = 2, true
	case c[0] == opJump && relative(c[1:], e.code+5) == e.target:
		e.n, e.jumps = 5, true
	default:
		return e, false
	}
	return e, true
}

// write writes the branch as it is where it jumps, or does not.
func (e *jumpEntry) write(code []byte, jumps bool) {
	switch {
	case e.n == armSize: // no branch of x86 is so long
		e.armWrite(code, jumps)
	case !jumps:
		fillNops(code)
	case e.n == 2:
		code[0], code[1] = opJumpShort, byte(e.target-e.code-2)
	default:
		branch(code, opJump, e.code, e.target)
	}
}

// jumpSites reads the jump table. Each branch is as built, until its key was toggled:
// then all of that key are the other way round (arch/x86/kernel/jump_label.c).
func jumpSites(v *vmlinux, t stretch) (list []site) {
	for at, b := t.addr, t.data; len(b) >= 16; at, b = at+16, b[16:] {
		e, ok := v.jumpEntry(at, b)
		if !ok || !v.isText(e.code) {
			continue
		}
		c := Choice{Key, e.key}
		list = append(list, site{e.code, e.n, stageEarly, []Choice{c}, func(code []byte, s State) {
			e.write(code, e.jumps != (s.Get(c) == Toggled))
		}})
	}
	return list
}

// callEntry is a static call: a call of a trampoline, or a jump to it, of 5 bytes.
type callEntry struct {
	code, key uint64
	tail      bool
}

// trampolineMark stands behind the first 5 bytes of a static call's trampoline: UD1
// (arch/x86/include/asm/static_call.h, v6.1).
var trampolineMark = []byte{0x0f, 0xb9, 0xcc}

// callEntry reads an entry of the static call sites.
func (v *vmlinux) callEntry(addr uint64, b []byte) (e callEntry, ok bool) {
	e.code, e.key = relative(b, addr), relative(b[4:], addr+4)
	e.tail = e.key&1 != 0
	e.key &^= 3 // bits: a tail call, and in init code
	op, to, ok := v.branchTo(e.code)
	if !ok || e.tail != (op == opJump) || v.at(e.key, 8) == nil {
		return e, false
	}
	mark := v.at(to+5, 3)
	return e, bytes.Equal(mark, trampolineMark)
}

// callSites reads the static call sites. The key's first word is the function; none
// makes the call a NOP and the jump a return, and one that returns 0 a XOR
// (arch/x86/kernel/static_call.c, __static_call_transform). That return is a plain one:
// the calls are made before it is known how functions return.
func (k *Kernel) callSites(t stretch) (list []site) {
	v := k.file
	zero, seen := v.returnsZero(t), map[uint64]bool{}
	k.findSetters(t)
	add := func(e callEntry, built bool) {
		to, c := le(v.at(e.key, 8)), Choice{Call, e.key}
		list = append(list, site{e.code, 5, stageEarly, []Choice{c}, func(code []byte, s State) {
			to := to
			switch how := s.Get(c); {
			case how == CallNothing:
				to = 0
			case how == CallZero:
				to = zero
			case how >= CallOther:
				to = k.setters[e.key][how-CallOther]
			case built:
				return
			}
			switch {
			case to == 0 && e.tail:
				copy(code, plainReturn)
			case to == 0:
				fillNops(code)
			case e.tail:
				branch(code, opJump, e.code, to)
			case to == zero:
				copy(code, []byte{prefixCS, prefixCS, prefixCS, 0x31, 0xc0}) // XOR EAX, EAX
			default:
				branch(code, opCall, e.code, to)
			}
		}})
	}
	for at, b := t.addr, t.data; len(b) >= 8; at, b = at+8, b[8:] {
		e, ok := v.callEntry(at, b)
		if !ok || !v.isText(e.code) {
			continue
		}
		add(e, false)
		if _, to, _ := v.branchTo(e.code); !seen[to] && v.isText(to) { // the trampoline: changed when the key is
			seen[to] = true
			add(callEntry{to, e.key, true}, true)
		}
	}
	return list
}

// returnsZero returns __static_call_return0, and 0 where no key names it as built. It is
// the function that is no more than XOR EAX, EAX and a return.
func (v *vmlinux) returnsZero(t stretch) uint64 {
	if a, ok := v.symbols["__static_call_return0"]; ok {
		return a
	}
	for at, b := t.addr, t.data; len(b) >= 8; at, b = at+8, b[8:] {
		e, ok := v.callEntry(at, b)
		if !ok {
			continue
		}
		to := le(v.at(e.key, 8))
		if op, f, ok := v.branchTo(to); ok && op == opCall && f == v.symbols["__fentry__"] {
			to += 5
		}
		if c := v.at(to, 7); c != nil && c[0] == 0x31 && c[1] == 0xc0 && (c[2] == opRet || c[2] == opJump && relative(c[3:], to+7) == v.returnThunk()) {
			return le(v.at(e.key, 8))
		}
	}
	return 0
}

// isMcount reports whether addr is one where a traced function calls __fentry__.
func (v *vmlinux) isMcount(addr uint64) bool {
	if !v.isText(addr) && !v.initCode(addr) {
		return false
	}
	op, to, ok := v.branchTo(addr)
	return ok && op == opCall && to == v.symbols["__fentry__"]
}

// findFentry finds __fentry__ where no symbol tells: of the calls that words of the
// file point to, most go there.
func (v *vmlinux) findFentry() {
	if v.symbols["__fentry__"] != 0 {
		return
	}
	votes, best := map[uint64]int{}, uint64(0)
	for _, s := range v.segs {
		for b := s.data; len(b) >= 8; b = b[8:] {
			if a := le(b); v.isText(a) {
				if op, to, ok := v.branchTo(a); ok && op == opCall && v.isText(to) {
					if votes[to]++; votes[to] > votes[best] {
						best = to
					}
				}
			}
		}
	}
	v.symbols["__fentry__"] = best
}

// mcountSites reads the places that call __fentry__: ftrace_init makes them NOPs.
func mcountSites(v *vmlinux, t stretch) (list []site) {
	for b := t.data; len(b) >= 8; b = b[8:] {
		if addr := binary.LittleEndian.Uint64(b); v.isText(addr) && v.isMcount(addr) {
			list = append(list, site{addr, 5, stageEarly, nil, func(code []byte, s State) { fillNops(code) }})
		}
	}
	return list
}

// findSetters finds the functions that the kernel's own code gives to static calls. Where
// it calls __static_call_update, it puts the key's address into RDI and the function's
// into RDX, both as constants of 32 bits, next to each other.
func (k *Kernel) findSetters(t stretch) {
	const near = 40 // bytes, either way
	v := k.file
	k.setters = map[uint64][]uint64{}
	keys := map[uint64]bool{}
	for at, b := t.addr, t.data; len(b) >= 8; at, b = at+8, b[8:] {
		if e, ok := v.callEntry(at, b); ok {
			keys[e.key] = true
		}
	}
	for _, part := range []stretch{v.text, v.sections[".init.text"]} {
		for at := 0; ; at++ {
			i := bytes.Index(part.data[at:], []byte{0x48, 0xc7, 0xc7}) // MOV RDI, constant
			if i < 0 {
				break
			}
			if at += i; at+7 > len(part.data) {
				break
			}
			key := constant(part.data[at+3:])
			if !keys[key] {
				continue
			}
			around := part.data[max(at-near, 0):min(at+near, len(part.data))]
			for j := range around {
				c := around[j:]
				if len(c) < 7 || c[0] != 0x48 || c[1] != 0xc7 || c[2] != 0xc2 { // MOV RDX, constant
					continue
				}
				if to := constant(c[3:]); v.isText(to) && !slices.Contains(k.setters[key], to) {
					k.setters[key] = append(k.setters[key], to)
				}
			}
		}
	}
}

// constant returns the 64-bit value of a constant of 32 bits.
func constant(b []byte) uint64 { return uint64(int64(int32(binary.LittleEndian.Uint32(b)))) }
