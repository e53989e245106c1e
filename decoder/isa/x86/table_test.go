package x86

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// want is one row: the bytes of one instruction and what Decode must make of
// it. All bytes given belong to it.
type want struct {
	m     isa.Mode
	hex   string
	class isa.Class
	flags isa.Flags
	to    uint64
}

const (
	m16 = isa.Mode16
	m32 = isa.Mode32
	m64 = isa.Mode64
)

// base is where the rows' instructions lie.
const base = 0x401000

// TestClasses would catch an instruction of the flow in the wrong class, a
// wrong target, or a missing flag: each row is one that tracing depends on.
func TestClasses(t *testing.T) {
	for _, w := range []want{
		// Near branches.
		{m64, "eb 10", isa.Jump, 0, base + 0x12},
		{m64, "eb fe", isa.Jump, 0, base},
		{m64, "e9 00010000", isa.Jump, 0, base + 0x105},
		{m64, "e8 fbffffff", isa.Call, 0, base},
		{m64, "e8 00000000", isa.Call, isa.FlagZeroCall, base + 5},
		{m64, "70 00", isa.Cond, 0, base + 2},
		{m64, "7f 80", isa.Cond, 0, base + 2 - 0x80},
		{m64, "2e 75 02", isa.Cond, 0, base + 5},
		{m64, "0f 80 00000000", isa.Cond, 0, base + 6},
		{m64, "0f 8f ffffff7f", isa.Cond, 0, base + 6 + 0x7fffffff},
		{m64, "e0 01", isa.Cond, 0, base + 3},
		{m64, "e1 01", isa.Cond, 0, base + 3},
		{m64, "e2 01", isa.Cond, 0, base + 3},
		{m64, "e3 01", isa.Cond, 0, base + 3},
		{m64, "67 e3 01", isa.Cond, 0, base + 4},
		{m64, "ff e0", isa.JumpInd, 0, 0},
		{m64, "3e ff e0", isa.JumpInd, 0, 0}, // NOTRACK
		{m64, "41 ff e3", isa.JumpInd, 0, 0},
		{m64, "ff 25 00000000", isa.JumpInd, 0, 0},
		{m64, "ff 24 c5 00000000", isa.JumpInd, 0, 0},
		{m64, "ff d0", isa.CallInd, 0, 0},
		{m64, "41 ff 53 08", isa.CallInd, 0, 0},
		{m64, "c3", isa.Return, 0, 0},
		{m64, "f3 c3", isa.Return, 0, 0},
		{m64, "f2 c3", isa.Return, 0, 0}, // BND
		{m64, "c2 0800", isa.Return, 0, 0},
		// Operand size on near branches: without effect in 64-bit code.
		{m64, "66 e9 00010000", isa.Jump, 0, base + 0x106},
		{m64, "66 e8 00000000", isa.Call, isa.FlagZeroCall, base + 6},
		{m64, "66 0f 84 10000000", isa.Cond, 0, base + 0x17},
		{m64, "66 eb 10", isa.Jump, 0, base + 0x13},
		{m64, "66 c3", isa.Return, 0, 0},
		{m64, "66 48 e9 00010000", isa.Jump, 0, base + 0x107},
		{m32, "66 e9 0001", isa.Jump, 0, 0x1104},
		{m32, "66 e8 0000", isa.Call, isa.FlagZeroCall, 0x1004},
		{m32, "66 0f 84 1000", isa.Cond, 0, 0x1015},
		{m32, "66 eb 10", isa.Jump, 0, 0x1013},
		{m32, "66 74 10", isa.Cond, 0, 0x1013},
		{m32, "e9 00000080", isa.Jump, 0, 0x80401005},
		{m32, "e9 00f0bfff", isa.Jump, 0, 5},
		{m32, "e9 f0efbfff", isa.Jump, 0, 0xfffffff5},
		{m16, "e9 0001", isa.Jump, 0, base + 0x103},
		{m16, "e9 fdef", isa.Jump, 0, 0x400000},
		{m16, "e9 fcef", isa.Jump, 0, 0x40ffff},
		{m16, "66 e9 00000100", isa.Jump, 0, base + 0x10006},
		{m16, "66 e8 00000000", isa.Call, isa.FlagZeroCall, base + 6},
		{m16, "0f 85 1000", isa.Cond, 0, base + 0x14},
		{m16, "eb fe", isa.Jump, 0, base},
		// Far transfers.
		{m32, "9a 44332211 0800", isa.FarJump, 0, 0},
		{m32, "66 9a 2211 0800", isa.FarJump, 0, 0},
		{m16, "ea 2211 0800", isa.FarJump, 0, 0},
		{m16, "66 ea 44332211 0800", isa.FarJump, 0, 0},
		{m64, "ff 18", isa.FarJump, 0, 0},
		{m64, "48 ff 28", isa.FarJump, 0, 0},
		{m64, "cb", isa.FarReturn, 0, 0},
		{m64, "48 cb", isa.FarReturn, 0, 0},
		{m64, "ca 0400", isa.FarReturn, 0, 0},
		{m64, "48 cf", isa.FarReturn, 0, 0},
		{m32, "cf", isa.FarReturn, 0, 0},
		{m64, "0f 05", isa.Syscall, 0, 0},
		{m64, "48 0f 07", isa.FarReturn, 0, 0},
		{m64, "0f 34", isa.Syscall, 0, 0},
		{m64, "48 0f 35", isa.FarReturn, 0, 0},
		{m64, "0f aa", isa.FarReturn, 0, 0}, // RSM
		{m64, "f2 0f 01 ca", isa.FarReturn, 0, 0},
		{m64, "f3 0f 01 ca", isa.FarReturn, 0, 0},
		{m64, "0f 01 ca", isa.Other, 0, 0}, // CLAC
		{m32, "f2 0f 01 ca", isa.Other, 0, 0},
		{m64, "f3 0f 01 ec", isa.FarReturn, 0, 0},
		{m64, "0f 01 c2", isa.VMEnter, 0, 0},
		{m64, "0f 01 c3", isa.VMEnter, 0, 0},
		{m64, "66 0f 01 cd", isa.VMEnter, 0, 0}, // SEAMRET
		{m64, "0f 01 c1", isa.Other, 0, 0},      // VMCALL
		{m64, "d5 00 a1 8877665544332211", isa.JumpAbs, 0, 0x1122334455667788},
		// Traps.
		{m64, "cc", isa.Break, 0, 0},
		{m64, "cd 80", isa.SoftInt, 0, 0},
		{m64, "cd 03", isa.SoftInt, 0, 0},
		{m64, "f1", isa.SoftInt, 0, 0},
		{m32, "ce", isa.SoftInt, 0, 0},
		{m64, "0f 0b", isa.Undefined, 0, 0},
		{m64, "0f b9 40 05", isa.Undefined, 0, 0},
		{m64, "67 0f b9 40 05", isa.Undefined, 0, 0},
		{m64, "0f ff 04 25 00000000", isa.Undefined, 0, 0},
		{m64, "d6", isa.Undefined, 0, 0},
		{m32, "d6", isa.Other, 0, 0},
		{m64, "f4", isa.Other, 0, 0},
		// Address space and trace control.
		{m64, "0f 22 d8", isa.SetSpace, 0, 0},
		{m64, "41 0f 22 df", isa.SetSpace, 0, 0},
		{m64, "0f 22 18", isa.SetSpace, 0, 0}, // mod does not count
		{m64, "0f 22 c0", isa.Other, 0, 0},
		{m64, "44 0f 22 c0", isa.Other, 0, 0}, // CR8
		{m64, "0f 20 d8", isa.Other, 0, 0},
		{m64, "d5 80 22 d8", isa.SetSpace, 0, 0},
		{m64, "0f 30", isa.TraceControl, 0, 0},
		{m64, "0f 01 c6", isa.TraceControl, 0, 0},
		{m64, "f3 0f 01 c6", isa.TraceControl, 0, 0},
		{m64, "f2 0f 01 c6", isa.Other, 0, 0},
		{m64, "0f c7 18", isa.TraceControl, 0, 0},
		{m64, "48 0f c7 68 40", isa.TraceControl, 0, 0},
		{m64, "0f c7 60 40", isa.Other, 0, 0},
		{m64, "c4 e7 7a f6 c0 701501c0", isa.TraceControl, 0, 0},
		{m64, "62 f7 7e 08 f6 c0 701501c0", isa.TraceControl, 0, 0},
		{m64, "c4 e7 7b f6 c0 701501c0", isa.Other, 0, 0}, // RDMSR
		// Flags.
		{m64, "f3 a4", isa.Other, isa.FlagRep, 0},
		{m64, "f3 48 a5", isa.Other, isa.FlagRep, 0},
		{m64, "f2 ae", isa.Other, isa.FlagRep, 0},
		{m64, "66 f3 6f", isa.Other, isa.FlagRep, 0},
		{m64, "a4", isa.Other, 0, 0},
		{m64, "f3 0f a7 c8", isa.Other, isa.FlagRep, 0},
		{m64, "f3 0f ae e0", isa.Other, isa.FlagPTWrite, 0},
		{m64, "f3 48 0f ae 65 f8", isa.Other, isa.FlagPTWrite, 0},
		{m64, "0f ae 20", isa.Other, 0, 0}, // XSAVE
		{m64, "c7 f8 00000000", isa.Other, isa.FlagTx, 0},
		{m64, "66 c7 f8 0000", isa.Other, isa.FlagTx, 0},
		{m64, "c6 f8 01", isa.Other, isa.FlagTx, 0},
		{m64, "0f 01 d5", isa.Other, isa.FlagTx, 0},
		{m64, "f2 f0 0f b1 0f", isa.Other, isa.FlagTx, 0},
		{m64, "f2 87 07", isa.Other, isa.FlagTx, 0},
		{m64, "f3 c7 07 00000000", isa.Other, isa.FlagTx, 0},
		{m64, "f3 89 07", isa.Other, isa.FlagTx, 0},
		{m64, "f3 87 c7", isa.Other, 0, 0},
		{m64, "90", isa.Other, isa.FlagNop, 0},
		{m64, "66 90", isa.Other, isa.FlagNop, 0},
		{m64, "48 90", isa.Other, isa.FlagNop, 0},
		{m64, "49 90", isa.Other, 0, 0}, // XCHG
		{m64, "d5 10 90", isa.Other, 0, 0},
		{m64, "f3 90", isa.Other, 0, 0}, // PAUSE
		{m64, "0f 1f 44 00 00", isa.Other, isa.FlagNop, 0},
		{m64, "66 66 2e 0f 1f 84 00 00000000", isa.Other, isa.FlagNop, 0},
		{m64, "0f 18 08", isa.Other, 0, 0}, // PREFETCH
		{m64, "0f 1c 00", isa.Other, 0, 0}, // CLDEMOTE
		{m64, "0f 0d 08", isa.Other, 0, 0},
	} {
		check(t, w)
	}
}

// check decodes w and compares. Bytes behind must not matter.
func check(t *testing.T, w want) {
	t.Helper()
	b := unhex(t, w.hex)
	exp := isa.Insn{Len: uint8(len(b)), Class: w.class, Flags: w.flags, Target: w.to}
	for _, tail := range []string{"", "\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff"} {
		var in isa.Insn
		if s := (Decoder{}).Decode(&in, append(b[:len(b):len(b)], tail...), base, w.m); s != isa.OK || in != exp {
			t.Errorf("%v %s: status %d %+v, want %+v", w.m, w.hex, s, in, exp)
			return
		}
	}
	for n := range b {
		var in isa.Insn
		if s := (Decoder{}).Decode(&in, b[:n], base, w.m); s != isa.Short {
			t.Errorf("%v %s cut to %d bytes: status %d, want Short", w.m, w.hex, n, s)
		}
	}
}

// TestBad would catch bytes taken for an instruction that fault on every
// processor, or an answer put off (Short) though nothing could save them.
func TestBad(t *testing.T) {
	for _, w := range []struct {
		m   isa.Mode
		hex string
	}{
		{m64, "06"}, {m64, "07"}, {m64, "0e"}, {m64, "16"}, {m64, "17"}, {m64, "1e"}, {m64, "1f"}, {m64, "27"}, {m64, "2f"},
		{m64, "37"}, {m64, "3f"}, {m64, "60"}, {m64, "61"}, {m64, "82"}, {m64, "9a"}, {m64, "ce"}, {m64, "d4"}, {m64, "ea"},
		{m64, "0f 04"}, {m64, "0f 0a"}, {m64, "0f 0c"}, {m64, "0f 24"}, {m64, "0f 26"}, {m64, "0f 36"}, {m64, "0f 39"}, {m64, "0f 7a"},
		{m64, "0f 38 0c"}, {m64, "0f 3a 00"}, {m64, "0f b8"}, {m64, "66 0f b8"}, {m64, "f3 0f 78"}, {m64, "d5 80 b8"}, {m64, "0f 00 f0"}, {m64, "0f 00 38"}, {m64, "0f 01 d2"}, {m64, "0f 01 28"},
		{m64, "0f 71 00"}, {m64, "0f 71 c0"}, {m64, "0f 73 c8"}, {m64, "0f ba c0"}, {m64, "0f c7 00"}, {m64, "0f c7 c8"}, {m64, "0f ae c0"},
		{m64, "0f a6 d8"}, {m64, "0f 22 c8"}, {m64, "66 0f 78 c8"}, {m64, "0f 01 ec"}, {m32, "f3 0f 01 ec"},
		{m64, "8c f0"}, {m64, "8e c8"}, {m64, "8d c0"}, {m64, "c6 c8"}, {m64, "c7 08"}, {m64, "fe d0"}, {m64, "ff f8"}, {m64, "ff d8"}, {m64, "ff e8"},
		{m64, "8f 20"}, {m64, "8f eb"}, // XOP of no map
		{m64, "c4 e0"}, {m64, "c4 e4"}, {m64, "c4 ff"}, {m64, "62 f0"}, {m32, "62 f4"},
		{m64, "66 c5"}, {m64, "f2 c4"}, {m64, "f0 62"}, {m64, "48 c5"}, {m64, "f3 8f e8"}, {m32, "66 c5 f8"},
		{m64, "d5 00 0f"}, {m64, "d5 00 48"}, {m64, "d5 00 75"}, {m64, "d5 00 e8"}, {m64, "d5 00 66"}, {m64, "d5 00 c5"}, {m64, "d5 00 d5"},
		{m64, "d5 80 38"}, {m64, "d5 80 84"}, {m64, "d5 80 04"}, {m64, "d5 80 ae 20"}, {m64, "d5 08 a1"}, {m64, "66 d5 00 a1"}, {m64, "48 d5"}, {m64, "d5 00 06"}, {m64, "f3 d5 00 a4"}, {m64, "64 67 d5 00 a1"},
		// Longer than 15 bytes, known as soon as it is.
		{m64, "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66"},
		{m64, "66 66 66 66 66 66 66 66 66 66 66 66 66 66 8b"},
		{m64, "66 66 66 66 66 66 66 66 66 66 66 66 66 66 0f"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 67 67 0f 38"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 8b 84"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 67 c4"},
		{m64, "67 67 67 67 67 67 67 67 67 67 67 62"},
		{isa.ModeUnknown, "90"}, {isa.ModeA64, "90"},
	} {
		in := isa.Insn{Len: 9}
		if s := (Decoder{}).Decode(&in, unhex(t, w.hex), base, w.m); s != isa.Bad || in != (isa.Insn{}) {
			t.Errorf("%v %s: status %d %+v, want Bad", w.m, w.hex, s, in)
		}
	}
}
