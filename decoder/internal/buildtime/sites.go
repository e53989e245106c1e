package buildtime

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// The order in which boot goes through the tables: static_call_init and
// jump_label_init, ftrace_init, then alternative_instructions
// (init/main.c, start_kernel; arch/x86/kernel/alternative.c; v6.1).
const (
	stageEarly = iota
	stageParavirt
	stageRetpoline
	stageReturn
	stageAlternative
)

// site is one entry of a table: how it rewrites the bytes from addr on.
type site struct {
	addr    uint64
	n       int // bytes
	stage   int
	choices []Choice // what decides which code it gets
	// rewrite changes code, the n bytes at addr as the stages before left them.
	rewrite func(code []byte, s State)
}

// Group is sites that overlap: what is decided of one depends on the others.
type Group struct {
	Addr    uint64 // as linked
	Built   []byte // what the file holds
	Choices []Choice
	sites   []site // by stage, then as the table has them
	arm     bool   // A64, else x86
}

// Code returns what boot makes of the group; nil where one of the choices is Unknown.
func (g *Group) Code(s State) []byte {
	for _, c := range g.Choices {
		if s.Get(c) == Unknown {
			return nil
		}
	}
	code := bytes.Clone(g.Built)
	for i := range g.sites {
		x := &g.sites[i]
		d := int(x.addr - g.Addr)
		x.rewrite(code[d:d+x.n], s)
	}
	return code
}

// Last returns the last address of the group.
func (g *Group) Last() uint64 { return g.Addr + uint64(len(g.Built)) - 1 }

// Alike reports whether a flow cannot tell the group's code under two states.
func (g *Group) Alike(a, b State) bool {
	x, y := g.Code(a), g.Code(b)
	return x != nil && y != nil && (bytes.Equal(x, y) || sameFlow(x, y, g.Addr, g.arm))
}

// groups joins sites that overlap.
func groups(v *vmlinux, sites []site) (list []*Group) {
	slices.SortStableFunc(sites, func(a, b site) int { return cmp.Compare(a.addr, b.addr) })
	for i := 0; i < len(sites); {
		end, k := sites[i].addr+uint64(sites[i].n), i+1
		for ; k < len(sites) && sites[k].addr < end; k++ {
			end = max(end, sites[k].addr+uint64(sites[k].n))
		}
		if b := v.at(sites[i].addr, end-sites[i].addr); b != nil {
			g := &Group{Addr: sites[i].addr, Built: b, sites: slices.Clone(sites[i:k]), arm: v.arm}
			slices.SortStableFunc(g.sites, func(a, b site) int { return cmp.Compare(a.stage, b.stage) })
			for _, x := range g.sites {
				for _, c := range x.choices {
					if !slices.Contains(g.Choices, c) {
						g.Choices = append(g.Choices, c)
					}
				}
			}
			list = append(list, g)
		}
		i = k
	}
	return list
}

// alternative is an entry of .altinstructions (struct alt_instr, v6.1):
//
//	0  s32 distance of the code from here
//	4  s32 distance of the replacement from here
//	8  u16 the feature; bit 15: replaced where the CPU lacks it
//	10 u8  bytes of code
//	11 u8  bytes of the replacement
const alternativeSize = 12

// alternativeSites reads .altinstructions. Each entry is applied over what those
// before it left (apply_alternatives).
func alternativeSites(v *vmlinux) (list []site) {
	t := v.sections[".altinstructions"]
	for at, b := t.addr, t.data; len(b) >= alternativeSize; at, b = at+alternativeSize, b[alternativeSize:] {
		addr, from := relative(b, at), relative(b[4:], at+4)
		word := binary.LittleEndian.Uint16(b[8:])
		c, inverse := Choice{Feature, uint64(word &^ (1 << 15))}, word>>15 != 0
		repl := v.at(from, uint64(b[11]))
		if n := int(b[10]); n > 0 && v.isText(addr) && repl != nil && len(repl) <= n {
			list = append(list, site{addr, n, stageAlternative, []Choice{c}, func(code []byte, s State) {
				if (s.Get(c) == Present) != inverse {
					replace(code, repl, addr, from)
				}
				optimizeNops(code)
			}})
		}
	}
	return list
}

// replace writes a replacement from one address over code at another. Only a call or
// a jump of 5 bytes that is all of it is moved (apply_alternatives, recompute_jump).
func replace(code, repl []byte, addr, from uint64) {
	n := copy(code, repl)
	for i := n; i < len(code); i++ {
		code[i] = opNop
	}
	if len(repl) != 5 {
		return
	}
	target := relative(repl[1:], from+5)
	switch d := int64(target - addr); {
	case repl[0] == opCall:
		branch(code, opCall, addr, target)
	case repl[0] == opJump && d >= 0 && d-2 <= 127:
		code[0], code[1] = opJumpShort, byte(d-2)
		fillNops(code[2:5])
	case repl[0] == opJump:
		branch(code, opJump, addr, target)
	}
}

// paravirtSite is the size of an entry of .parainstructions (struct
// paravirt_patch_site, v6.1): u64 address, u8 type, u8 bytes of code. The type is the
// index of a pointer in pv_ops.
const paravirtSize = 16

// paravirtSites reads .parainstructions. The kernel's own functions are called
// directly; one that does nothing becomes NOPs (paravirt_patch).
func paravirtSites(v *vmlinux) (list []site) {
	t := v.sections[".parainstructions"]
	ops, nothing := paravirtOps(v, t.data)
	for b := t.data; len(b) >= paravirtSize; b = b[paravirtSize:] {
		addr, n := binary.LittleEndian.Uint64(b), int(b[9])
		p := v.at(ops+8*uint64(b[8]), 8)
		if n < 5 || !v.isText(addr) || p == nil {
			continue
		}
		to := binary.LittleEndian.Uint64(p)
		list = append(list, site{addr, n, stageParavirt, nil, func(code []byte, s State) {
			used := 0
			if to != nothing {
				branch(code, opCall, addr, to)
				used = 5
			}
			fillNops(code[used:])
		}})
	}
	return list
}

// paravirtOps returns where pv_ops lies, which the calls as built name (call *ADDR(%rip)),
// and the function that does nothing: _paravirt_nop, a lone return.
func paravirtOps(v *vmlinux, table []byte) (ops, nothing uint64) {
	votes := map[uint64]int{}
	for b := table; len(b) >= paravirtSize; b = b[paravirtSize:] {
		addr := binary.LittleEndian.Uint64(b)
		if c := v.at(addr, 6); c != nil && c[0] == 0xff && c[1] == 0x15 {
			votes[relative(c[2:], addr+6)-8*uint64(b[8])]++
		}
	}
	for a, n := range votes {
		if n > votes[ops] || n == votes[ops] && a < ops {
			ops = a
		}
	}
	if a, ok := v.symbols["_paravirt_nop"]; ok {
		return ops, a
	}
	for i := range uint64(64) {
		p := v.at(ops+8*i, 8)
		if p == nil {
			break
		}
		to := binary.LittleEndian.Uint64(p)
		if c := v.at(to, 5); c != nil && v.isText(to) && (c[0] == opRet || c[0] == opJump && v.returnThunk() == relative(c[1:], to+5)) {
			return ops, to
		}
	}
	return ops, 0
}
