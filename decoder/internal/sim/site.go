package sim

import (
	"cmp"
	"slices"
)

// siteKind says what kind of patch site the program has at an address.
type siteKind uint8

const (
	siteJump     siteKind = iota // jump label: NOP or JMP, 2 or 5 bytes
	siteCall                     // static call: CALL, NOP5 or XOR, 5 bytes
	siteTail                     // static tail call: JMP or RET with INT3 padding, 5 bytes
	siteCond                     // static conditional tail call: Jcc, 6 bytes
	siteEntry                    // function entry: NOP5 or CALL, 5 bytes
	siteImm                      // immediate value: MOV $imm32, 5 bytes
	siteImmAlign                 // the same, its immediate one aligned word
)

// site is a place in the program that its owner may rewrite.
type site struct {
	kind  siteKind
	addr  uint64
	size  int
	next  uint64    // function entries: the address after the site
	vars  []variant // what may stand there
	cur   int       // which of vars stands there; -1: a call of tramp
	tramp *trampoline
}

// variant is one of the texts of a site.
type variant struct {
	text []byte
	emu  emulation // what a breakpoint handler does in its place
}

// emuKind says how an instruction is emulated.
type emuKind uint8

const (
	emuJump emuKind = iota // goes to target (a NOP: to the next instruction)
	emuCall                // pushes the next address by hand and goes to target
	emuRet                 // pops
	emuCond                // goes to target or to the next instruction, at random
)

// emulation is what a breakpoint handler makes of the interrupted flow.
type emulation struct {
	kind   emuKind
	target uint64
	next   uint64
}

// draft is a site or a program note before its addresses are known.
type draft struct {
	kind siteKind
	at   label
	size int
	to   []label
	cond byte // siteCond: second opcode byte
	cur  int
}

// resolve builds the site that d describes.
func (d *draft) resolve(a *asm) *site {
	s := &site{kind: d.kind, addr: a.addr(d.at), size: d.size, cur: d.cur}
	s.next = s.addr + uint64(d.size)
	jumpTo := func(t uint64) emulation { return emulation{emuJump, t, s.next} }
	nop := jumpTo(s.next)
	add := func(e emulation, text []byte) { s.vars = append(s.vars, variant{text, e}) }
	switch d.kind {
	case siteJump:
		t := a.addr(d.to[0])
		if d.size == 2 {
			b, ok := rel8(s.addr, t, 0xeb)
			if !ok {
				panic("sim: jump label out of reach")
			}
			add(nop, nop2())
			add(jumpTo(t), b)
		} else {
			add(nop, nop5())
			add(jumpTo(t), rel32(s.addr, t, 0xe9))
		}
	case siteCall:
		add(nop, nop5())
		for _, l := range d.to {
			t := a.addr(l)
			add(emulation{emuCall, t, s.next}, rel32(s.addr, t, 0xe8))
		}
		// A static call that returns 0 is written as XOR but emulated as the
		// CALL it stands for (arch/x86/kernel/static_call.c, v6.1).
		add(emulation{emuCall, a.addr(d.to[0]), s.next}, []byte{0x2e, 0x2e, 0x2e, 0x31, 0xc0})
	case siteTail:
		add(emulation{kind: emuRet}, []byte{0xc3, 0xcc, 0xcc, 0xcc, 0xcc})
		for _, l := range d.to {
			add(jumpTo(a.addr(l)), rel32(s.addr, a.addr(l), 0xe9))
		}
	case siteCond:
		for _, l := range d.to {
			t := a.addr(l)
			add(emulation{emuCond, t, s.next}, rel32(s.addr, t, 0x0f, d.cond))
		}
	case siteEntry:
		add(nop, nop5())
		for _, l := range d.to {
			t := a.addr(l)
			add(emulation{emuCall, t, s.next}, rel32(s.addr, t, 0xe8))
		}
		add(nop, []byte{0x66, 0x66, 0x66, 0x66, 0x90}) // what older kernels write
		add(nop, rel32(s.addr, s.next, 0xe9))
	case siteImm, siteImmAlign:
		for v := byte(1); v <= 4; v++ {
			add(nop, []byte{0xb8, v, 0, 0, v})
		}
	}
	return s
}

// branches returns the program's jump labels.
func (p *program) branches() (list []StaticBranch) {
	for _, s := range p.sites {
		if s.kind == siteJump {
			list = append(list, StaticBranch{s.addr, s.vars[1].emu.target, s.size})
		}
	}
	slices.SortFunc(list, func(a, b StaticBranch) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// text returns what stands at the site.
func (s *site) text() []byte { return s.vars[s.cur].text }

// probePoint is a place where a probe may be set.
type probePoint struct {
	addr uint64
	len  int
	run  int    // bytes of the plain instructions from addr on that no branch enters; 0: none
	in   insn   // what stands there
	text []byte // its bytes; for an optimised probe those of the run
}
