package learn

import "encoding/binary"

// The instructions that arm64 kernels patch (DDI0487, C6.2): NOP, B, BL, BRK.
const (
	a64Nop    = 0xd503201f
	a64Branch = 0x14000000 // B: 26 bits of displacement, words
	a64Call   = 0x94000000 // BL
	a64Mask   = 0xfc000000
	a64Break  = 0xd4200000 // BRK: 16 bits of immediate
	a64Breaks = 0xffe0001f
)

// a64 adds what may lie at addr, where the code has have.
func (g *Generator) a64(addr uint64, have []byte, add adder) {
	if len(have) < 4 {
		return
	}
	word := func(w uint32) []byte { return binary.LittleEndian.AppendUint32(nil, w) }
	branch := func(op uint32, to uint64) []byte { return word(op | uint32(int64(to-addr)>>2)&^a64Mask) }
	switch w := binary.LittleEndian.Uint32(have); {
	case w == a64Nop:
		likely, other := g.outOfLine(addr, addr+4)
		for _, to := range likely {
			add(rankLikely, "jump label", branch(a64Branch, to))
		}
		for _, to := range other {
			add(rankDistant, "jump label", branch(a64Branch, to))
		}
		if !g.enters(addr) {
			break
		}
		for _, to := range g.Tracers() {
			add(rankDistant, "ftrace", branch(a64Call, to))
		}
	case w&a64Mask == a64Branch:
		add(g.skipping(addr, 4), "jump label", word(a64Nop))
	case w&a64Mask == a64Call && g.enters(addr):
		add(rankDistant, "ftrace", word(a64Nop))
	case w&a64Breaks == a64Break:
		add(rankDistant, "probe", word(a64Nop)) // stands for all that goes straight on
	}
}

// enters reports whether addr may be the second of the words at a function's entry that
// the tracer uses, behind BTI if there is one (arch/arm64/kernel/ftrace.c,
// ftrace_call_adjust, v6.12).
func (g *Generator) enters(addr uint64) bool {
	y, ok := g.Symbol(addr)
	return ok && addr-y.Addr <= 8
}
