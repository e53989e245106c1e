package sim

// dialectA32 is A32 and T32, as Linux's arch/arm patches them; function by
// function it is one or the other.
type dialectA32 struct{}

func (dialectA32) layout() (text, dyn uint64) { return 0xc0008000, 0xbf800000 }

func (dialectA32) decode(w uint32, addr uint64) insn { return decodeA32(w, addr) }

// hotpatch: DDI0406C, A3.5.4 "Concurrent modification and execution of
// instructions".
func (dialectA32) hotpatch(w uint32, addr uint64) bool {
	in := decodeA32(w, addr)
	switch {
	case thumb(addr):
		return in.len == 2 && (in.op == opJump || in.op == opInt || in.op == opInt3 || w == t16NOP)
	case in.cond || w>>28 == 15:
		return false
	}
	return in.op == opJump || in.op == opCall || in.op == opInt || in.op == opInt3 || w == a32NOP
}

func (d dialectA32) torn(w uint32, addr uint64) []uint32 {
	n := uint64(lengthAt(addr, w))
	add := uint32(0x1c40)
	if n == 4 {
		add = map[bool]uint32{false: 0xe0810002, true: 0xeb010002}[thumb(addr)]
	}
	return []uint32{add, d.nop(w, addr), d.jump(w, addr, addr+n)}
}

func (dialectA32) nop(w uint32, addr uint64) uint32 {
	switch {
	case !thumb(addr):
		return a32NOP
	case lengthAt(addr, w) == 2:
		return t16NOP
	}
	return t32NOP
}

func (dialectA32) jump(w uint32, from, to uint64) uint32 {
	if lengthAt(from, w) == 2 {
		return jump16(from, to)
	}
	return jump32(always)(from, to)
}

func (dialectA32) call(_ uint32, from, to uint64) uint32 { return call32(always)(from, to) }

func (dialectA32) vectors() (names []string, of [numReasons]int) {
	return []string{"vector_pabt", "vector_swi", "vector_dabt", "vector_und", "vector_irq"},
		[numReasons]int{whyBreak: 0, whyCall: 1, whyFault: 2, whyUndef: 3, whyTimer: 4, whyIPI: 4}
}

func (dialectA32) handlers() [numReasons]string {
	return [numReasons]string{"__pabt_svc", "vector_swi_handler", "__dabt_svc", "__und_svc", "twd_handler", "do_handle_IPI"}
}

func (dialectA32) probeWords(w uint32, addr uint64) (hit, behind, undef uint32) {
	switch {
	case thumb(addr) && lengthAt(addr, w) == 2:
		return t16BKPT, t16BKPT | 1, udfKprobeT16
	case thumb(addr):
		return udfKprobeT32, t16BKPT | 1, udfKprobeT32
	}
	return a32BKPT, a32BKPT | 1, udfKprobeA32 | min(w, always)&0xf0000000
}

func (dialectA32) stops() bool { return true }

func (dialectA32) trampoline(addr, tracer uint64) (uint64, []uint32) {
	if addr/slotSize&1 != 0 {
		addr |= 1
		return addr, []uint32{0xb510, call32(always)(addr+2, tracer), t16PopPC}
	}
	return addr, []uint32{0xe92d4010, call32(always)(addr+4, tracer), always | a32PopPC}
}

// setUp draws which functions are T32: all of a kernel's, none, or any.
func (dialectA32) setUp(g *genArm) {
	share := []uint64{0, 4, 4, 8}[g.r.n(4)]
	for _, f := range g.funcs {
		g.t32[f] = g.r.n(8) < share
	}
	g.t32[-1] = share > 4 || share == 4 && g.r.one(2)
}

func (dialectA32) begin(g *genArm, l label) { g.a.t32 = g.t32[l] }

// alt writes one of the A32 or of the T32 instructions.
func (g *genArm) alt(a32, t32 []uint32) {
	if g.a.t32 {
		g.one(t32...)
	} else {
		g.one(a32...)
	}
}

func (dialectA32) prologue(g *genArm) {
	if g.r.one(2) {
		g.alt([]uint32{0xe92d4010}, []uint32{0xb510}) // push {r4, lr}
	}
}

func (dialectA32) traced(g *genArm) { g.alt([]uint32{0xe52de004}, []uint32{0xb500}) } // push {lr}

// plain writes one; of A32 now and then one with a condition.
func (dialectA32) plain(g *genArm) {
	switch {
	case g.a.t32 && g.r.one(3):
		g.one(plainT32[:]...)
	case g.a.t32:
		g.one(plainT16[:]...)
	default:
		w := plainA32[g.r.n(uint64(len(plainA32)))]
		if g.r.one(4) && w>>28 == 14 {
			w = w&0x0fffffff | g.cond()
		}
		g.a.raw(w)
	}
}

// cond draws a condition of A32's that can fail.
func (g *genArm) cond() uint32 { return uint32(g.r.n(14)) << 28 }

// conditional writes a plain instruction, a call, a return, an indirect call or a
// supervisor call with a condition: of T32 in an IT block.
func (d dialectA32) conditional(g *genArm) {
	if g.r.n(3) > 0 {
		return
	}
	var cond uint32 = always
	if !g.a.t32 {
		cond = g.cond()
	} else {
		n := 1 + int(g.r.n(4))
		mask := uint32(g.r.n(16))&^(1<<(5-n)-1) | 1<<(4-n) // then or else, and the end
		g.a.raw(t16IT | uint32(g.r.n(14))<<4 | mask&15)
		for range n - 1 {
			g.it()
			d.plain(g)
		}
		g.it()
	}
	callees := g.callees(3)
	switch k := g.r.n(6); {
	case k == 0 && len(callees) > 0 && (g.a.t32 || !g.t32[callees[0]]):
		g.a.ref(g.of(cond|a32BL, t32BL), call32(cond), callees[0])
	case k == 1 && len(callees) > 0:
		g.targets[g.a.here()] = callees
		g.a.raw(g.of(cond|a32BLXReg|3, t16BLXReg|3<<3))
	case k == 2:
		g.a.raw(g.of(cond|a32BX|14, t16BX|14<<3))
	case k == 3:
		g.a.raw(g.of(cond|a32PopPC, t16PopPC))
	case k == 4 && g.sited():
		g.a.raw(g.of(cond|a32SVC, t16SVC))
	case g.a.t32:
		d.plain(g)
	default:
		g.a.raw(plainA32[g.r.n(10)]&0x0fffffff | cond)
	}
}

// it notes that what is written next stands in an IT block.
func (g *genArm) it() { g.flags[g.a.here()] |= flagIT }

// of returns an A32 instruction or a T32 one.
func (g *genArm) of(a32, t32 uint32) uint32 {
	if g.a.t32 {
		return t32
	}
	return a32
}

// jumpTo writes B, or BX where the instruction set changes.
func (dialectA32) jumpTo(g *genArm, l label) {
	if t32, fn := g.t32[l]; fn && t32 != g.a.t32 {
		g.targets[g.a.here()] = []label{l}
		g.a.raw(g.of(always|a32BX|12, t16BX|12<<3))
		return
	}
	g.a.ref(g.of(a32NOP, t32NOP), jump32(always), l)
}

func (dialectA32) callTo(g *genArm, l label) {
	g.a.ref(g.of(a32NOP, t32NOP), call32(always), l)
}

func (d dialectA32) condTo(g *genArm, l label, near bool) {
	forwards := g.a.labels[l] == 0
	k := g.r.n(3)
	switch c := uint32(g.r.n(14)); {
	case !g.a.t32:
		g.a.ref(a32NOP, jump32(c<<28), l)
	case near && forwards && k == 0:
		g.a.ref(t16NOP, cbz(t16CBZ|c&1<<11|c>>1), l)
	case near && k <= 1:
		g.a.ref(t16NOP, cond16(c), l)
	default:
		g.a.ref(t32NOP, cond32(c), l)
	}
}

func (d dialectA32) guardTo(g *genArm, l label) { d.condTo(g, l, true) }

func (dialectA32) callThrough(g *genArm, _ bool) {
	g.a.raw(g.of(always|a32BLXReg|3, t16BLXReg|3<<3))
}

func (dialectA32) jumpThrough(g *genArm) { g.a.raw(g.of(always|a32BX|12, t16BX|12<<3)) }

// choose writes a jump through a table; those of TBB and TBH follow it.
func (dialectA32) choose(g *genArm) {
	if !g.a.t32 {
		g.one(always|a32AddPC|2, always|a32LdrPC|1<<16|2, always|a32MovPC|3)
		return
	}
	w := []uint32{t32TBB, t32TBH, t32LdrPC, t16MovPC | 3<<3}[g.r.n(4)]
	g.a.raw(w)
	if w == t32TBB || w == t32TBH {
		g.a.raw(uint32(g.r.n(0x4000)), uint32(g.r.n(0x4000)))
	}
}

func (dialectA32) dispatch(g *genArm) { g.a.raw(g.of(always|a32BX|2, t16BX|2<<3)) }

func (dialectA32) ret(g *genArm, odd bool) {
	switch {
	case odd:
		g.alt([]uint32{always | a32LdrRet, always | a32MovPC | 14}, []uint32{t32PopPC, t32LdrRet, t16MovPC | 14<<3})
	default:
		g.alt([]uint32{always | a32BX | 14, always | a32PopPC}, []uint32{t16BX | 14<<3, t16PopPC})
	}
}

func (dialectA32) barrier(g *genArm) {
	g.alt([]uint32{a32ISB, a32ISBReg}, []uint32{t32ISB, t32ISBReg})
}

func (dialectA32) raise(g *genArm) { g.a.raw(g.of(always|a32SVC, t16SVC)) }

func (dialectA32) warn(g *genArm) { g.a.raw(g.of(a32BKPT|2, t16BKPT|2)) }

func (dialectA32) undefined(g *genArm) { g.alt([]uint32{always | a32UDF}, []uint32{t16UDF, t32UDF}) }

func (dialectA32) interrupts(g *genArm, on bool) {
	if on {
		g.a.raw(g.of(a32IRQOn, t16IRQOn))
	} else {
		g.a.raw(g.of(a32IRQOff, t16IRQOff))
	}
}

func (dialectA32) yield(g *genArm) { g.a.raw(g.of(a32Yield, t16Yield)) }

func (dialectA32) eret(g *genArm) {
	g.alt([]uint32{a32SubsPC, a32Ldm, a32RFE}, []uint32{t32SubsPC, t32RFE})
}

// place draws of how many bytes a site is; entries are always calls, and far.
func (dialectA32) place(g *genArm, d *draftArm) {
	if g.a.t32 && (d.kind == siteJump || d.kind == siteImm) && g.r.one(2) {
		d.near = true
		g.a.raw(t16NOP)
		return
	}
	g.a.raw(g.of(a32NOP, t32NOP))
}

func (d dialectA32) variants(g *genArm, s *siteArm, k *draftArm) (ws []uint32) {
	at := s.addr
	nop := d.nop(g.a.word(at), at)
	switch k.kind {
	case siteImm:
		switch {
		case !thumb(at):
			return []uint32{0xe3a00001, 0xe3a00002, nop, 0x13a00001} // mov r0, #1; #2; movne
		case k.near:
			return []uint32{0x2001, 0x2002, nop}
		}
		return []uint32{0xf04f0001, 0xf04f0002, nop}
	case siteJump:
		return []uint32{nop, d.jump(nop, at, g.a.addr(k.to[0]))}
	case siteCond:
		to := g.a.addr(k.to[0])
		if thumb(at) {
			return []uint32{cond32(1)(at, to), cond32(0)(at, to), nop, cond32(10)(at, to)}
		}
		return []uint32{jump32(0x10000000)(at, to), jump32(0)(at, to), nop, jump32(0xa0000000)(at, to)}
	}
	ws = []uint32{nop}
	for _, l := range k.to {
		ws = append(ws, d.call(nop, at, g.a.addr(l)))
	}
	return ws
}
