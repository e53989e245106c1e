package a32

import (
	"strings"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// form is one encoding that a walker cares about, or that shares a group with such.
// A word w has it if w&mask == value and no earlier form of its table does. Words
// without a form go on. none for a class: nobody has assigned the word.
//
// asm is the text, in which {x} is an operand, by name; operands.go has them all.
// In brackets it says what is meant: such words are printed by armasm (A32), or as
// data.
type form struct {
	mask, value uint32
	class       isa.Class
	flags       isa.Flags
	rel         rel // where its label is
	asm         string
}

// formsA32 is A32, first match first, the headings those of DDI0487, "A32 Base
// Instruction Set Encoding". readA32's switches say the same faster. Where a mask
// leaves bits 31:28 free they are a condition; with one that can fail the reading
// has isa.FlagConditional too, unless the class is Cond or none.
var formsA32 = append([]form{
	// Unconditional instructions: miscellaneous, barriers, preloads.
	plain(0xfff10020, 0xf1000000, "(CPS)"),
	plain(0xfff100f0, 0xf1010000, "(SETEND)"),
	plain(0xfff000f0, 0xf1100000, "(SETPAN)"),
	unassigned(0xfe000000, 0xf0000000),
	plain(0xfff000f0, 0xf5700010, "clrex"),
	plain(0xfff000f0, 0xf5700040, "dsb {opt}"),
	plain(0xfff000f0, 0xf5700050, "dmb {opt}"),
	{0xfff000f0, 0xf5700060, isa.Barrier, 0, 0, "isb {isb}"},
	plain(0xfff000f0, 0xf5700070, "sb"),
	unassigned(0xfff00000, 0xf5700000),
	unassigned(0xff100000, 0xf5000000),
	{0xfff000f0, 0xf7f000f0, isa.Undefined, 0, 0, "udf {i16}"},
	plain(0xfe100010, 0xf6100000, "(PLD, PLI, PLDW of registers)"),
	unassigned(0xfe000000, 0xf6000000),

	// Unconditional instructions: exception save and restore, branch.
	{0xfe500000, 0xf8100000, isa.FarReturn, 0, 0, "rfe{modes} {n}{w}"},
	plain(0xfe500000, 0xf8400000, "(SRS)"),
	unassigned(0xfe000000, 0xf8000000),
	{0xfe000000, 0xfa000000, isa.Call, isa.FlagInterwork, relA25, "blx {to}"},
	unassigned(0xff000000, 0xff000000),
	plain(0xf0000000, 0xf0000000, "(Advanced SIMD, floating point, preloads, coprocessors)"),

	// Branch, supervisor call.
	{0xff000000, 0xea000000, isa.Jump, 0, relA24, "b {to}"},
	{0x0f000000, 0x0a000000, isa.Cond, 0, relA24, "b{c} {to}"},
	{0x0f000000, 0x0b000000, isa.Call, 0, relA24, "bl{c} {to}"},
	{0x0f000000, 0x0f000000, isa.Syscall, 0, 0, "svc{c} {i24}"},

	// Multiply, extra load/store, synchronisation.
	plain(0x0e000090, 0x00000090, "(multiplication, other loads and stores)"),

	// Miscellaneous, exception generation.
	{0x0ff000ff, 0x0120001e, isa.Return, 0, 0, "bx{c} lr"},
	{0x0ff000f0, 0x01200010, isa.JumpInd, 0, 0, "bx{c} {m}"},
	plain(0x0ff000f0, 0x01600010, "(CLZ)"),
	unassigned(0x0f9000f0, 0x01000010),
	{0x0ff000f0, 0x01200020, isa.JumpInd, 0, 0, "bxj{c} {m}"},
	unassigned(0x0f9000f0, 0x01000020),
	{0x0ff000f0, 0x01200030, isa.CallInd, 0, 0, "blx{c} {m}"},
	unassigned(0x0f9000f0, 0x01000030),
	{0x0ff000f0, 0x01600060, isa.FarReturn, 0, 0, "eret{c}"},
	unassigned(0x0f9000f0, 0x01000060),
	{0x0ff000f0, 0x01000070, isa.SoftInt, 0, 0, "hlt{c} {i16}"},
	{0x0ff000f0, 0x01200070, isa.Break, 0, 0, "bkpt{c} {i16}"},
	{0x0ff000f0, 0x01400070, isa.Syscall, 0, 0, "hvc{c} {i16}"},
	{0x0ff000f0, 0x01600070, isa.Syscall, 0, 0, "smc{c} {i4}"},
	plain(0x0f900000, 0x01000000, "(MRS, MSR, CRC32, saturating, halfword multiplication)"),

	// Move halfword, move special register, hints.
	{0x0fffffff, 0x0320f000, isa.Other, isa.FlagNop, 0, "nop{c}"},
	{0x0fffffff, 0x0320f002, isa.Wait, 0, 0, "wfe{c}"},
	{0x0fffffff, 0x0320f003, isa.Wait, 0, 0, "wfi{c}"},
	plain(0x0f900000, 0x03000000, "(MOVW, MOVT, MSR, hints)"),

	// Data-processing with PC as destination.
	plain(0x0d900000, 0x01100000, "(TST, TEQ, CMP, CMN)"),
	{0x0fffffff, 0x01a00000, isa.Other, isa.FlagNop, 0, "nop{c}"},
	{0x0ff0ffff, 0x01a0f00e, isa.Return, 0, 0, "mov{c} pc, lr"},
	{0x0c10f000, 0x0010f000, isa.FarReturn, 0, 0, "{dp} pc, {args}"},
	{0x0c10f000, 0x0000f000, isa.JumpInd, 0, 0, "{dp} pc, {args}"},

	// Media; load/store word with PC as destination.
	{0x0ff000f0, 0x07f000f0, isa.Undefined, 0, 0, "udf{c} {i16}"},
	{0x0ffff000, 0x049df000, isa.Return, 0, 0, "ldr{c} pc, {mem}"},
	{0x0e50f000, 0x0410f000, isa.JumpInd, 0, 0, "ldr{t}{c} pc, {mem}"},
	{0x0e50f010, 0x0610f000, isa.JumpInd, 0, 0, "ldr{t}{c} pc, {mem}"},

	// Load multiple with PC.
	{0x0e508000, 0x08508000, isa.FarReturn, 0, 0, "ldm{mode}{c} {n}{w}, {list}^"},
	{0x0fff8000, 0x08bd8000, isa.Return, 0, 0, "pop{c} {list}"},
	{0x0fffa000, 0x089da000, isa.Return, 0, 0, "ldm{mode}{c} {n}{w}, {list}"},
	{0x0fffa000, 0x091ba000, isa.Return, 0, 0, "ldm{mode}{c} {n}{w}, {list}"},
	{0x0e508000, 0x08108000, isa.JumpInd, 0, 0, "ldm{mode}{c} {n}{w}, {list}"},
}, systemMoves...)

// formsT16 is T32 in one halfword, the headings those of DDI0487, "T32 Base
// Instruction Set Encoding", "16-bit".
var formsT16 = []form{
	// Special data instructions and branch and exchange.
	{0xff87, 0x4487, isa.JumpInd, 0, 0, "add pc, {rm}"},
	{0xffff, 0x46c0, isa.Other, isa.FlagNop, 0, "nop"},
	{0xffff, 0x46f7, isa.Return, 0, 0, "mov pc, lr"},
	{0xff87, 0x4687, isa.JumpInd, 0, 0, "mov pc, {rm}"},
	{0xfffc, 0x4770, isa.Return, 0, 0, "bx lr"},
	{0xfffc, 0x4774, isa.Return, 0, 0, "bxns lr"},
	{0xff84, 0x4700, isa.JumpInd, 0, 0, "bx {rm}"},
	{0xff84, 0x4704, isa.JumpInd, 0, 0, "bxns {rm}"},
	{0xff84, 0x4780, isa.CallInd, 0, 0, "blx {rm}"},
	{0xff84, 0x4784, isa.CallInd, 0, 0, "blxns {rm}"},

	// Miscellaneous 16-bit instructions.
	{0xfd00, 0xb100, isa.Cond, 0, relT6, "cbz {r}, {to}"},
	{0xfd00, 0xb900, isa.Cond, 0, relT6, "cbnz {r}, {to}"},
	plain(0xff00, 0xb400, "push {list8}"),
	plain(0xff00, 0xb500, "push {list8}"),
	plain(0xff00, 0xbc00, "pop {list8}"),
	{0xff00, 0xbd00, isa.Return, 0, 0, "pop {list8}"},
	plain(0xfff7, 0xb610, "(SETPAN)"),
	plain(0xfff7, 0xb650, "(SETEND)"),
	plain(0xffe0, 0xb660, "(CPS)"),
	unassigned(0xff00, 0xb600),
	unassigned(0xff00, 0xb700),
	unassigned(0xff00, 0xb800),
	{0xffc0, 0xba80, isa.SoftInt, 0, 0, "hlt {i6}"},
	{0xff00, 0xbe00, isa.Break, 0, 0, "bkpt {i8}"},
	{0xffff, 0xbf00, isa.Other, isa.FlagNop, 0, "nop"},
	plain(0xffff, 0xbf10, "yield"),
	{0xffff, 0xbf20, isa.Wait, 0, 0, "wfe"},
	{0xffff, 0xbf30, isa.Wait, 0, 0, "wfi"},
	plain(0xffff, 0xbf40, "sev"),
	plain(0xffff, 0xbf50, "sevl"),
	plain(0xff0f, 0xbf00, "nop {hint}"),
	plain(0xff00, 0xbf00, "it{then} {first}"),

	// Conditional branch, exception generation, branch.
	{0xff00, 0xde00, isa.Undefined, 0, 0, "udf {i8}"},
	{0xff00, 0xdf00, isa.Syscall, 0, 0, "svc {i8}"},
	{0xf000, 0xd000, isa.Cond, 0, relT8, "b{tc}.n {to}"},
	{0xf800, 0xe000, isa.Jump, 0, relT11, "b.n {to}"},
}

// formsT32 is T32 in two halfwords, the first of them the upper, the headings those
// of DDI0487, "T32 Base Instruction Set Encoding", "32-bit".
var formsT32 = append([]form{
	// Load/store multiple.
	{0xffd00000, 0xe8100000, isa.FarReturn, 0, 0, "rfedb {n}{w}"},
	{0xffd00000, 0xe9900000, isa.FarReturn, 0, 0, "rfeia {n}{w}"},
	plain(0xffff2000, 0xe89f0000, "(CLRM)"),
	{0xffff8000, 0xe8bd8000, isa.Return, 0, 0, "pop.w {list}"},
	plain(0xffff8000, 0xe8bd0000, "pop.w {list}"),
	plain(0xffff0000, 0xe92d0000, "push.w {list}"), // STMDB SP!
	{0xffd08000, 0xe8908000, isa.JumpInd, 0, 0, "ldmia.w {n}{w}, {list}"},
	{0xffd08000, 0xe9108000, isa.JumpInd, 0, 0, "ldmdb {n}{w}, {list}"},

	// Load/store dual, exclusive, load-acquire/store-release, table branch.
	{0xfff0fff0, 0xe8d0f000, isa.JumpInd, 0, 0, "tbb [{n}, {m}]"},
	{0xfff0fff0, 0xe8d0f010, isa.JumpInd, 0, 0, "tbh [{n}, {m}, lsl #1]"},
	plain(0xffffffff, 0xe97fe97f, "sg"),

	// Load/store single of words with PC as destination.
	{0xff7ff000, 0xf85ff000, isa.JumpInd, 0, 0, "ldr.w pc, {mem12}"},
	{0xfff0f000, 0xf8d0f000, isa.JumpInd, 0, 0, "ldr.w pc, {mem12}"},
	unassigned(0xfff0fd00, 0xf850f800),
	{0xffffff00, 0xf85dfb00, isa.Return, 0, 0, "ldr.w pc, {mem8}"},
	{0xfff0ff00, 0xf850fe00, isa.JumpInd, 0, 0, "ldrt pc, {mem8}"},
	{0xfff0f800, 0xf850f800, isa.JumpInd, 0, 0, "ldr.w pc, {mem8}"},
	{0xfff0ffc0, 0xf850f000, isa.JumpInd, 0, 0, "ldr.w pc, {memr}"},
	unassigned(0xfff0f000, 0xf850f000),

	// Multiply: pointer authentication of M-profile has the words whose
	// destination would be PC.
	{0xffff0ff0, 0xfb5e0f10, isa.Return, 0, 0, "bxaut {d}, {n}, {m}"},
	{0xfff00ff0, 0xfb500f10, isa.JumpInd, 0, 0, "bxaut {d}, {n}, {m}"},

	// Hints, miscellaneous system.
	{0xffffffff, 0xf3af8000, isa.Other, isa.FlagNop, 0, "nop.w"},
	plain(0xffffffff, 0xf3af8001, "yield.w"),
	{0xffffffff, 0xf3af8002, isa.Wait, 0, 0, "wfe.w"},
	{0xffffffff, 0xf3af8003, isa.Wait, 0, 0, "wfi.w"},
	plain(0xffffffff, 0xf3af8004, "sev.w"),
	plain(0xffffffff, 0xf3af8005, "sevl.w"),
	{0xffffffff, 0xf3af800f, isa.Other, isa.FlagNop, 0, "bti"},
	plain(0xfff0d000, 0xf3a08000, "(CPS, hints)"),
	plain(0xfff0d0f0, 0xf3b08000, "(LEAVEX)"),
	plain(0xfff0d0f0, 0xf3b08010, "(ENTERX)"),
	plain(0xfff0d0f0, 0xf3b08020, "clrex"),
	plain(0xfff0d0f0, 0xf3b08040, "dsb {opt}"),
	plain(0xfff0d0f0, 0xf3b08050, "dmb {opt}"),
	{0xfff0d0f0, 0xf3b08060, isa.Barrier, 0, 0, "isb {isb}"},
	plain(0xfff0d0f0, 0xf3b08070, "sb"),
	{0xfff0d000, 0xf3c08000, isa.JumpInd, 0, 0, "bxj {n}"},
	{0xfff0d0ff, 0xf3d08000, isa.FarReturn, 0, 0, "eret"},
	{0xfff0d000, 0xf3d08000, isa.FarReturn, 0, 0, "subs pc, {n}, {i8d}"},
	plain(0xffe0d000, 0xf3808000, "(MSR)"),
	plain(0xffe0d000, 0xf3e08000, "(MRS)"),

	// Exception generation.
	{0xffffffff, 0xf78f8001, isa.Undefined, 0, 0, "dcps1"},
	{0xffffffff, 0xf78f8002, isa.Undefined, 0, 0, "dcps2"},
	{0xffffffff, 0xf78f8003, isa.Undefined, 0, 0, "dcps3"},
	{0xfff0f000, 0xf7e08000, isa.Syscall, 0, 0, "hvc {i16t}"},
	{0xfff0f000, 0xf7f08000, isa.Syscall, 0, 0, "smc {i4t}"},
	{0xfff0f000, 0xf7f0a000, isa.Undefined, 0, 0, "udf.w {i16t}"},
	unassigned(0xfb80d000, 0xf3808000),

	// Branches.
	{0xf800d000, 0xf0008000, isa.Cond, 0, relT20, "b{tc20}.w {to}"},
	{0xf800d000, 0xf0009000, isa.Jump, 0, relT24, "b.w {to}"},
	{0xf800d000, 0xf000d000, isa.Call, 0, relT24, "bl {to}"},
	{0xf800d001, 0xf000c000, isa.Call, isa.FlagInterwork, relT24X, "blx {to}"},

	// Low-overhead loops and branch futures.
	{0xfffff001, 0xf00fc001, isa.Cond, 0, relBack, "le lr, {to}"},
	{0xfffff001, 0xf01fc001, isa.Cond, 0, relBack, "letp lr, {to}"},
	{0xfffff001, 0xf02fc001, isa.Jump, 0, relBack, "le {to}"},
	plain(0xffffffff, 0xf00fe001, "lctp"),
	unassigned(0xff8fd001, 0xf00fc001),
	{0xfff0f001, 0xf040c001, isa.Cond, 0, relForward, "wls lr, {n}, {to}"},
	{0xffc0f001, 0xf000c001, isa.Cond, 0, relForward, "wlstp.{size} lr, {n}, {to}"},
	plain(0xfff0ffff, 0xf040e001, "dls lr, {n}"),
	plain(0xffc0ffff, 0xf000e001, "dlstp.{size} lr, {n}"),
	plain(0xffc0ffff, 0xf000e801, "vctp.{size} {n}"),
	unassigned(0xff80d001, 0xf000c001),
	plain(0xf800d001, 0xf000c001, "(BF, BFL, BFX, BFLX, BFCSEL)"),
}, withoutCondition(systemMoves)...)

// systemMoves are the moves to system registers, which both sets have last. The
// words are A32's.
var systemMoves = []form{
	{0x0fff0fff, 0x0e070f95, isa.Barrier, 0, 0, "mcr{c} p15, 0, {d}, c7, c5, 4"},
	{0x0fff0fff, 0x0e020f10, isa.SetSpace, 0, 0, "mcr{c} p15, 0, {d}, c2, c0, 0"},
	{0x0fff0fff, 0x0e020f30, isa.SetSpace, 0, 0, "mcr{c} p15, 0, {d}, c2, c0, 1"},
	{0x0fff0fff, 0x0e0d0f10, isa.SetSpace, 0, 0, "mcr{c} p15, 0, {d}, c13, c0, 0"},
	{0x0fff0fff, 0x0e0d0f30, isa.SetSpace, 0, 0, "mcr{c} p15, 0, {d}, c13, c0, 1"},
	{0x0ff00fff, 0x0c400f02, isa.SetSpace, 0, 0, "mcrr{c} p15, 0, {d}, {n}, c2"},
	{0x0ff00fff, 0x0c400f12, isa.SetSpace, 0, 0, "mcrr{c} p15, 1, {d}, {n}, c2"},
	{0x0ff00fff, 0x0c400f42, isa.SetSpace, 0, 0, "mcrr{c} p15, 4, {d}, {n}, c2"},
	{0x0ff00fff, 0x0c400f62, isa.SetSpace, 0, 0, "mcrr{c} p15, 6, {d}, {n}, c2"},
	{0x0fff0fff, 0x0e010f32, isa.TraceControl, 0, 0, "mcr{c} p15, 0, {d}, c1, c2, 1"},
	{0x0fff0fff, 0x0e810f32, isa.TraceControl, 0, 0, "mcr{c} p15, 4, {d}, c1, c2, 1"},
	{0x0fff0fff, 0x0e200e10, isa.TraceControl, 0, 0, "mcr{c} p14, 1, {d}, c0, c0, 0"},
	{0x0fff0fff, 0x0e200e11, isa.TraceControl, 0, 0, "mcr{c} p14, 1, {d}, c0, c1, 0"},
}

// withoutCondition returns forms of A32 as T32 has them: the same words, with
// condition 14.
func withoutCondition(forms []form) (all []form) {
	for _, f := range forms {
		f.mask, f.value, f.asm = f.mask|15<<28, f.value|14<<28, strings.Replace(f.asm, "{c}", "", 1)
		all = append(all, f)
	}
	return all
}

// unassigned is a form of words that are no instruction.
func unassigned(mask, value uint32) form {
	return form{mask: mask, value: value, class: none, asm: "(unassigned)"}
}

// find is the first form in forms that w has, or nil.
func find(forms []form, w uint32) *form {
	for i := range forms {
		if f := &forms[i]; w&f.mask == f.value {
			return f
		}
	}
	return nil
}
