package a32

import (
	"fmt"
	"strings"

	"golang.org/x/arch/arm/armasm"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/line"
)

// Format gives the instruction at the front of text, which lies at addr and
// executes in mode m, as a line for people in GNU syntax. sym, which may be nil,
// names the symbol that holds an address and says where it begins; "" where
// there is none.
//
// Format prints what it cannot say reliably as .inst (A32), .inst.n or .inst.w
// (T32). These are words that are no instruction, and words that the disassembler
// below does not know or reads wrongly. That disassembler does not know T32 at all,
// so Format prints only this package's forms of it. They are nearly all of one
// halfword, and of two halfwords what compilers use most. Text that ends inside the
// instruction is printed as .byte, as is text at an address or in a mode that is
// not read.
func (Decoder) Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	w, n, s := load(text, addr, m)
	if s != isa.OK {
		return line.DotByte(text[:min(maxLen, len(text))])
	}
	forms, more, data := formsA32, plainA32, fmt.Sprintf(".inst 0x%08x", w)
	switch {
	case n == 2:
		forms, more, data = formsT16, plainT16, fmt.Sprintf(".inst.n 0x%04x", w)
	case m == isa.ModeT32:
		forms, more, data = formsT32, plainT32, fmt.Sprintf(".inst.w 0x%08x", w)
	}
	f := find(forms, w)
	if f == nil {
		f = find(more, w)
	}
	switch {
	case f != nil && f.class == none:
		return data
	case f != nil && f.asm[0] != '(':
		return f.format(w, addr, sym)
	case m == isa.ModeT32:
		return data
	}
	inst, err := armasm.Decode(text[:4], armasm.ModeARM)
	if err != nil || inst.Op == 0 || inst.Len != 4 || !trusted(w) {
		return data
	}
	return tidy(armasm.GNUSyntax(inst), inst, addr, sym)
}

// tidy puts right what armasm leaves wrong or unsaid in s, its text for inst: a
// floating-point zero, and addresses for memory that is counted from the program
// counter.
func tidy(s string, inst armasm.Inst, addr uint64, sym func(uint64) (string, uint64)) string {
	if strings.HasPrefix(s, "vcmp") && strings.HasSuffix(s, ", #0") {
		return s + ".0"
	}
	for _, a := range inst.Args {
		m, ok := a.(armasm.Mem)
		if ok && m.Base == armasm.PC && m.Sign == 0 && m.Mode == armasm.AddrOffset {
			if i := strings.Index(s, "[pc"); i >= 0 {
				return s[:i] + line.Place(uint64(uint32(addr)+8+uint32(m.Offset)), sym)
			}
		}
	}
	return s
}

// format prints w, which has form f.
func (f *form) format(w uint32, addr uint64, sym func(uint64) (string, uint64)) string {
	return line.Fill(f.asm, func(name string) string {
		to := uint32(addr)
		switch {
		case name == "to":
			to += offset(w, uint32(addr), f.rel)
		case name == "mem" && w&0x032f_0000 == 0x010f_0000: // [pc, #n]
			to += 8 + signed(w>>23&1, w&0xfff)
		case name == "lit8":
			to = to&^3 + 4 + w&0xff*4
		case name == "mem12" && w>>16&15 == 15:
			to = to&^3 + 4 + signed(w>>23&1, w&0xfff)
		default:
			return operand(name, w)
		}
		return line.Place(uint64(to), sym)
	})
}

// signed is n, or -n if up is 0.
func signed(up, n uint32) uint32 {
	if up == 0 {
		return -n
	}
	return n
}

// trusted reports whether armasm v0.32.0 is right to take w for an instruction.
// docs/formats/a32.md lists what it gets wrong.
func trusted(w uint32) bool {
	return w&0x0fb0_f000 != 0x0320_f000 || w&0x000f_0000 == 0 // MSR (immediate): it does not say of which fields
}
