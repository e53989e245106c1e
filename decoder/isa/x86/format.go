package x86

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/line"
)

// Format gives the instruction at the front of text, which lies at addr and
// executes in mode m, as a line for people in AT&T syntax. sym, which may be
// nil, names the symbol that holds an address and says where it begins; ""
// where there is none.
//
// Format prints what it cannot say reliably as .byte: all bytes of instructions
// that the disassembler below does not know or reads wrongly. It prints one byte
// where there is no instruction, and what there is of one cut short.
func (d Decoder) Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	return d.print(text, addr, m, sym, printGNU, true)
}

// FormatIntel is Format in the syntax of Intel's manuals.
func (d Decoder) FormatIntel(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	return d.print(text, addr, m, sym, printIntel, false)
}

// FormatGo is Format in the syntax of Go's assembler.
func (d Decoder) FormatGo(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	return d.print(text, addr, m, sym, printGo, false)
}

// printGNU prints what x86asm read, in AT&T syntax.
func printGNU(r *reader, in *isa.Insn, inst x86asm.Inst, addr uint64, sym func(uint64) (string, uint64)) string {
	s := x86asm.GNUSyntax(inst, addr, nil)
	s = strings.ReplaceAll(s, "repn ", "repnz ")
	s = strings.ReplaceAll(s, "addr64 ", "addr32 ") // no such prefix: 67 twice
	return r.branch(in, s, sym)
}

// printIntel prints what x86asm read, in Intel's syntax.
func printIntel(_ *reader, in *isa.Insn, inst x86asm.Inst, addr uint64, sym func(uint64) (string, uint64)) string {
	return target(in, x86asm.IntelSyntax(inst, addr, nil), sym)
}

// printGo prints what x86asm read, in Go's syntax.
func printGo(_ *reader, in *isa.Insn, inst x86asm.Inst, addr uint64, sym func(uint64) (string, uint64)) string {
	return target(in, x86asm.GoSyntax(inst, addr, nil), sym)
}

// target puts the target into s where in is a direct branch.
func target(in *isa.Insn, s string, sym func(uint64) (string, uint64)) string {
	switch in.Class {
	case isa.Jump, isa.Cond, isa.Call:
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			return s[:i+1] + line.Place(in.Target, sym)
		}
	}
	return s
}

// printer prints what x86asm read of an instruction in some syntax.
type printer func(r *reader, in *isa.Insn, inst x86asm.Inst, addr uint64, sym func(uint64) (string, uint64)) string

// print is Format in the syntax of a printer; gnu is whether that is AT&T.
func (Decoder) print(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64), syntax printer, gnu bool) string {
	var in isa.Insn
	switch (Decoder{}).Decode(&in, text, addr, m) {
	case isa.Bad:
		return line.DotByte(text[:min(1, len(text))])
	case isa.Short:
		return line.DotByte(text)
	}
	text = text[:in.Len]
	r := reader{text: text, mode: m}
	r.prefixes() // Decode has seen that these three succeed
	f, _ := r.opcode()
	r.operands(&f)
	if s := r.ownForm(&in, sym); s != "" {
		if gnu {
			return s
		}
		return strings.ReplaceAll(strings.Replace(s, "ptwritel", "ptwrite", 1), "%", "")
	}
	bits := map[isa.Mode]int{isa.Mode16: 16, isa.Mode32: 32, isa.Mode64: 64}[m]
	inst, err := x86asm.Decode(text, bits)
	if err != nil || inst.Op == 0 || inst.Len != len(text) || !r.trusted() {
		return line.DotByte(text)
	}
	note := r.tidy(&inst, addr, sym)
	return syntax(&r, &in, inst, addr, sym) + note
}

// branch puts the target into s where in is a direct branch, and takes the size
// suffix off near branches that have the usual size.
func (r *reader) branch(in *isa.Insn, s string, sym func(uint64) (string, uint64)) string {
	switch in.Class {
	case isa.Jump, isa.Cond, isa.Call:
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			s = s[:i+1] + line.Place(in.Target, sym)
		}
	case isa.JumpInd, isa.CallInd, isa.Return:
	default:
		return s
	}
	if r.x66 && r.mode != isa.Mode64 {
		return s
	}
	for _, name := range []string{"call", "jmp", "ret"} {
		if i := strings.Index(s, name); i >= 0 && i+len(name) < len(s) && strings.IndexByte("qlw", s[i+len(name)]) >= 0 {
			s = s[:i+len(name)] + s[i+len(name)+1:]
			break
		}
	}
	if r.x66 && in.Class != isa.Cond && !strings.Contains(s, "data16") {
		return "data16 " + s // does nothing, but is there
	}
	return s
}

// tidy puts right what x86asm leaves wrong in the operands of inst: a 32-bit
// displacement that is not sign-extended, and a SIB byte without index. In VEX and
// EVEX instructions it puts right segment and base. It returns the note to print
// behind it: the address of an operand relative to the instruction pointer.
func (r *reader) tidy(inst *x86asm.Inst, addr uint64, sym func(uint64) (string, uint64)) (note string) {
	if r.space == spaceOne && r.op&^3 == 0xa0 {
		return "" // moffs: no displacement
	}
	if r.space == spaceVector {
		// Payload bytes must not pass for segment prefixes.
		for i := bytes.IndexByte(r.text, r.lead) + 1; i < len(inst.Prefix); i++ {
			inst.Prefix[i] |= x86asm.PrefixInvalid
		}
		inst.AddrSize = map[isa.Mode]int{isa.Mode32: 32, isa.Mode64: 64}[r.mode]
	}
	for i, a := range inst.Args {
		mem, ok := a.(x86asm.Mem)
		if !ok {
			continue
		}
		switch {
		case inst.AddrSize == 16:
			mem.Disp = int64(int16(mem.Disp))
		case mem.Disp>>32 == 0:
			mem.Disp = int64(int32(mem.Disp))
		}
		if r.space == spaceVector && r.mode == isa.Mode64 && r.modrm&0xc7 == 5 {
			mem.Base = x86asm.RIP
		}
		if mem.Index == 0 && inst.AddrSize != 16 {
			mem.Scale = 0
		}
		inst.Args[i] = mem
		if mem.Base == x86asm.RIP {
			note = "  # " + line.Place(addr+uint64(r.pos)+uint64(mem.Disp), sym)
		}
	}
	return note
}

// vectorIndex are the opcodes of vector map 2 that gather and scatter.
var vectorIndex = opset{0x9: 0x000f, 0xa: 0x000f, 0xc: 0x00c0}

// trusted reports whether x86asm v0.32.0 reads instructions like r right when
// it agrees on the length. docs/formats/x86.md lists what it gets wrong.
func (r *reader) trusted() bool {
	mem := r.modrm < 0xc0
	reg := r.modrm >> 3 & 7
	mandatory := r.rep != 0 || r.x66
	switch {
	case r.rex2:
		return false
	case r.space == spaceVector: // XOP, FP16, address sizes, VPEXTRW, gathers
		return r.lead != 0x8f && r.vmap < 4 && r.op != 0xc5 && r.op != 0x77 &&
			!(mem && (r.x67 || r.mode == isa.Mode16 || r.vmap == 2 && r.modrm&7 == 4 && vectorIndex.has(r.op)))
	case r.space == spaceTwo && r.op == 0x01:
		return !mandatory
	case r.space == spaceTwo && r.op == 0x09:
		return r.rep == 0
	case r.space == spaceTwo && r.op == 0xae:
		return !mandatory || r.rep == 0xf3 && !mem && reg < 4
	case r.space == spaceTwo && r.op == 0xc7:
		return !mandatory && mem
	case r.space == spaceTwo && r.op == 0x1e, r.space == space38 && r.op >= 0xf5:
		return !mandatory
	}
	return true
}

// ownForms are instructions x86asm does not know, by all their bytes.
var ownForms = []struct{ bytes, asm string }{
	{"\xc5\xf8\x77", "vzeroupper"},
	{"\xc5\xfc\x77", "vzeroall"},
	{"\xf3\x0f\x1e\xfa", "endbr64"},
	{"\xf3\x0f\x1e\xfb", "endbr32"},
	{"\xf2\x0f\x01\xca", "erets"},
	{"\xf3\x0f\x01\xca", "eretu"},
	{"\xf3\x0f\x01\xe8", "setssbsy"},
	{"\xf3\x0f\x01\xea", "saveprevssp"},
	{"\xf3\x0f\x01\xec", "uiret"},
	{"\xf3\x0f\x01\xed", "testui"},
	{"\xf3\x0f\x01\xee", "clui"},
	{"\xf3\x0f\x01\xef", "stui"},
	{"\xf2\x0f\x01\xe8", "xsusldtrk"},
	{"\xf2\x0f\x01\xe9", "xresldtrk"},
	{"\xf3\x0f\x01\xc6", "wrmsrlist"},
	{"\xf2\x0f\x01\xc6", "rdmsrlist"},
	{"\x0f\x01\xc6", "wrmsrns"},
	{"\x0f\x01\xe8", "serialize"},
	{"\x0f\x01\xee", "rdpkru"},
	{"\x0f\x01\xef", "wrpkru"},
	{"\xf3\x0f\x09", "wbnoinvd"},
	{"\x0f\x01\xca", "clac"},
	{"\x0f\x01\xcb", "stac"},
	{"\x0f\x01\xcf", "encls"},
	{"\x0f\x01\xd7", "enclu"},
	{"\x0f\x01\xc0", "enclv"},
	{"\x0f\x01\xc5", "pconfig"},
	{"\x0f\x01\xd8", "vmrun"},
	{"\x0f\x01\xd9", "vmmcall"},
	{"\x0f\x01\xda", "vmload"},
	{"\x0f\x01\xdb", "vmsave"},
	{"\x0f\x01\xdc", "stgi"},
	{"\x0f\x01\xdd", "clgi"},
	{"\x0f\x01\xde", "skinit"},
	{"\x0f\x01\xdf", "invlpga"},
	{"\x0f\x01\xfc", "clzero"},
	{"\x0f\x01\xfd", "rdpru"},
	{"\x0f\x01\xfe", "invlpgb"},
	{"\x0f\x01\xff", "tlbsync"},
	{"\xf3\x0f\x01\xd9", "vmgexit"},
	{"\xf2\x0f\x01\xd9", "vmgexit"},
	{"\xf3\x0f\x01\xfe", "rmpadjust"},
	{"\xf2\x0f\x01\xfe", "rmpupdate"},
	{"\xf3\x0f\x01\xff", "psmash"},
	{"\xf2\x0f\x01\xff", "pvalidate"},
	{"\x66\x0f\x01\xcc", "tdcall"},
	{"\x66\x0f\x01\xcd", "seamret"},
	{"\x66\x0f\x01\xce", "seamops"},
	{"\x66\x0f\x01\xcf", "seamcall"},
	{"\x0f\x01\xfa", "monitorx %rax,%ecx,%edx"},
	{"\x0f\x01\xfb", "mwaitx %eax,%ecx,%ebx"},
	{"\xd6", "udb"},
}

// names64 are the 64-bit registers by number.
var names64 = [16]string{
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
}

// ownForm prints what x86asm does not know and people meet, "" for the rest.
func (r *reader) ownForm(in *isa.Insn, sym func(uint64) (string, uint64)) string {
	if in.Class == isa.JumpAbs {
		return "jmpabs " + line.Place(in.Target, sym)
	}
	for _, o := range ownForms {
		if o.bytes == string(r.text) && (r.mode == isa.Mode64 || o.asm != "udb" && !strings.Contains(o.asm, "%r")) {
			return o.asm
		}
	}
	if s := r.random(); s != "" {
		return s
	}
	// One register operand, with REX.W or not: shadow stack, PTWRITE, RDPID.
	if r.mode != isa.Mode64 || r.space != spaceTwo || r.rep != 0xf3 || r.x66 || r.modrm < 0xc0 || r.rex2 {
		return ""
	}
	name := map[[2]byte]string{
		{0x1e, 1}: "rdssp", {0xae, 4}: "ptwrite", {0xae, 5}: "incssp", {0xc7, 7}: "rdpid",
	}[[2]byte{r.op, r.modrm >> 3 & 7}]
	if name == "" {
		return ""
	}
	reg := r.modrm&7 | r.rex&1<<3
	if r.op != 0xc7 {
		if r.rex&8 == 0 {
			return fmt.Sprintf("%s %%%s", name+map[bool]string{true: "l", false: "d"}[name == "ptwrite"], name32(reg))
		}
		name += "q"
	}
	return fmt.Sprintf("%s %%%s", name, names64[reg])
}

// random prints what draws a random number, "" for the rest.
func (r *reader) random() string {
	name := map[byte]string{6: "rdrand", 7: "rdseed"}[r.modrm>>3&7]
	if name == "" || r.mode != isa.Mode64 || r.space != spaceTwo || r.op != 0xc7 || r.rep != 0 || r.x66 || r.modrm < 0xc0 || r.rex2 {
		return ""
	}
	reg := r.modrm&7 | r.rex&1<<3
	if r.rex&8 == 0 {
		return name + " %" + name32(reg)
	}
	return name + " %" + names64[reg]
}

// name32 is the name of 32-bit register n.
func name32(n byte) string {
	if n < 8 {
		return "e" + names64[n][1:]
	}
	return names64[n] + "d"
}
