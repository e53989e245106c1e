package a32

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// plainA32 is what A32 has besides formsA32 that armasm does not print: moves from
// and to the coprocessors that are system registers. T32 has the same words with
// condition 14. DDI0487, "System register access".
var plainA32 = []form{
	plain(0x0f100e10, 0x0e000e10, "mcr{c} {cp}, {op1}, {d}, c{crn}, c{crm}, {op2}"),
	plain(0x0f10fe10, 0x0e10fe10, "mrc{c} {cp}, {op1}, apsr_nzcv, c{crn}, c{crm}, {op2}"),
	plain(0x0f100e10, 0x0e100e10, "mrc{c} {cp}, {op1}, {d}, c{crn}, c{crm}, {op2}"),
	plain(0x0ff00e00, 0x0c400e00, "mcrr{c} {cp}, {op3}, {d}, {n}, c{crm}"),
	plain(0x0ff00e00, 0x0c500e00, "mrrc{c} {cp}, {op3}, {d}, {n}, c{crm}"),
}

// plainT16 is what T32 in one halfword has besides formsT16, to print it: all of
// it goes on. The headings are those of DDI0487, "T32 Base Instruction Set
// Encoding", "16-bit". In an IT block the instructions that set flags here do not,
// and all have its conditions: the text does not say so.
var plainT16 = []form{
	// Shift (immediate), add, subtract, move, and compare.
	plain(0xffc0, 0x0000, "movs {r}, {r3}"),
	plain(0xf800, 0x0000, "lsls {r}, {r3}, {n5}"),
	plain(0xf800, 0x0800, "lsrs {r}, {r3}, {n5s}"),
	plain(0xf800, 0x1000, "asrs {r}, {r3}, {n5s}"),
	plain(0xfe00, 0x1800, "adds {r}, {r3}, {r6}"),
	plain(0xfe00, 0x1a00, "subs {r}, {r3}, {r6}"),
	plain(0xfe00, 0x1c00, "adds {r}, {r3}, {n3}"),
	plain(0xfe00, 0x1e00, "subs {r}, {r3}, {n3}"),
	plain(0xf800, 0x2000, "movs {r8}, {i8d}"),
	plain(0xf800, 0x2800, "cmp {r8}, {i8d}"),
	plain(0xf800, 0x3000, "adds {r8}, {i8d}"),
	plain(0xf800, 0x3800, "subs {r8}, {i8d}"),

	// Data-processing (two low registers).
	plain(0xffc0, 0x4240, "negs {r}, {r3}"),
	plain(0xfc00, 0x4000, "{dp16} {r}, {r3}"),

	// Special data instructions and branch and exchange.
	plain(0xff00, 0x4400, "add {rd}, {rm}"),
	plain(0xff00, 0x4500, "cmp {rd}, {rm}"),
	plain(0xff00, 0x4600, "mov {rd}, {rm}"),

	// Load/store.
	plain(0xf800, 0x4800, "ldr {r8}, {lit8}"),
	plain(0xf000, 0x5000, "{ls16} {r}, [{r3}, {r6}]"),
	plain(0xf800, 0x6000, "str {r}, {mem5}"),
	plain(0xf800, 0x6800, "ldr {r}, {mem5}"),
	plain(0xf800, 0x7000, "strb {r}, {mem5}"),
	plain(0xf800, 0x7800, "ldrb {r}, {mem5}"),
	plain(0xf800, 0x8000, "strh {r}, {mem5}"),
	plain(0xf800, 0x8800, "ldrh {r}, {mem5}"),
	plain(0xf800, 0x9000, "str {r8}, {mem8w}"),
	plain(0xf800, 0x9800, "ldr {r8}, {mem8w}"),
	plain(0xf800, 0xc000, "stmia {r8}!, {low}"),
	plain(0xf800, 0xc800, "ldmia {r8}{w16}, {low}"),

	// Add PC/SP (immediate), miscellaneous.
	plain(0xf800, 0xa000, "add {r8}, pc, {n8w}"),
	plain(0xf800, 0xa800, "add {r8}, sp, {n8w}"),
	plain(0xff80, 0xb000, "add sp, {n7w}"),
	plain(0xff80, 0xb080, "sub sp, {n7w}"),
	plain(0xff00, 0xb200, "{ext16} {r}, {r3}"),
	plain(0xffc0, 0xba00, "rev {r}, {r3}"),
	plain(0xffc0, 0xba40, "rev16 {r}, {r3}"),
	plain(0xffc0, 0xbac0, "revsh {r}, {r3}"),
}

// plain is a form that goes on.
func plain(mask, value uint32, asm string) form {
	return form{mask: mask, value: value, class: isa.Other, asm: asm}
}

// The names of what formsT16 and plainT16 tell apart by number.
var (
	processing16 = [16]string{
		"ands", "eors", "lsls", "lsrs", "asrs", "adcs", "sbcs", "rors",
		"tst", "negs", "cmp", "cmn", "orrs", "muls", "bics", "mvns",
	}
	transfers16 = [8]string{"str", "strh", "strb", "ldrsb", "ldr", "ldrh", "ldrb", "ldrsh"}
	extends16   = [4]string{"sxth", "sxtb", "uxth", "uxtb"}
)

// operand16 prints the operand called name in forms of w, of one halfword of T32;
// ok: it is one of these:
//
//	rd  register in bits 7 and 2:0      r3, r6, r8  in bits 5:3, 8:6, 10:8
//	n3, n5, n5s  immediates in bits 8:6, 10:6, and there with 32 for 0
//	n7w, n8w  in bits 6:0, 7:0, words   low  registers in bits 7:0
//	w16  ! if the base is not loaded    mem5, mem8w  an address
//	dp16, ls16, ext16  mnemonics
func operand16(name string, w uint32) (s string, ok bool) {
	switch name {
	case "rd":
		return registers[w>>4&8|w&7], true
	case "r3":
		return registers[w>>3&7], true
	case "r6":
		return registers[w>>6&7], true
	case "r8":
		return registers[w>>8&7], true
	case "n3":
		return fmt.Sprintf("#%d", w>>6&7), true
	case "n5":
		return fmt.Sprintf("#%d", w>>6&31), true
	case "n5s":
		return fmt.Sprintf("#%d", (w>>6-1)&31+1), true
	case "n7w":
		return fmt.Sprintf("#%d", w&0x7f*4), true
	case "n8w":
		return fmt.Sprintf("#%d", w&0xff*4), true
	case "low":
		return list(w & 0xff), true
	case "w16":
		return [2]string{"!", ""}[w>>(w>>8&7)&1], true
	case "mem5":
		size := [4]uint32{2, 0, 1}[(w>>12-6)&3] // its logarithm: words, bytes, halfwords
		return address(w>>3&7<<16, fmt.Sprintf("#%d", w>>6&31<<size), 1, 0), true
	case "mem8w":
		return address(13<<16, fmt.Sprintf("#%d", w&0xff*4), 1, 0), true
	case "dp16":
		return processing16[w>>6&15], true
	case "ls16":
		return transfers16[w>>9&7], true
	case "ext16":
		return extends16[w>>6&3], true
	}
	return "", false
}
