package a32

import (
	"fmt"
	"math/bits"
	"slices"
)

// plainT32 is what T32 in two halfwords has besides formsT32, as far as it is
// printed: all of it goes on. The headings are those of DDI0487, "T32 Base
// Instruction Set Encoding", "32-bit".
var plainT32 = slices.Concat([]form{
	// Load/store multiple.
	plain(0xffd0a000, 0xe8800000, "stmia.w {n}{w}, {list}"),
	plain(0xffd0a000, 0xe8900000, "ldmia.w {n}{w}, {list}"),
	plain(0xffd0a000, 0xe9000000, "stmdb {n}{w}, {list}"),
	plain(0xffd0a000, 0xe9100000, "ldmdb {n}{w}, {list}"),

	// Load/store dual, exclusive.
	plain(0xfff00000, 0xe8400000, "strex {rd32}, {d}, {memx}"),
	plain(0xfff00f00, 0xe8500f00, "ldrex {d}, {memx}"),
	plain(0xff700000, 0xe8600000, "strd {d}, {rd32}, {memd}"),
	plain(0xff700000, 0xe8700000, "ldrd {d}, {rd32}, {memd}"),
	plain(0xff500000, 0xe9400000, "strd {d}, {rd32}, {memd}"),
	plain(0xff500000, 0xe9500000, "ldrd {d}, {rd32}, {memd}"),

	// Data-processing (shifted register), (modified immediate).
}, unassigned32(0xfe008000, 0xea000000), unassigned32(0xfa008000, 0xf0000000), []form{
	plain(0xfe008000, 0xea000000, "{dp32}, {shifted}"),
	plain(0xfa008000, 0xf0000000, "{dp32}, {expanded}"),

	// Data-processing (plain binary immediate), (register); multiplication, division.
	plain(0xfbf08000, 0xf2000000, "addw {rd32}, {n}, {n12}"),
	plain(0xfbf08000, 0xf2a00000, "subw {rd32}, {n}, {n12}"),
	plain(0xfbf08000, 0xf2400000, "movw {rd32}, {n16}"),
	plain(0xfbf08000, 0xf2c00000, "movt {rd32}, {n16}"),
	plain(0xfff08020, 0xf3400000, "sbfx {rd32}, {n}, {lsb}, {width}"),
	plain(0xfff08020, 0xf3c00000, "ubfx {rd32}, {n}, {lsb}, {width}"),
	plain(0xff80f0f0, 0xfa00f000, "{by32} {rd32}, {n}, {m}"),
	plain(0xfffff0f0, 0xfa0ff080, "sxth.w {rd32}, {m}"),
	plain(0xfffff0f0, 0xfa1ff080, "uxth.w {rd32}, {m}"),
	plain(0xfffff0f0, 0xfa4ff080, "sxtb.w {rd32}, {m}"),
	plain(0xfffff0f0, 0xfa5ff080, "uxtb.w {rd32}, {m}"),
	plain(0xfff0f0f0, 0xfab0f080, "clz {rd32}, {n}"),
	plain(0xfff0f0f0, 0xfb00f000, "mul.w {rd32}, {n}, {m}"),
	plain(0xfff000f0, 0xfb000000, "mla {rd32}, {n}, {m}, {d}"),
	plain(0xfff000f0, 0xfb000010, "mls {rd32}, {n}, {m}, {d}"),
	plain(0xfff000f0, 0xfb800000, "smull {d}, {rd32}, {n}, {m}"),
	plain(0xfff000f0, 0xfba00000, "umull {d}, {rd32}, {n}, {m}"),
	plain(0xfff0f0f0, 0xfb90f0f0, "sdiv {rd32}, {n}, {m}"),
	plain(0xfff0f0f0, 0xfbb0f0f0, "udiv {rd32}, {n}, {m}"),
}, transfersT32(), systemT32())

// systemT32 are the words of plainA32 with condition 14, of which T32 prints none.
func systemT32() (list []form) {
	for _, f := range plainA32 {
		list = append(list, plain(f.mask|0xf0000000, f.value|0xe0000000, f.asm))
	}
	return list
}

// unassigned32 are the numbers of data processing, in bits 24:21 of words w with
// w&mask == value, that are no such.
func unassigned32(mask, value uint32) (list []form) {
	for op, x := range processing32 {
		if x.name == "" {
			list = append(list, plain(mask|15<<21, value|uint32(op)<<21, "(unassigned, PKHBT, PKHTB)"))
		}
	}
	return list
}

// transfersT32 is "Load/store single". With PC for what is loaded it is a preload,
// or LDR PC, which formsT32 has; a store of PC is unpredictable.
func transfersT32() (list []form) {
	for _, x := range []struct {
		value uint32
		name  string
	}{
		{0xf8000000, "strb"}, {0xf8200000, "strh"}, {0xf8400000, "str"},
		{0xf8100000, "ldrb"}, {0xf8300000, "ldrh"}, {0xf8500000, "ldr"}, {0xf9100000, "ldrsb"}, {0xf9300000, "ldrsh"},
	} {
		v, wide := x.value, x.name+".w {d}, "
		if x.name != "ldr" {
			list = append(list, plain(0xff70f000, v|0xf000, "(preload, store of PC)"))
		}
		if v>>20&1 != 0 {
			list = append(list, plain(0xff7f0000, v|0xf0000, wide+"{mem12}"))
		} else {
			list = append(list, plain(0xff7f0000, v|0xf0000, "(unassigned)"))
		}
		list = append(list,
			plain(0xfff00000, v|1<<23, wide+"{mem12}"),
			plain(0xfff00fc0, v, wide+"{memr}"),
			plain(0xfff00f00, v|0xe00, x.name+"t {d}, {mem8}"),
			plain(0xfff00d00, v|0xc00, wide+"{mem8}"),
			plain(0xfff00900, v|0x900, wide+"{mem8}"))
	}
	return list
}

// processing32 are data processing by number, as they are called where the first
// operand, or the result, is a register, and where it is not.
var processing32 = [16]struct{ name, noFirst, noResult string }{
	0: {"and", "", "tst.w"}, 1: {"bic", "", ""}, 2: {"orr", "mov", ""}, 3: {"orn", "mvn", ""}, 4: {"eor", "", "teq"},
	8: {"add", "", "cmn.w"}, 10: {"adc", "", ""}, 11: {"sbc", "", ""}, 13: {"sub", "", "cmp.w"}, 14: {"rsb", "", ""},
}

// process prints a mnemonic of data processing with all operands but the last.
func process(w uint32) string {
	op, sets := processing32[w>>21&15], w>>20&1 != 0
	first, result := registers[w>>16&15], registers[w>>8&15]
	s := ""
	if sets {
		s = "s"
	}
	switch {
	case result == "pc" && sets && op.noResult != "":
		return op.noResult + " " + first
	case first == "pc" && op.noFirst != "":
		return op.noFirst + s + ".w " + result
	}
	return op.name + s + ".w " + result + ", " + first
}

// expand is the constant that bits 26, 14:12 and 7:0 of w stand for: DDI0487,
// "Modified immediate constants in T32 instructions".
func expand(w uint32) uint32 {
	v := w & 0xff
	switch by := w>>22&16 | w>>11&14 | w>>7&1; by {
	case 0, 1:
		return v
	case 2, 3:
		return v | v<<16
	case 4, 5:
		return v<<8 | v<<24
	case 6, 7:
		return v * 0x01010101
	default:
		return bits.RotateLeft32(v|0x80, -int(by))
	}
}

// operand32 prints the operand called name in forms of w, of two halfwords of T32;
// ok: it is one of these:
//
//	rd32  register in bits 11:8         n12, n16  immediates in bits 26, 14:12, 7:0, and 19:16 above
//	dp32  data processing and all operands but the last
//	shifted, expanded  the last         by32  a shift by a register
//	lsb, width  of a bit field          memx, memd  an address with an offset in words
//
// and in A32 too:
//
//	cp, crn, crm, op1, op2, op3  of coprocessors: bits 11:8, 19:16, 3:0, 23:21, 7:5, 7:4
func operand32(name string, w uint32) (s string, ok bool) {
	switch name {
	case "rd32":
		return registers[w>>8&15], true
	case "n12":
		return fmt.Sprintf("#%d", w>>15&0x800|w>>4&0x700|w&0xff), true
	case "n16":
		return fmt.Sprintf("#%d", w>>4&0xf000|w>>15&0x800|w>>4&0x700|w&0xff), true
	case "dp32":
		return process(w), true
	case "expanded":
		return fmt.Sprintf("#%d", expand(w)), true
	case "shifted":
		return shifter(w&15 | w<<1&0x60 | (w>>10&0x1c|w>>6&3)<<7), true
	case "by32":
		return shifts[w>>21&3] + [2]string{"", "s"}[w>>20&1] + ".w", true
	case "lsb":
		return fmt.Sprintf("#%d", w>>10&0x1c|w>>6&3), true
	case "width":
		return fmt.Sprintf("#%d", w&31+1), true
	case "cp":
		return fmt.Sprintf("p%d", w>>8&15), true
	case "crn":
		return fmt.Sprint(w >> 16 & 15), true
	case "crm":
		return fmt.Sprint(w & 15), true
	case "op1":
		return fmt.Sprint(w >> 21 & 7), true
	case "op2":
		return fmt.Sprint(w >> 5 & 7), true
	case "op3":
		return fmt.Sprint(w >> 4 & 15), true
	case "memx":
		return address(w, fmt.Sprintf("#%d", w&0xff*4), 1, 0), true
	case "memd":
		return address(w, fmt.Sprintf("#%d", int32(signed(w>>23&1, w&0xff*4))), w>>24&1, w>>21&1), true
	}
	return "", false
}
