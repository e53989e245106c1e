package a64

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/line"
)

// Format gives the instruction at the front of text, which lies at addr and
// executes in mode m, as a line for people in GNU syntax. sym, which may be nil,
// names the symbol that holds an address and says where it begins; "" where
// there is none.
//
// What cannot be said reliably is printed as .inst: words that are no
// instruction, and those that the disassembler below does not know or is known
// to read wrongly. Less than 4 bytes are printed as .byte.
func (Decoder) Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	if len(text) < size {
		return line.DotByte(text)
	}
	w := binary.LittleEndian.Uint32(text)
	var in isa.Insn
	if (Decoder{}).Decode(&in, text, addr, m) != isa.OK {
		return dotInst(w)
	}
	if f := find(w); f != nil {
		return f.format(w, addr, sym)
	}
	if w&0xffff_f01f == 0xd503_201f {
		return hintName(w >> 5 & 0x7f)
	}
	inst, err := arm64asm.Decode(text[:size])
	if err != nil || !trusted(w) {
		return dotInst(w)
	}
	return tidy(arm64asm.GNUSyntax(inst), w, inst, addr, sym)
}

// tidy puts right what arm64asm leaves wrong or unsaid in s, its text for w: the
// condition NV, a floating-point zero, and names of system registers. It puts in
// addresses for the distances that ADR, ADRP and loads of literals have.
func tidy(s string, w uint32, inst arm64asm.Inst, addr uint64, sym func(uint64) (string, uint64)) string {
	if w>>12&15 == 15 && strings.HasSuffix(s, ", al") {
		return strings.TrimSuffix(s, "al") + "nv"
	}
	if strings.HasPrefix(s, "fcm") && strings.HasSuffix(s, ", #0") {
		return s + ".0"
	}
	for _, a := range inst.Args {
		switch a := a.(type) {
		case arm64asm.PCRel:
			base := addr
			if inst.Op == arm64asm.ADRP {
				base &^= 0xfff
			}
			s = strings.Replace(s, a.String(), line.Place(base+uint64(a), sym), 1)
		case arm64asm.Systemreg:
			number := strings.ToLower(a.String())
			if name := registers[number]; name != "" {
				s = strings.Replace(s, number, name, 1)
			}
		}
	}
	return strings.TrimRight(s, " ")
}

// dotInst prints w as data.
func dotInst(w uint32) string { return fmt.Sprintf(".inst 0x%08x", w) }

// format prints w, which has form f.
func (f *form) format(w uint32, addr uint64, sym func(uint64) (string, uint64)) string {
	return line.Fill(f.asm, func(name string) string {
		if name == "to" {
			return line.Place(addr+uint64(offset(w, f.rel)), sym)
		}
		return operand(name, w)
	})
}

// operand prints the operand called name in forms of w.
func operand(name string, w uint32) string {
	t, n, m := w&31, w>>5&31, w>>16&31
	tested := w>>31<<5 | w>>19&31
	switch name {
	case "t":
		return register(w>>31, t)
	case "wt":
		return register(0, t)
	case "xt":
		return register(1, t)
	case "b":
		return register(tested>>5, t)
	case "bit":
		return fmt.Sprint(tested)
	case "n":
		return register(1, n)
	case "m":
		return register(w>>31, m)
	case "wm":
		return register(0, m)
	case "xs":
		if t == 31 {
			return "sp"
		}
		return register(1, t)
	case "tp":
		return register(1, t) + ", " + register(1, (t+1)&31)
	case "i":
		return fmt.Sprintf("%#x", w>>5&0xffff)
	case "i7":
		return fmt.Sprintf("%#x", w>>5&0x7f)
	case "i6":
		return fmt.Sprint(w >> 15 & 0x3f)
	case "udf":
		return fmt.Sprint(w & 0xffff)
	case "crm":
		return fmt.Sprintf("%#x", w>>8&15)
	case "cond":
		return conditions[w&15]
	case "cc":
		return [8]string{"gt", "ge", "hi", "hs", 6: "eq", 7: "ne"}[w>>21&7]
	case "ci":
		return [8]string{"gt", "lt", "hi", "lo", 6: "eq", 7: "ne"}[w>>21&7]
	}
	panic("a64: no operand " + name)
}

// register is the name of register n, X if x is not 0 and W else, with 31 the
// zero register.
func register(x, n uint32) string {
	set := "w"
	if x != 0 {
		set = "x"
	}
	if n == 31 {
		return set + "zr"
	}
	return fmt.Sprint(set, n)
}

// hintName prints HINT #n.
func hintName(n uint32) string {
	if s := hints[n]; s != "" {
		return s
	}
	return fmt.Sprintf("hint #%#x", n)
}

// trusted reports whether arm64asm v0.32.0 is right to take w for an
// instruction. docs/formats/a64.md lists what it gets wrong.
func trusted(w uint32) bool {
	switch {
	case w&0x1f80_0000 == 0x1200_0000: // logical (immediate)
		// The element size is a power of two by the topmost bit of N:NOT(imms);
		// as many ones as it has bits are no immediate.
		set := w>>22&1<<6 | ^w>>10&0x3f
		if set < 2 {
			return false
		}
		ones := uint32(1)<<(bits.Len32(set)-1) - 1
		return w>>10&ones != ones
	case w&0x1fe0_0000 == 0x0b20_0000: // add or subtract (extended register)
		return w>>10&7 <= 4 // left shift, bits
	}
	return true
}
