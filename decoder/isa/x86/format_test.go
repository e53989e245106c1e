package x86

import (
	"os"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestFormat would catch disassembly that misleads: an operand that x86asm gets
// wrong, and a target or symbol that is not the one taken. It would catch an
// instruction that x86asm misreads, printed as something else instead of .byte.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		m         isa.Mode
		hex, want string
	}{
		{isa.Mode64, "c3", "ret"},
		{isa.Mode64, "e8 fb0f0000", "call 0x2000 <f>"},
		{isa.Mode64, "75 0e", "jne 0x1010"},
		{isa.Mode64, "66 e9 fa0f0000", "data16 jmp 0x2000 <f>"},
		{isa.Mode64, "48 8b 05 09100000", "mov 0x1009(%rip),%rax  # 0x2010 <f+0x10>"},
		{isa.Mode64, "48 8b 05 f9ffffff", "mov -0x7(%rip),%rax  # 0x1000"},
		{isa.Mode64, "48 8b 80 00ffffff", "mov -0x100(%rax),%rax"},
		{isa.Mode64, "48 8b 04 c5 000000b0", "mov -0x50000000(,%rax,8),%rax"},
		{isa.Mode64, "65 48 8b 04 25 28000000", "mov %gs:0x28,%rax"},
		{isa.Mode64, "41 8b 04 24", "mov (%r12),%eax"},
		{isa.Mode16, "8b 87 ff ff", "mov -0x1(%bx),%ax"},
		{isa.Mode64, "c5 fc 28 05 f8ffffff", "vmovaps -0x8(%rip),%ymm0  # 0x1000"},
		{isa.Mode64, "c4 c1 78 10 3c 24", "vmovups (%r12),%xmm7"},
		{isa.Mode64, "62 f1 65 48 fe 5e 07", "vpaddd 0x1c0(%rsi),%zmm3,%zmm3"},   // 65 is no %gs
		{isa.Mode64, "c4 e2 79 90 04 08", ".byte 0xc4,0xe2,0x79,0x90,0x04,0x08"}, // VPGATHERDD
		{isa.Mode64, "f3 0f 1e fa", "endbr64"},
		{isa.Mode64, "c5 f8 77", "vzeroupper"},
		{isa.Mode64, "f3 48 0f 1e c8", "rdsspq %rax"},
		{isa.Mode64, "f3 0f ae e9", "incsspd %ecx"},
		{isa.Mode64, "f3 49 0f ae e2", "ptwriteq %r10"},
		{isa.Mode64, "f2 0f 01 ca", "erets"},
		{isa.Mode64, "d6", "udb"},
		{isa.Mode64, "d5 00 a1 1020000000000000", "jmpabs 0x2010 <f+0x10>"},
		{isa.Mode64, "66 48 0f 38 f6 c1", ".byte 0x66,0x48,0x0f,0x38,0xf6,0xc1"},              // ADCX
		{isa.Mode64, "62 f5 7c 08 58 c9", ".byte 0x62,0xf5,0x7c,0x08,0x58,0xc9"},              // VADDPH
		{isa.Mode64, "f3 0f ae 25 00000000", ".byte 0xf3,0x0f,0xae,0x25,0x00,0x00,0x00,0x00"}, // PTWRITE
		{isa.Mode64, "06", ".byte 0x06"},
		{isa.Mode64, "48 8b", ".byte 0x48,0x8b"},
		{isa.Mode64, "", ".byte"},
	} {
		if got := Format(unhex(t, c.hex), 0x1000, c.m, isatest.Symbol); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.m, c.hex, got, c.want)
		}
	}
}

// TestFormatObjdump would catch a misread instruction Format trusts x86asm
// with: its mnemonics, and the operands of VEX and EVEX instructions, must be
// objdump's, over all instructions of a binary.
func TestFormatObjdump(t *testing.T) {
	testsize.OnlyFull(t)
	files := append([]string{"/lib/x86_64-linux-gnu/libc.so.6"}, bigFiles...)
	files = files[:testsize.Of(t, 1, 1, len(files))]
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			continue
		}
		var seen, data, bad int
		m := isa.Mode64
		if head, err := readHead(file); err == nil && head[4] == 1 {
			m = isa.Mode32
		}
		objdump(t, func(d dumped) {
			name, want := mnemonic(d.asm)
			if name == "" || strings.Contains(d.asm, "(bad)") || d.text[0] == 0x9b { // FWAIT is joined
				return
			}
			seen++
			got, _, _ := strings.Cut(Format(d.text, d.addr, m, nil), "  #")
			ours, operands := mnemonic(got)
			if ours == ".byte" {
				data++
				return
			}
			if !sameName(ours, name) || isVector(d.text[0]) && m == isa.Mode64 && !sameOperands(operands, want) {
				if bad++; bad < 20 {
					t.Errorf("% x: %q, objdump %q", d.text, got, d.asm)
				}
			}
		}, "-d", "-M", "intel64", file)
		t.Logf("%s: %d instructions, %d printed as .byte, %d wrong", file, seen, data, bad)
	}
}

func isVector(b byte) bool { return b == 0xc4 || b == 0xc5 || b == 0x62 }

// sameOperands compares operands but for spellings: no displacement or one of
// 0, scale 1 or none, a predicate as immediate or in the name.
func sameOperands(a, b string) bool {
	for _, o := range []*string{&a, &b} {
		*o = strings.NewReplacer(" ", "", ",1)", ")", "0x0(", "(").Replace(*o)
		if i := strings.IndexByte(*o, ','); i > 0 && (*o)[0] == '$' {
			*o = (*o)[i+1:]
		}
	}
	return a == b
}

// sameName compares mnemonics but for size suffixes and other spellings.
func sameName(a, b string) bool {
	if i := strings.IndexByte(a, ','); i >= 0 {
		a = a[:i]
	}
	a, b = strings.TrimRight(a, "bwlqs"), strings.TrimRight(b, "bwlqs") // fild, filds
	for _, p := range [][2]string{
		{"mov", "mova"}, {"movsxd", "mov"}, {"movsx", "mov"}, {"cdqe", "clt"}, {"cdq", "cltd"}, {"cqo", "cqto"}, {"icebp", "int1"},
		{"cbw", "cbt"}, {"cwde", "cwt"}, {"cwd", "cwtd"}, {"nop", "xchg"}, {"sal", "sh"},
	} {
		if a == p[0] && b == p[1] {
			return true
		}
	}
	for _, p := range []string{"vpcmp", "vcmp", "vpclmul"} {
		if strings.HasPrefix(a, p) && strings.HasPrefix(b, p) {
			return true // predicate as immediate or in the name
		}
	}
	return a == b || strings.TrimRight(a, "xyz") == strings.TrimRight(b, "xyz")
}
