package x86

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// TestCET would catch a wrong length, class or flag of the control-flow
// enforcement instructions, which sit among NOPs.
func TestCET(t *testing.T) {
	for _, c := range isatest.Cases(t, "cet") {
		check(t, c)
	}
}

// TestAVX512 would catch a wrong length of any AVX-512 instruction: a map
// without its immediate, or an opcode with one too many.
func TestAVX512(t *testing.T) {
	f, err := os.Open("testdata/avx512.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		hex, _, ok := strings.Cut(sc.Text(), "\t")
		if !ok {
			continue // comment
		}
		rows++
		check(t, isatest.Case{Mode: m64, Code: hex})
	}
	if rows < 1300 {
		t.Errorf("%d rows, want at least 1300", rows)
	}
}

// operands are ModRM bytes with what follows them, in all shapes; the low
// digit's reg field is set by the tests.
var operands = []string{"c0", "00", "40 7f", "80 78563412", "04 24", "44 24 7f", "84 88 78563412", "04 25 78563412", "05 78563412"}

// checkShapes checks the instruction lead, ModRM with reg and every shape of
// operand in shapes, imm bytes of immediate.
func checkShapes(t *testing.T, lead string, shapes []string, reg byte, imm int, class isa.Class, flags isa.Flags) {
	t.Helper()
	for _, o := range shapes {
		b := unhex(t, o)
		b[0] |= reg << 3
		var hex strings.Builder
		hex.WriteString(lead)
		for _, c := range b {
			hex.WriteString(" " + hexByte(c))
		}
		hex.WriteString(strings.Repeat(" 5a", imm))
		check(t, isatest.Case{Mode: m64, Code: hex.String(), Want: isa.Insn{Class: class, Flags: flags}})
	}
}

func hexByte(c byte) string {
	const d = "0123456789abcdef"
	return string([]byte{d[c>>4], d[c&15]})
}

const anyReg = 8 // of apxForms: all values of ModRM's reg field

// apxForms are the instructions of EVEX map 4 (APX specification, "EVEX
// Extension of Legacy Instructions"; 66 in pp doubles as operand size).
var apxForms = []struct {
	name  string
	pp    string // the values of pp it takes: n none, 6 66, 3 F3, 2 F2
	first byte   // opcodes from
	last  byte   // to
	reg   byte   // ModRM.reg, or anyReg
	imm   int    // bytes; -4 is 2 with pp 66 unless W, else 4
	where string // r register, m memory
}{
	{"ADD", "n6", 0x00, 0x03, anyReg, 0, "rm"},
	{"OR", "n6", 0x08, 0x0b, anyReg, 0, "rm"},
	{"ADC", "n6", 0x10, 0x13, anyReg, 0, "rm"},
	{"SBB", "n6", 0x18, 0x1b, anyReg, 0, "rm"},
	{"AND", "n6", 0x20, 0x23, anyReg, 0, "rm"},
	{"SHLD imm", "n6", 0x24, 0x24, anyReg, 1, "rm"},
	{"SUB", "n6", 0x28, 0x2b, anyReg, 0, "rm"},
	{"SHRD imm", "n6", 0x2c, 0x2c, anyReg, 1, "rm"},
	{"XOR", "n6", 0x30, 0x33, anyReg, 0, "rm"},
	{"CCMPscc", "n6", 0x38, 0x3b, anyReg, 0, "rm"},
	{"CMOVcc, CFCMOVcc", "n6", 0x40, 0x4f, anyReg, 0, "rm"},
	{"SETcc", "2", 0x40, 0x4f, 0, 0, "rm"},
	{"MOVBE", "n6", 0x60, 0x61, anyReg, 0, "rm"},
	{"WRUSS", "6", 0x65, 0x65, anyReg, 0, "m"},
	{"WRSS", "n", 0x66, 0x66, anyReg, 0, "m"},
	{"ADCX", "6", 0x66, 0x66, anyReg, 0, "rm"},
	{"ADOX", "3", 0x66, 0x66, anyReg, 0, "rm"},
	{"IMUL imm", "n6", 0x69, 0x69, anyReg, -4, "rm"},
	{"IMUL imm8", "n6", 0x6b, 0x6b, anyReg, 1, "rm"},
	{"group 1, CCMPscc", "n", 0x80, 0x80, anyReg, 1, "rm"},
	{"group 1, CCMPscc", "n6", 0x81, 0x81, anyReg, -4, "rm"},
	{"group 1, CCMPscc", "n6", 0x83, 0x83, anyReg, 1, "rm"},
	{"CTESTscc", "n6", 0x84, 0x85, anyReg, 0, "rm"},
	{"POPCNT", "n6", 0x88, 0x88, anyReg, 0, "rm"},
	{"MOVRS", "n6", 0x8a, 0x8b, anyReg, 0, "m"},
	{"POP2, POP2P", "n", 0x8f, 0x8f, 0, 0, "r"},
	{"SHLD CL", "n6", 0xa5, 0xa5, anyReg, 0, "rm"},
	{"SHRD CL", "n6", 0xad, 0xad, anyReg, 0, "rm"},
	{"IMUL", "n6", 0xaf, 0xaf, anyReg, 0, "rm"},
	{"group 2 imm", "n6", 0xc0, 0xc1, anyReg, 1, "rm"},
	{"group 2", "n6", 0xd0, 0xd3, anyReg, 0, "rm"},
	{"SHA1RNDS4", "n", 0xd4, 0xd4, anyReg, 1, "rm"},
	{"AESENCWIDE, AESDECWIDE", "3", 0xd8, 0xd8, anyReg, 0, "m"},
	{"SHA1NEXTE, SHA1MSG, SHA256", "n", 0xd8, 0xdd, anyReg, 0, "rm"},
	{"ENCODEKEY", "3", 0xda, 0xdb, anyReg, 0, "r"},
	{"AESENCKL, AESDECKL", "3", 0xdc, 0xdf, anyReg, 0, "m"},
	{"CRC32", "n6", 0xf0, 0xf1, anyReg, 0, "rm"},
	{"INVEPT, INVVPID, INVPCID", "3", 0xf0, 0xf2, anyReg, 0, "m"},
	{"TZCNT, LZCNT", "n6", 0xf4, 0xf5, anyReg, 0, "rm"},
	{"CTESTscc imm8", "n", 0xf6, 0xf6, 0, 1, "rm"},
	{"CTESTscc imm", "n6", 0xf7, 0xf7, 1, -4, "rm"},
	{"NOT", "n6", 0xf6, 0xf7, 2, 0, "rm"},
	{"NEG", "n6", 0xf6, 0xf7, 3, 0, "rm"},
	{"MUL", "n6", 0xf6, 0xf7, 4, 0, "rm"},
	{"IDIV", "n6", 0xf6, 0xf7, 7, 0, "rm"},
	{"MOVDIR64B, ENQCMD, ENQCMDS", "623", 0xf8, 0xf8, anyReg, 0, "m"},
	{"URDMSR, UWRMSR", "23", 0xf8, 0xf8, anyReg, 0, "r"},
	{"MOVDIRI", "n", 0xf9, 0xf9, anyReg, 0, "m"},
	{"AADD, AAND, AOR, AXOR", "n623", 0xfc, 0xfc, anyReg, 0, "m"},
	{"INC, DEC", "n6", 0xfe, 0xff, 0, 0, "rm"},
	{"PUSH2, PUSH2P", "n", 0xff, 0xff, 6, 0, "r"},
}

// TestAPX would catch a wrong length of an instruction of EVEX map 4, whose
// immediates go by opcode, ModRM and operand size.
func TestAPX(t *testing.T) {
	for _, f := range apxForms {
		var shapes []string
		if strings.Contains(f.where, "r") {
			shapes = append(shapes, operands[0])
		}
		if strings.Contains(f.where, "m") {
			shapes = append(shapes, operands[1:]...)
		}
		for _, pp := range f.pp {
			for _, w := range []byte{0, 0x80} {
				p1 := w | 0x7c | byte(strings.IndexRune("n632", pp))
				imm := f.imm
				if imm == -4 {
					if imm = 4; pp == '6' && w == 0 {
						imm = 2
					}
				}
				for op := int(f.first); op <= int(f.last); op++ {
					// R3-B4 set and clear, NDD and NF set and clear.
					for _, p := range [][2]byte{{0xf4, 0x08}, {0x0c, 0x10}, {0xf4, 0x1c}} {
						lead := "62 " + hexByte(p[0]) + " " + hexByte(p1) + " " + hexByte(p[1]) + " " + hexByte(byte(op))
						for reg := byte(0); reg < 8; reg++ {
							if f.reg == anyReg || f.reg == reg {
								checkShapes(t, lead, shapes, reg, imm, isa.Other, 0)
							}
						}
					}
				}
			}
		}
	}
}

// TestAPXVector would catch APX forms outside map 4: VEX instructions promoted
// to EVEX, REX2, and U and X4 in the second payload byte.
func TestAPXVector(t *testing.T) {
	for _, c := range isatest.Cases(t, "apx") {
		check(t, c)
	}
}
