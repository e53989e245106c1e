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
	check := isatest.Printer((Decoder{}).Format).Checker(t)
	check(unhex(t, "c3"), isa.Mode64, "ret")
	check(unhex(t, "e8 fb0f0000"), isa.Mode64, "call 0x2000 <f>")
	check(unhex(t, "75 0e"), isa.Mode64, "jne 0x1010")
	check(unhex(t, "66 e9 fa0f0000"), isa.Mode64, "data16 jmp 0x2000 <f>")
	check(unhex(t, "48 8b 05 09100000"), isa.Mode64, "mov 0x1009(%rip),%rax  # 0x2010 <f+0x10>")
	check(unhex(t, "48 8b 05 f9ffffff"), isa.Mode64, "mov -0x7(%rip),%rax  # 0x1000")
	check(unhex(t, "48 8b 80 00ffffff"), isa.Mode64, "mov -0x100(%rax),%rax")
	check(unhex(t, "48 8b 04 c5 000000b0"), isa.Mode64, "mov -0x50000000(,%rax,8),%rax")
	check(unhex(t, "65 48 8b 04 25 28000000"), isa.Mode64, "mov %gs:0x28,%rax")
	check(unhex(t, "41 8b 04 24"), isa.Mode64, "mov (%r12),%eax")
	check(unhex(t, "8b 87 ff ff"), isa.Mode16, "mov -0x1(%bx),%ax")
	check(unhex(t, "c5 fc 28 05 f8ffffff"), isa.Mode64, "vmovaps -0x8(%rip),%ymm0  # 0x1000")
	check(unhex(t, "c4 c1 78 10 3c 24"), isa.Mode64, "vmovups (%r12),%xmm7")
	check(unhex(t, "62 f1 65 48 fe 5e 07"), isa.Mode64, "vpaddd 0x1c0(%rsi),%zmm3,%zmm3")   // 65 is no %gs
	check(unhex(t, "c4 e2 79 90 04 08"), isa.Mode64, ".byte 0xc4,0xe2,0x79,0x90,0x04,0x08") // VPGATHERDD
	check(unhex(t, "f3 0f 1e fa"), isa.Mode64, "endbr64")
	check(unhex(t, "c5 f8 77"), isa.Mode64, "vzeroupper")
	check(unhex(t, "f3 48 0f 1e c8"), isa.Mode64, "rdsspq %rax")
	check(unhex(t, "f3 0f ae e9"), isa.Mode64, "incsspd %ecx")
	check(unhex(t, "f3 49 0f ae e2"), isa.Mode64, "ptwriteq %r10")
	check(unhex(t, "f2 0f 01 ca"), isa.Mode64, "erets")
	check(unhex(t, "d6"), isa.Mode64, "udb")
	check(unhex(t, "0f 01 ca"), isa.Mode64, "clac")
	check(unhex(t, "f3 0f 01 d9"), isa.Mode64, "vmgexit")
	check(unhex(t, "48 0f c7 f2"), isa.Mode64, "rdrand %rdx")
	check(unhex(t, "41 0f c7 f9"), isa.Mode64, "rdseed %r9d")
	check(unhex(t, "d5 00 a1 1020000000000000"), isa.Mode64, "jmpabs 0x2010 <f+0x10>")
	check(unhex(t, "66 48 0f 38 f6 c1"), isa.Mode64, ".byte 0x66,0x48,0x0f,0x38,0xf6,0xc1")              // ADCX
	check(unhex(t, "62 f5 7c 08 58 c9"), isa.Mode64, ".byte 0x62,0xf5,0x7c,0x08,0x58,0xc9")              // VADDPH
	check(unhex(t, "f3 0f ae 25 00000000"), isa.Mode64, ".byte 0xf3,0x0f,0xae,0x25,0x00,0x00,0x00,0x00") // PTWRITE
	check(unhex(t, "06"), isa.Mode64, ".byte 0x06")
	check(unhex(t, "48 8b"), isa.Mode64, ".byte 0x48,0x8b")
	check(unhex(t, ""), isa.Mode64, ".byte")
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
		var seen, data int
		var bad isatest.Wrong
		m := isa.Mode64
		if head, err := readHead(file); err == nil && head[4] == 1 {
			m = isa.Mode32
		}
		objdump(t, func(d dumped) {
			name, want := mnemonic(d.Asm)
			if name == "" || strings.Contains(d.Asm, "(bad)") || d.code[0] == 0x9b { // FWAIT is joined
				return
			}
			seen++
			got, _, _ := strings.Cut((Decoder{}).Format(d.code, d.Addr, m, nil), "  #")
			ours, operands := mnemonic(got)
			if ours == ".byte" {
				data++
				return
			}
			if !sameName(ours, name) || isVector(d.code[0]) && m == isa.Mode64 && !sameOperands(operands, want) {
				bad.Add(t, "% x: %q, objdump %q", d.code, got, d.Asm)
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
