package a32

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// plainCases are words of T32 that go on, as the GNU disassembler 2.40 prints
// them, but for an offset of 0, which it writes in halfwords' text.
var plainCases = []struct {
	w   uint32
	asm string
}{
	{0x0008, "movs r0, r1"}, {0x00d1, "lsls r1, r2, #3"}, {0x0811, "lsrs r1, r2, #32"}, {0x17e3, "asrs r3, r4, #31"},
	{0x18d1, "adds r1, r2, r3"}, {0x1fe0, "subs r0, r4, #7"}, {0x25ff, "movs r5, #255"}, {0x2a00, "cmp r2, #0"},
	{0x3301, "adds r3, #1"}, {0x3c10, "subs r4, #16"}, {0x400a, "ands r2, r1"}, {0x4243, "negs r3, r0"}, {0x421c, "tst r4, r3"},
	{0x4351, "muls r1, r2"}, {0x43c8, "mvns r0, r1"}, {0x4488, "add r8, r1"}, {0x4571, "cmp r1, lr"}, {0x46ec, "mov ip, sp"},
	{0x4b02, "ldr r3, 0xc010800c"}, {0x5453, "strb r3, [r2, r1]"}, {0x5f1a, "ldrsh r2, [r3, r4]"},
	{0x6013, "str r3, [r2]"}, {0x6f98, "ldr r0, [r3, #120]"}, {0x7fd9, "ldrb r1, [r3, #31]"}, {0x8062, "strh r2, [r4, #2]"},
	{0x9a01, "ldr r2, [sp, #4]"}, {0xa102, "add r1, pc, #8"}, {0xae00, "add r6, sp, #0"}, {0xb082, "sub sp, #8"}, {0xb01f, "add sp, #124"},
	{0xb2c8, "uxtb r0, r1"}, {0xba59, "rev16 r1, r3"}, {0xc10c, "stmia r1!, {r2, r3}"}, {0xc90c, "ldmia r1!, {r2, r3}"}, {0xc906, "ldmia r1, {r1, r2}"},

	{0xe8930006, "ldmia.w r3, {r1, r2}"}, {0xe92340f0, "stmdb r3!, {r4, r5, r6, r7, lr}"}, {0xe8521f04, "ldrex r1, [r2, #16]"},
	{0xe8432100, "strex r1, r2, [r3]"}, {0xe9d01202, "ldrd r1, r2, [r0, #8]"}, {0xe9621202, "strd r1, r2, [r2, #-8]!"}, {0xe8f31204, "ldrd r1, r2, [r3], #16"},
	{0xea4f0142, "mov.w r1, r2, lsl #1"}, {0xea11020c, "ands.w r2, r1, ip"}, {0xeba30193, "sub.w r1, r3, r3, lsr #2"}, {0xebb00f02, "cmp.w r0, r2"},
	{0xf04f0200, "mov.w r2, #0"}, {0xf04f31ff, "mov.w r1, #4294967295"}, {0xf44f7280, "mov.w r2, #256"}, {0xf1000801, "add.w r8, r0, #1"},
	{0xf0110fc0, "tst.w r1, #192"}, {0xf01220aa, "ands.w r0, r2, #2852170240"}, {0xf06f0102, "mvn.w r1, #2"}, {0xf1c10120, "rsb.w r1, r1, #32"},
	{0xf2001101, "addw r1, r0, #257"}, {0xf6ad0d10, "subw sp, sp, #2064"}, {0xf64f72ff, "movw r2, #65535"}, {0xf2c01234, "movt r2, #308"},
	{0xf3c10207, "ubfx r2, r1, #0, #8"}, {0xf3412107, "sbfx r1, r1, #8, #8"}, {0xfa02f103, "lsl.w r1, r2, r3"}, {0xfa31f002, "lsrs.w r0, r1, r2"},
	{0xfa5ff283, "uxtb.w r2, r3"}, {0xfab3f283, "clz r2, r3"}, {0xfb02f103, "mul.w r1, r2, r3"}, {0xfb024113, "mls r1, r2, r3, r4"},
	{0xfba12304, "umull r2, r3, r1, r4"}, {0xfbb2f1f3, "udiv r1, r2, r3"},
	{0xf8d01404, "ldr.w r1, [r0, #1028]"}, {0xf8c3d00c, "str.w sp, [r3, #12]"}, {0xf8521023, "ldr.w r1, [r2, r3, lsl #2]"}, {0xf8131b01, "ldrb.w r1, [r3], #1"},
	{0xf8522c04, "ldr.w r2, [r2, #-4]"}, {0xf8252d08, "strh.w r2, [r5, #-8]!"}, {0xf8df1008, "ldr.w r1, 0xc010800c"}, {0xf81f1004, "ldrb.w r1, 0xc0108000"},
	{0xf9911001, "ldrsb.w r1, [r1, #1]"}, {0xf8531e04, "ldrt r1, [r3, #4]"},

	// None, or not printed.
	{0xeaa10203, ".inst.w 0xeaa10203"}, {0xeac10203, ".inst.w 0xeac10203"}, {0xf0a00001, ".inst.w 0xf0a00001"}, {0xf891f000, ".inst.w 0xf891f000"},
	{0xf80f1001, ".inst.w 0xf80f1001"}, {0xed931a00, ".inst.w 0xed931a00"}, {0xb672, ".inst.n 0xb672"},
}

// TestPlain would catch an instruction of T32 printed with another register,
// number, order or name, and one printed that is none.
func TestPlain(t *testing.T) {
	for _, c := range plainCases {
		s := &sets[1]
		if c.w > 0xffff {
			s = &sets[2]
		}
		if got := (Decoder{}).Format(s.bytes(c.w), at, isa.ModeT32, nil); got != c.asm {
			t.Errorf("%0*x: %q, want %q", 2*s.size, c.w, got, c.asm)
		}
	}
}

// TestPlainReached would catch a form that no word can reach, because those above
// it, or those that decide, take all its words. It would catch a form whose value
// has bits outside its mask, too.
func TestPlainReached(t *testing.T) {
	for i, forms := range [][]form{plainA32, plainT16, plainT32} {
		s := &sets[i]
		for k := range forms {
			f := &forms[k]
			if f.value&^f.mask != 0 {
				t.Errorf("%s: %s: value %x has bits outside mask %x", s.name, f.asm, f.value, f.mask)
			}
			x, seen := isatest.Random(k), false
			for range 300 {
				w := f.value | x.Next()&^f.mask
				if s.size == 2 {
					w &= 0xffff
				}
				seen = seen || find(s.forms, w) == nil && find(forms, w) == f
			}
			if !seen {
				t.Errorf("%s: %s: never found", s.name, f.asm)
			}
		}
	}
}
