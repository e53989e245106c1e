package a32

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// suffix matches a condition at the end of a mnemonic, in A32 alone armSuffix.
const (
	armSuffix = `(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?(?:al)?`
	suffix    = armSuffix + `(?:\.[nw])?`
)

// mnemonics are objdump's texts and the classes that they mean, first match first,
// in the words of the manual's instruction descriptions; the first group is the
// condition.
var mnemonics = []struct {
	match *regexp.Regexp
	class isa.Class
}{
	{regexp.MustCompile(`^b` + suffix + ` `), isa.Jump}, // Cond with a condition
	{regexp.MustCompile(`^blx?` + suffix + ` 0?x?[0-9a-f]+$`), isa.Call},
	{regexp.MustCompile(`^(?:cbn?z|wls|wlstp\.[0-9]+) `), isa.Cond},
	{regexp.MustCompile(`^(?:le|letp) lr, `), isa.Cond},
	{regexp.MustCompile(`^le `), isa.Jump},
	{regexp.MustCompile(`^blx(?:ns)?` + suffix + ` `), isa.CallInd},
	{regexp.MustCompile(`^(?:bx|bxns)` + suffix + ` lr$`), isa.Return},
	{regexp.MustCompile(`^(?:bx|bxns|bxj|bxaut)` + suffix + ` `), isa.JumpInd}, // Return of BXAUT with LR
	{regexp.MustCompile(`^mov` + suffix + ` pc, lr$`), isa.Return},
	{regexp.MustCompile(`^(?:and|eor|sub|rsb|add|adc|sbc|rsc|orr|mov|lsl|lsr|asr|ror|rrx|bic|mvn|neg)` + suffix + ` pc, `), isa.JumpInd},
	{regexp.MustCompile(`^(?:and|eor|sub|rsb|add|adc|sbc|rsc|orr|mov|lsl|lsr|asr|ror|rrx|bic|mvn)s` + suffix + ` pc, `), isa.FarReturn},
	{regexp.MustCompile(`^ldr` + suffix + ` pc, \[sp\], #[0-9]`), isa.Return},
	{regexp.MustCompile(`^ldrt?` + suffix + ` pc, `), isa.JumpInd},
	{regexp.MustCompile(`^ldm(?:ia|ib|da|db)?` + suffix + ` .*pc\}\^$`), isa.FarReturn},
	{regexp.MustCompile(`^(?:pop|ldm|ldmia)` + suffix + ` (?:sp!, )?\{.*pc\}$`), isa.Return},
	{regexp.MustCompile(`^ldm(?:ia)?` + armSuffix + ` sp, \{.*sp, (?:lr, )?pc\}$`), isa.Return},
	{regexp.MustCompile(`^ldmdb` + armSuffix + ` fp, \{.*sp, (?:lr, )?pc\}$`), isa.Return},
	{regexp.MustCompile(`^ldm(?:ia|ib|da|db)?` + suffix + ` .*pc\}$`), isa.JumpInd},
	{regexp.MustCompile(`^rfe(?:ia|ib|da|db)?` + suffix + ` `), isa.FarReturn},
	{regexp.MustCompile(`^eret` + suffix + `$`), isa.FarReturn},
	{regexp.MustCompile(`^tb[bh]` + suffix + ` `), isa.JumpInd},
	{regexp.MustCompile(`^(?:svc|hvc|smc)` + suffix + ` `), isa.Syscall},
	{regexp.MustCompile(`^bkpt` + suffix + ` `), isa.Break},
	{regexp.MustCompile(`^hlt` + suffix + ` `), isa.SoftInt},
	{regexp.MustCompile(`^(?:udf|dcps[123])` + suffix), isa.Undefined},
	{regexp.MustCompile(`^isb` + suffix), isa.Barrier},
	{regexp.MustCompile(`^wf[ei]` + suffix + `$`), isa.Wait},
	{regexp.MustCompile(`^mcr` + suffix + ` 15, 0, [a-z0-9_]+, cr7, cr5, \{4\}$`), isa.Barrier},
	{regexp.MustCompile(`^mcr` + suffix + ` 15, 0, [a-z0-9_]+, cr(2|13), cr0, \{[01]\}$`), isa.SetSpace},
	{regexp.MustCompile(`^mcrr` + suffix + ` 15, [0146], [a-z0-9_]+, [a-z0-9_]+, cr2$`), isa.SetSpace},
	{regexp.MustCompile(`^mcr` + suffix + ` 15, [04], [a-z0-9_]+, cr1, cr2, \{1\}$`), isa.TraceControl},
	{regexp.MustCompile(`^mcr` + suffix + ` 14, 1, [a-z0-9_]+, cr0, cr[01], \{0\}$`), isa.TraceControl},
}

// asmInsn is what objdump's text says of d; of the flags, those that it tells. In
// an IT block every instruction is printed with the block's condition.
func asmInsn(d dumped, inBlock bool) (in isa.Insn) {
	for _, m := range mnemonics {
		g := m.match.FindStringSubmatch(d.asm)
		if g == nil {
			continue
		}
		in.Class = m.class
		conditional := len(g) > 1 && g[1] != ""
		name, operands, _ := strings.Cut(d.asm, " ")
		switch {
		case conditional && in.Class == isa.Jump && (!inBlock || d.s.size == 2 && d.w>>12 == 13 || d.s.size == 4 && d.w>>12&5 == 0):
			in.Class = isa.Cond
		case conditional && d.s.mode == isa.ModeA32:
			in.Flags |= isa.FlagConditional
		case in.Class == isa.Return && name == "ldmdb" && d.s.mode == isa.ModeT32:
			in.Class = isa.JumpInd // its list cannot have SP
		case in.Class == isa.JumpInd && name == "bxaut" && strings.Contains(operands, " lr, "):
			in.Class = isa.Return
		}
		if in.Class == isa.Jump || in.Class == isa.Cond || in.Class == isa.Call {
			last := operands[strings.LastIndexByte(operands, ' ')+1:]
			in.Target, _ = strconv.ParseUint(strings.TrimPrefix(last, "0x"), 16, 64)
		}
		if in.Class == isa.Call && strings.HasPrefix(name, "blx") {
			in.Flags |= isa.FlagInterwork
		}
		return in
	}
	if d.s.mode == isa.ModeA32 && d.w>>28 < 14 {
		in.Flags = isa.FlagConditional
	}
	return in
}

// shouldBe are the bits that the manual puts in brackets: an instruction has value
// there under mask. What another value does is unpredictable within bounds;
// Decode reads the instruction all the same, objdump often none or another.
var shouldBe = []struct {
	set                 int
	class               isa.Class
	in, of, mask, value uint32 // words w with w&in == of
}{
	{0, isa.FarReturn, 0xfe500000, 0xf8100000, 0x0000ffff, 0x0a00},  // RFE
	{0, isa.Barrier, 0xfff000f0, 0xf5700060, 0x000fff00, 0xff000},   // ISB
	{0, isa.Return, 0x0ff000ff, 0x0120001e, 0x000fff00, 0xfff00},    // BX LR
	{0, isa.JumpInd, 0x0ff000d0, 0x01200010, 0x000fff00, 0xfff00},   // BX
	{0, isa.JumpInd, 0x0ff000f0, 0x01200020, 0x000fff00, 0xfff00},   // BXJ
	{0, isa.CallInd, 0x0ff000f0, 0x01200030, 0x000fff00, 0xfff00},   // BLX
	{0, isa.FarReturn, 0x0ff000f0, 0x01600060, 0x000fff0f, 0x0000e}, // ERET
	{0, isa.Syscall, 0x0ff000f0, 0x01600070, 0x000fff00, 0},         // SMC
	{0, isa.Return, 0x0da00000, 0x01a00000, 0x000f0000, 0},          // MOV
	{0, isa.JumpInd, 0x0da00000, 0x01a00000, 0x000f0000, 0},         // MOV, MVN
	{0, isa.FarReturn, 0x0da00000, 0x01a00000, 0x000f0000, 0},       // MOVS, MVNS
	{1, isa.Return, 0xfff8, 0x4770, 3, 0},                           // BX LR
	{1, isa.JumpInd, 0xff80, 0x4700, 3, 0},                          // BX
	{1, isa.CallInd, 0xff80, 0x4780, 3, 0},                          // BLX
	{2, isa.FarReturn, 0xffd00000, 0xe8100000, 0xffff, 0xc000},      // RFEDB
	{2, isa.FarReturn, 0xffd00000, 0xe9900000, 0xffff, 0xc000},      // RFEIA
	{2, isa.Barrier, 0xfff0d0f0, 0xf3b08060, 0x000f2f00, 0xf0f00},   // ISB
	{2, isa.JumpInd, 0xfff0d000, 0xf3c08000, 0x00002fff, 0x00f00},   // BXJ
	{2, isa.FarReturn, 0xfff0d000, 0xf3d08000, 0x000f2f00, 0xe0f00}, // ERET, SUBS PC, LR
	{2, isa.Syscall, 0xfff0f000, 0xf7f08000, 0x00000fff, 0},         // SMC
}

// pcData matches data processing with PC as destination in T32.
var pcData = regexp.MustCompile(`^[a-z]+\.w pc, |^[a-z0-9]+ pc, [^\[]`)

// meant is why Decode says something else than objdump of d, or "" if it should
// not. docs/formats/a32.md lists these.
func meant(d dumped, s isa.Status, in isa.Insn) string {
	for _, b := range shouldBe {
		if d.s == &sets[b.set] && in.Class == b.class && d.w&b.in == b.of && d.w&b.mask != b.value {
			return "bits are not as they should be"
		}
	}
	t32, first := d.s.mode == isa.ModeT32, d.asm[:min(1, len(d.asm))]
	miscellaneous := !t32 && d.w>>28 != 15 && d.w&0x0f90_0080 == 0x0100_0000
	raises := in.Class == isa.SoftInt || in.Class == isa.Break || in.Class == isa.Syscall
	switch {
	case d.asm == "" && in.Class == isa.Undefined:
		return "undefined for ever, without a name"
	case miscellaneous && d.w>>28 < 14 && raises && (d.asm == "" || strings.Contains("tcm", first)):
		return "exception with a condition"
	case miscellaneous && s == isa.Bad && strings.Contains("tcm", first):
		return "comparison or MSR where there is none" // TST, TEQ, CMP, CMN that set no flags
	case !t32 && in.Class == isa.Other && d.w&0x0e00_0090 == 0x90 && pcData.MatchString(d.asm):
		return "shift where there is a load or store"
	case !t32 && s == isa.Bad && d.w&0xfe10_0010 == 0xf610_0010 && first == "p":
		return "preload where there is none"
	case t32 && in.Class == isa.Other && pcData.MatchString(d.asm) && (d.w>>25 == 0x75 || d.w>>27 == 0x1e && d.w>>15&1 == 0 || d.w>>25 == 0x7d):
		return "data processing in two halfwords with PC as destination, which is unpredictable"
	case t32 && s == isa.Bad && d.w&0xff80_d001 == 0xf000_c001 && strings.Contains("bwdv", first):
		return "branch future of its own address, or loop that counts in PC"
	case t32 && s == isa.Bad && d.asm == "dcps0":
		return "DCPS without a level"
	case t32 && s == isa.Bad && d.w&0xff70_f800 == 0xf850_f000 && first == "l":
		return "LDR where there is none"
	}
	return ""
}
