package a32

import (
	"fmt"
	"strings"
)

// conditions are the names of the conditions by number; 14, always, has none. DDI
// 0487, "Conditional execution".
var conditions = [16]string{
	"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "", "nv",
}

// registers are the names of the registers by number.
var registers = [16]string{
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "sl", "fp", "ip", "sp", "lr", "pc",
}

// barriers are the names of the options of DSB, DMB and ISB by number.
var barriers = [16]string{
	1: "oshld", 2: "oshst", 3: "osh", 5: "nshld", 6: "nshst", 7: "nsh",
	9: "ishld", 10: "ishst", 11: "ish", 13: "ld", 14: "st", 15: "sy",
}

// operations are the names of data processing by number, A32 bits 24:21.
var operations = [16]string{
	"and", "eor", "sub", "rsb", "add", "adc", "sbc", "rsc",
	"tst", "teq", "cmp", "cmn", "orr", "mov", "bic", "mvn",
}

// shifts are the names of the shifts by number.
var shifts = [4]string{"lsl", "lsr", "asr", "ror"}

// operand prints the operand called name in forms of w:
//
//	c    condition in bits 31:28                   tc, tc20  in bits 11:8, in bits 25:22
//	n, d, m  registers in bits 19:16, 15:12, 3:0    rm, r  in bits 6:3, in bits 2:0
//	i24, i8, i8d, i6, i4  immediates from bit 0 on  i16  in bits 19:8 and 3:0
//	i16t, i4t  in bits 19:16 and 11:0, in 19:16     hint in bits 7:4
//	list registers in bits 15:0                     list8  in bits 7:0, and LR or PC by bit 8
//	w    ! if bit 21 is set                         t  t if bits 24 and 21 say so
//	mode, modes  ib, da, db and without or with ia  opt, isb  a barrier's option
//	dp, args  data processing                       mem, mem8, mem12, memr  an address
//	then, first  of IT                              size  of elements in bits 21:20
//
// operand16 and operand32 have those of T32 that only printing needs.
func operand(name string, w uint32) string {
	switch name {
	case "c":
		return conditions[w>>28]
	case "tc":
		return conditions[w>>8&15]
	case "tc20":
		return conditions[w>>22&15]
	case "n":
		return registers[w>>16&15]
	case "d":
		return registers[w>>12&15]
	case "m":
		return registers[w&15]
	case "rm":
		return registers[w>>3&15]
	case "r":
		return registers[w&7]
	case "list":
		return list(w & 0xffff)
	case "list8":
		// PUSH has LR for bit 8, POP has PC.
		return list(w&0xff | w>>8&1<<(14+w>>11&1))
	case "w":
		return [2]string{"", "!"}[w>>21&1]
	case "t":
		return [4]string{1: "t"}[w>>23&2|w>>21&1]
	case "mode":
		return [4]string{"da", "", "db", "ib"}[w>>23&3]
	case "modes":
		return [4]string{"da", "ia", "db", "ib"}[w>>23&3]
	case "opt":
		if s := barriers[w&15]; s != "" {
			return s
		}
		return fmt.Sprintf("#%d", w&15)
	case "isb":
		if w&15 == 15 {
			return "sy"
		}
		return fmt.Sprintf("#%d", w&15)
	case "i8d":
		return fmt.Sprintf("#%d", w&0xff)
	case "size":
		return fmt.Sprint(8 << (w >> 20 & 3))
	}
	if s, ok := immediate(name, w); ok {
		return s
	}
	if s, ok := operand16(name, w); ok {
		return s
	}
	if s, ok := operand32(name, w); ok {
		return s
	}
	return composed(name, w)
}

// immediate prints the operand called name, if it is a number.
func immediate(name string, w uint32) (s string, ok bool) {
	switch name {
	case "i24":
		w &= 0xff_ffff
	case "i16":
		w = w>>4&0xfff0 | w&15
	case "i16t":
		w = w>>4&0xf000 | w&0xfff
	case "i8":
		w &= 0xff
	case "i6":
		w &= 0x3f
	case "i4":
		w &= 15
	case "i4t":
		w = w >> 16 & 15
	default:
		return "", false
	}
	return fmt.Sprintf("%#x", w), true
}

// composed prints the operand called name, if it is of several parts.
func composed(name string, w uint32) string {
	switch name {
	case "hint":
		return fmt.Sprintf("{%d}", w>>4&15)
	case "then":
		return then(w)
	case "first":
		if s := conditions[w>>4&15]; s != "" {
			return s
		}
		return "al"
	case "dp":
		s := operations[w>>21&15]
		if w>>20&1 != 0 {
			s += "s"
		}
		return s + conditions[w>>28]
	case "args":
		if w>>21&13 == 13 { // MOV, MVN
			return shifter(w)
		}
		return registers[w>>16&15] + ", " + shifter(w)
	case "mem":
		x := fmt.Sprintf("#%d", int32(signed(w>>23&1, w&0xfff)))
		if w>>25&1 != 0 {
			x = [2]string{"-", ""}[w>>23&1] + shifter(w&^(1<<25))
		}
		return address(w, x, w>>24&1, w>>21&1)
	case "mem12":
		return address(w, fmt.Sprintf("#%d", w&0xfff), 1, 0)
	case "mem8":
		return address(w, fmt.Sprintf("#%d", int32(signed(w>>9&1, w&0xff))), w>>10&1, w>>8&1)
	case "memr":
		return address(w, shifter(w&15|w&0x30<<3), 1, 0)
	}
	panic("a32: no operand " + name)
}

// list prints the registers in set, bit 1<<n for register n.
func list(set uint32) string {
	var names []string
	for n, name := range registers {
		if set>>n&1 != 0 {
			names = append(names, name)
		}
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// then prints T or E for each instruction behind the first of an IT block. Bits 3:0
// of w hold, from the top, bit 0 of the condition of each, and a 1 behind the last.
func then(w uint32) (s string) {
	for mask := w & 15; mask&7 != 0; mask <<= 1 {
		if mask>>3&1 == w>>4&1 {
			s += "t"
		} else {
			s += "e"
		}
	}
	return s
}

// shifter prints the second operand of A32's data processing. It is an immediate of
// 8 bits rotated right by twice bits 11:8, or a register that an immediate or
// another register shifts.
func shifter(w uint32) string {
	if w>>25&1 != 0 {
		by := w >> 8 & 15 * 2
		return fmt.Sprintf("#%d", int32(w&0xff>>by|w&0xff<<(32-by)))
	}
	m, kind, by := registers[w&15], w>>5&3, w>>7&31
	switch {
	case w>>4&1 != 0:
		return fmt.Sprintf("%s, %s %s", m, shifts[kind], registers[w>>8&15])
	case by == 0 && kind == 0:
		return m
	case by == 0 && kind == 3:
		return m + ", rrx"
	case by == 0:
		by = 32
	}
	return fmt.Sprintf("%s, %s #%d", m, shifts[kind], by)
}

// address prints the register in bits 19:16 with x added to it before it is used
// (pre is 1) or behind that; back says that the sum is written back.
func address(w uint32, x string, pre, back uint32) string {
	n := registers[w>>16&15]
	switch {
	case pre == 0:
		return fmt.Sprintf("[%s], %s", n, x)
	case back != 0:
		return fmt.Sprintf("[%s, %s]!", n, x)
	case x == "#0":
		return "[" + n + "]"
	}
	return fmt.Sprintf("[%s, %s]", n, x)
}
