package a64

import "github.com/ptdecode/ptdecode/decoder/isa"

// form is one encoding that a walker cares about, or that shares a group with such.
// A word w has it if w&mask == value and no earlier form of the table does.
type form struct {
	mask, value uint32
	class       isa.Class
	flags       isa.Flags
	rel         rel // where its label is; only of Jump, Call and Cond it is the target
	asm         string
}

// forms is the branch group, first match first, the headings those of DDI0487,
// "Branches, Exception Generating and System instructions". Decode's switches say
// the same faster. The rest of "System instructions" is not listed: it goes on.
//
// In asm, {x} is an operand, by name:
//
//	t  register in bits 4:0, X or W by bit 31     wt  the same, always W
//	b  the same, X or W by the bit tested          xt  the same, always X
//	m  register in bits 20:16, X or W by bit 31   wm  the same, always W
//	n  X register in bits 9:5                      xs  X register in bits 4:0, 31 is SP
//	to label                                        cond  condition in bits 3:0
//	i  immediate in bits 20:5                       i7  immediate in bits 11:5
//	i6 immediate in bits 20:15                      bit  number of the bit tested
//	cc condition in bits 23:21, of registers        ci  the same, with an immediate
//	crm  bits 11:8                                  tp  X registers in bits 4:0 and the next
var forms = []form{
	// Reserved.
	{0xffff0000, 0x00000000, isa.Undefined, 0, 0, "udf #{udf}"},

	// Unconditional branch (immediate).
	{0xfc000000, 0x14000000, isa.Jump, 0, rel26, "b {to}"},
	{0xfc000000, 0x94000000, isa.Call, 0, rel26, "bl {to}"},

	// Conditional branch (immediate).
	{0xff000010, 0x54000000, isa.Cond, 0, rel19, "b.{cond} {to}"},
	{0xff000010, 0x54000010, isa.Cond, 0, rel19, "bc.{cond} {to}"},

	// Compare and branch (immediate).
	{0x7f000000, 0x34000000, isa.Cond, 0, rel19, "cbz {t}, {to}"},
	{0x7f000000, 0x35000000, isa.Cond, 0, rel19, "cbnz {t}, {to}"},

	// Test and branch (immediate).
	{0x7f000000, 0x36000000, isa.Cond, 0, rel14, "tbz {b}, #{bit}, {to}"},
	{0x7f000000, 0x37000000, isa.Cond, 0, rel14, "tbnz {b}, #{bit}, {to}"},

	// Compare registers and branch; compare bytes or halfwords and branch. The
	// conditions are GT, GE, HI, HS, EQ and NE, with an immediate GT, LT, HI, LO,
	// EQ and NE: 0 to 3, 6 and 7.
	{0x7f80c000, 0x74000000, isa.Cond, 0, rel9, "cb{cc} {t}, {m}, {to}"},
	{0x7fc0c000, 0x74c00000, isa.Cond, 0, rel9, "cb{cc} {t}, {m}, {to}"},
	{0xff80c000, 0x74008000, isa.Cond, 0, rel9, "cbb{cc} {wt}, {wm}, {to}"},
	{0xffc0c000, 0x74c08000, isa.Cond, 0, rel9, "cbb{cc} {wt}, {wm}, {to}"},
	{0xff80c000, 0x7400c000, isa.Cond, 0, rel9, "cbh{cc} {wt}, {wm}, {to}"},
	{0xffc0c000, 0x74c0c000, isa.Cond, 0, rel9, "cbh{cc} {wt}, {wm}, {to}"},
	{0x7f804000, 0x75000000, isa.Cond, 0, rel9, "cb{ci} {t}, #{i6}, {to}"},
	{0x7fc04000, 0x75c00000, isa.Cond, 0, rel9, "cb{ci} {t}, #{i6}, {to}"},

	// Miscellaneous branch (immediate). The label is an address to check, not
	// the destination.
	{0xffe0001f, 0x5500001f, isa.Return, 0, relBack, "retaasppc {to}"},
	{0xffe0001f, 0x5520001f, isa.Return, 0, relBack, "retabsppc {to}"},

	// Unconditional branch (register).
	{0xfffffc1f, 0xd61f0000, isa.JumpInd, 0, 0, "br {n}"},
	{0xfffffc1f, 0xd61f081f, isa.JumpInd, 0, 0, "braaz {n}"},
	{0xfffffc1f, 0xd61f0c1f, isa.JumpInd, 0, 0, "brabz {n}"},
	{0xfffffc00, 0xd71f0800, isa.JumpInd, 0, 0, "braa {n}, {xs}"},
	{0xfffffc00, 0xd71f0c00, isa.JumpInd, 0, 0, "brab {n}, {xs}"},
	{0xfffffc1f, 0xd63f0000, isa.CallInd, 0, 0, "blr {n}"},
	{0xfffffc1f, 0xd63f081f, isa.CallInd, 0, 0, "blraaz {n}"},
	{0xfffffc1f, 0xd63f0c1f, isa.CallInd, 0, 0, "blrabz {n}"},
	{0xfffffc00, 0xd73f0800, isa.CallInd, 0, 0, "blraa {n}, {xs}"},
	{0xfffffc00, 0xd73f0c00, isa.CallInd, 0, 0, "blrab {n}, {xs}"},
	{0xffffffff, 0xd65f03c0, isa.Return, 0, 0, "ret"},
	{0xfffffc1f, 0xd65f0000, isa.Return, 0, 0, "ret {n}"},
	{0xffffffff, 0xd65f0bff, isa.Return, 0, 0, "retaa"},
	{0xffffffff, 0xd65f0fff, isa.Return, 0, 0, "retab"},
	{0xffffffe0, 0xd65f0be0, isa.Return, 0, 0, "retaasppcr {xt}"},
	{0xffffffe0, 0xd65f0fe0, isa.Return, 0, 0, "retabsppcr {xt}"},
	{0xffffffff, 0xd69f03e0, isa.FarReturn, 0, 0, "eret"},
	{0xffffffff, 0xd69f0bff, isa.FarReturn, 0, 0, "eretaa"},
	{0xffffffff, 0xd69f0fff, isa.FarReturn, 0, 0, "eretab"},
	{0xffffffff, 0xd6bf03e0, isa.Undefined, 0, 0, "drps"},
	{0xffffffff, 0xd6ff03e0, isa.FarReturn, 0, 0, "texit"},
	{0xffffffff, 0xd6ff07e0, isa.FarReturn, 0, 0, "texit nb"},

	// Exception generation.
	{0xffe0001f, 0xd4000001, isa.Syscall, 0, 0, "svc #{i}"},
	{0xffe0001f, 0xd4000002, isa.Syscall, 0, 0, "hvc #{i}"},
	{0xffe0001f, 0xd4000003, isa.Syscall, 0, 0, "smc #{i}"},
	{0xffe0001f, 0xd4200000, isa.Break, 0, 0, "brk #{i}"},
	{0xffe0001f, 0xd4400000, isa.SoftInt, 0, 0, "hlt #{i}"},
	{0xffe0001f, 0xd4600000, isa.Other, isa.FlagTx, 0, "tcancel #{i}"},
	{0xffffffff, 0xd4a00001, isa.Undefined, 0, 0, "dcps1"},
	{0xffffffff, 0xd4a00002, isa.Undefined, 0, 0, "dcps2"},
	{0xffffffff, 0xd4a00003, isa.Undefined, 0, 0, "dcps3"},
	{0xffe0001f, 0xd4a00001, isa.Undefined, 0, 0, "dcps1 #{i}"},
	{0xffe0001f, 0xd4a00002, isa.Undefined, 0, 0, "dcps2 #{i}"},
	{0xffe0001f, 0xd4a00003, isa.Undefined, 0, 0, "dcps3 #{i}"},
	{0xfffff01f, 0xd4e00000, isa.Syscall, 0, 0, "tenter #{i7}"},
	{0xfffff01f, 0xd4e20000, isa.Syscall, 0, 0, "tenter #{i7}, nb"},

	// Hints.
	{0xffffffff, 0xd503201f, isa.Other, isa.FlagNop, 0, "nop"},
	{0xffffffff, 0xd503205f, isa.Wait, 0, 0, "wfe"},
	{0xffffffff, 0xd503207f, isa.Wait, 0, 0, "wfi"},
	{0xffffffff, 0xd503241f, isa.Other, isa.FlagNop, 0, "bti"},
	{0xffffffff, 0xd503245f, isa.Other, isa.FlagNop, 0, "bti c"},
	{0xffffffff, 0xd503249f, isa.Other, isa.FlagNop, 0, "bti j"},
	{0xffffffff, 0xd50324df, isa.Other, isa.FlagNop, 0, "bti jc"},

	// System instructions with register argument.
	{0xffffffe0, 0xd5031000, isa.Wait, 0, 0, "wfet {xt}"},
	{0xffffffe0, 0xd5031020, isa.Wait, 0, 0, "wfit {xt}"},

	// Barriers.
	{0xffffffff, 0xd5033fdf, isa.Barrier, 0, 0, "isb"},
	{0xfffff0ff, 0xd50330df, isa.Barrier, 0, 0, "isb #{crm}"},
	{0xffffffff, 0xd503307f, isa.Other, isa.FlagTx, 0, "tcommit"},

	// System with result.
	{0xffffffe0, 0xd5233060, isa.Barrier, isa.FlagTx, 0, "tstart {xt}"},

	// System register move: the address space.
	{0xffffffe0, 0xd5182000, isa.SetSpace, 0, 0, "msr ttbr0_el1, {xt}"},
	{0xffffffe0, 0xd5182020, isa.SetSpace, 0, 0, "msr ttbr1_el1, {xt}"},
	{0xffffffe0, 0xd51c2000, isa.SetSpace, 0, 0, "msr ttbr0_el2, {xt}"},
	{0xffffffe0, 0xd51c2020, isa.SetSpace, 0, 0, "msr ttbr1_el2, {xt}"},
	{0xffffffe0, 0xd51d2000, isa.SetSpace, 0, 0, "msr ttbr0_el12, {xt}"},
	{0xffffffe0, 0xd51d2020, isa.SetSpace, 0, 0, "msr ttbr1_el12, {xt}"},
	{0xffffffe0, 0xd51e2000, isa.SetSpace, 0, 0, "msr ttbr0_el3, {xt}"},
	{0xffffffe0, 0xd51c2100, isa.SetSpace, 0, 0, "msr vttbr_el2, {xt}"},
	{0xffffffe0, 0xd51c2600, isa.SetSpace, 0, 0, "msr vsttbr_el2, {xt}"},
	{0xffffffe0, 0xd518d020, isa.SetSpace, 0, 0, "msr contextidr_el1, {xt}"},
	{0xffffffe0, 0xd51cd020, isa.SetSpace, 0, 0, "msr contextidr_el2, {xt}"},
	{0xffffffe0, 0xd51dd020, isa.SetSpace, 0, 0, "msr contextidr_el12, {xt}"},

	// System register pair move: the address space.
	{0xffffffe0, 0xd5582000, isa.SetSpace, 0, 0, "msrr ttbr0_el1, {tp}"},
	{0xffffffe0, 0xd5582020, isa.SetSpace, 0, 0, "msrr ttbr1_el1, {tp}"},
	{0xffffffe0, 0xd55c2000, isa.SetSpace, 0, 0, "msrr ttbr0_el2, {tp}"},
	{0xffffffe0, 0xd55c2020, isa.SetSpace, 0, 0, "msrr ttbr1_el2, {tp}"},
	{0xffffffe0, 0xd55d2000, isa.SetSpace, 0, 0, "msrr ttbr0_el12, {tp}"},
	{0xffffffe0, 0xd55d2020, isa.SetSpace, 0, 0, "msrr ttbr1_el12, {tp}"},
	{0xffffffe0, 0xd55c2100, isa.SetSpace, 0, 0, "msrr vttbr_el2, {tp}"},

	// System register move: tracing.
	{0xffffffe0, 0xd5181220, isa.TraceControl, 0, 0, "msr trfcr_el1, {xt}"},
	{0xffffffe0, 0xd51c1220, isa.TraceControl, 0, 0, "msr trfcr_el2, {xt}"},
	{0xffffffe0, 0xd51d1220, isa.TraceControl, 0, 0, "msr trfcr_el12, {xt}"},
	{0xffffffe0, 0xd5110100, isa.TraceControl, 0, 0, "msr trcprgctlr, {xt}"},
}

// find gives w's form, nil if it is none of the table's.
func find(w uint32) *form {
	for i := range forms {
		if f := &forms[i]; w&f.mask == f.value {
			return f
		}
	}
	return nil
}
