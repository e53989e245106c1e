package a64

import (
	"testing"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// opClasses are the classes of arm64asm's operations but Other; Jump stands for B
// with and without a condition.
var opClasses = map[arm64asm.Op]isa.Class{
	arm64asm.B: isa.Jump, arm64asm.BL: isa.Call, arm64asm.BR: isa.JumpInd, arm64asm.BLR: isa.CallInd,
	arm64asm.CBZ: isa.Cond, arm64asm.CBNZ: isa.Cond, arm64asm.TBZ: isa.Cond, arm64asm.TBNZ: isa.Cond,
	arm64asm.RET: isa.Return, arm64asm.ERET: isa.FarReturn, arm64asm.DRPS: isa.Undefined,
	arm64asm.SVC: isa.Syscall, arm64asm.HVC: isa.Syscall, arm64asm.SMC: isa.Syscall,
	arm64asm.BRK: isa.Break, arm64asm.HLT: isa.SoftInt,
	arm64asm.DCPS1: isa.Undefined, arm64asm.DCPS2: isa.Undefined, arm64asm.DCPS3: isa.Undefined,
	arm64asm.ISB: isa.Barrier, arm64asm.WFE: isa.Wait, arm64asm.WFI: isa.Wait,
}

// TestAsm would catch a class or target that differs from arm64asm's, wherever that
// knows a word: words spread over everything, densely over the branch group. It
// needs no other program. Classes that go on, which arm64asm does not tell apart,
// count as one.
func TestAsm(t *testing.T) {
	seen := map[isa.Class]int{}
	check := func(w uint32) {
		inst, err := arm64asm.Decode(word(w))
		if err != nil || !trusted(w) {
			return
		}
		class, target := opClasses[inst.Op], uint64(0)
		for _, a := range inst.Args {
			switch a := a.(type) {
			case arm64asm.Cond:
				if class == isa.Jump {
					class = isa.Cond
				}
			case arm64asm.PCRel:
				if class == isa.Jump || class == isa.Cond || class == isa.Call {
					target = at + uint64(a)
				}
			}
		}
		var in isa.Insn
		s := Decoder{}.Decode(&in, word(w), at, isa.ModeA64)
		if in.Class == isa.SetSpace || in.Class == isa.TraceControl {
			in.Class = isa.Other
		}
		if s != isa.OK || in.Class != class || in.Target != target {
			t.Fatalf("%08x %v: status %d, %+v, want %v to %#x", w, inst, s, in, class, target)
		}
		seen[class]++
	}
	for w := 0; w < 1<<32; w += 65_537 {
		check(uint32(w))
	}
	for i := uint32(0); i < 1<<29; i += 2_039 { // bits 28:26 are 101
		check(i>>26<<29 | 5<<26 | i&0x03ff_ffff)
	}
	for _, f := range forms {
		check(f.value)
		check(f.value | 0x5555_5555&^f.mask)
		check(f.value | 0xaaaa_aaaa&^f.mask)
	}
	for _, c := range opClasses {
		if seen[c] == 0 {
			t.Errorf("no %v among the words", c)
		}
	}
	t.Log(seen)
}
