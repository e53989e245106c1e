package x86

import (
	"encoding/hex"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestSyntaxes would catch an instruction printed in the syntax of another assembler, with
// its operands the wrong way round, or without the name of its target.
func TestSyntaxes(t *testing.T) {
	sym := func(addr uint64) (string, uint64) {
		if addr >= 0x1100 && addr < 0x1200 {
			return "f", 0x1100
		}
		return "", 0
	}
	for _, x := range []struct{ code, gnu, intel, goes string }{
		{"4889c8", "mov %rcx,%rax", "mov rax, rcx", "MOVQ CX, AX"},
		{"488b4708", "mov 0x8(%rdi),%rax", "mov rax, qword ptr [rdi+0x8]", "MOVQ 0x8(DI), AX"},
		{"e8fb000000", "call 0x1100 <f>", "call 0x1100 <f>", "CALL 0x1100 <f>"},
		{"7410", "je 0x1012", "jz 0x1012", "JE 0x1012"},
		{"ffd0", "call *%rax", "call rax", "CALL AX"},
		{"8b05fa000000", "mov 0xfa(%rip),%eax  # 0x1100 <f>", "mov eax, dword ptr [rip+0xfa]  # 0x1100 <f>", "MOVL 0xfa(IP), AX  # 0x1100 <f>"},
		{"f30f1efa", "endbr64", "endbr64", "endbr64"},
		{"f3480f1ec8", "rdsspq %rax", "rdsspq rax", "rdsspq rax"},
		{"f30faee0", "ptwritel %eax", "ptwrite eax", "ptwrite eax"},
		{"0f0b", "ud2", "ud2", "UD2"},
		{"06", ".byte 0x06", ".byte 0x06", ".byte 0x06"},
	} {
		code, err := hex.DecodeString(x.code)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range []struct {
			got, want string
		}{
			{Decoder{}.Format(code, 0x1000, isa.Mode64, sym), x.gnu},
			{Decoder{}.FormatIntel(code, 0x1000, isa.Mode64, sym), x.intel},
			{Decoder{}.FormatGo(code, 0x1000, isa.Mode64, sym), x.goes},
		} {
			if y.got != y.want {
				t.Errorf("%s: %q, want %q", x.code, y.got, y.want)
			}
		}
	}
}
