package sim

import (
	"encoding/binary"
	"fmt"
)

// label names a place in an asm's code before it is known.
type label int

type fixup struct {
	off  int // offset of the displacement, bytes
	size int // 1 or 4 bytes, relative to its own end
	to   label
}

// asm emits x86-64 machine code at a base address. Its errors are the
// generator's own faults and panic.
type asm struct {
	base   uint64
	buf    []byte
	labels []int // offset of each label, -1 while unbound
	fixups []fixup
}

func (a *asm) pc() uint64 { return a.base + uint64(len(a.buf)) }

func (a *asm) raw(b ...byte) { a.buf = append(a.buf, b...) }

func (a *asm) newLabel() label {
	a.labels = append(a.labels, -1)
	return label(len(a.labels) - 1)
}

func (a *asm) bind(l label) { a.labels[l] = len(a.buf) }

func (a *asm) here() label {
	l := a.newLabel()
	a.bind(l)
	return l
}

// addr returns the address of a bound label.
func (a *asm) addr(l label) uint64 {
	if a.labels[l] < 0 {
		panic("sim: label never bound")
	}
	return a.base + uint64(a.labels[l])
}

// ref8 emits op and an 8-bit displacement to l.
func (a *asm) ref8(l label, op ...byte) {
	a.raw(op...)
	a.fixups = append(a.fixups, fixup{len(a.buf), 1, l})
	a.raw(0)
}

// ref32 emits op and a 32-bit displacement to l.
func (a *asm) ref32(l label, op ...byte) {
	a.raw(op...)
	a.fixups = append(a.fixups, fixup{len(a.buf), 4, l})
	a.raw(0, 0, 0, 0)
}

func (a *asm) align(n int, fill byte) {
	for len(a.buf)%n != 0 {
		a.raw(fill)
	}
}

// finish resolves the displacements.
func (a *asm) finish() {
	for _, f := range a.fixups {
		d := int64(a.addr(f.to)) - int64(a.base) - int64(f.off+f.size)
		switch {
		case f.size == 1 && d == int64(int8(d)):
			a.buf[f.off] = byte(d)
		case f.size == 4:
			binary.LittleEndian.PutUint32(a.buf[f.off:], uint32(d))
		default:
			panic(fmt.Sprintf("sim: displacement %d at %#x does not fit a byte", d, a.base+uint64(f.off)))
		}
	}
	a.fixups = nil
}

// rel32 returns op and the 32-bit displacement that leads from an
// instruction at from to the address to.
func rel32(from, to uint64, op ...byte) []byte {
	b := append([]byte(nil), op...)
	return binary.LittleEndian.AppendUint32(b, uint32(to-from-uint64(len(op))-4))
}

// rel8 is rel32 with one byte; ok is false where it does not reach.
func rel8(from, to uint64, op byte) (b []byte, ok bool) {
	d := int64(to - from - 2)
	return []byte{op, byte(d)}, d == int64(int8(d))
}

// Forms of NOP that Linux patches in (asm/nops.h, v6.1).
func nop2() []byte { return []byte{0x66, 0x90} }
func nop5() []byte { return []byte{0x0f, 0x1f, 0x44, 0x00, 0x00} }

// plainInsns returns instructions that go on to the next, of many lengths and encodings.
func plainInsns() [][]byte {
	return [][]byte{
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x11, 0x22, 0x33, 0x44},
		{0x0f, 0x1f, 0x84, 0x00, 0x11, 0x22, 0x33, 0x44},
		{0x66, 0x0f, 0x1f, 0x84, 0x00, 0x11, 0x22, 0x33, 0x44},
		{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x11, 0x22, 0x33, 0x44}, // 10 bytes
		{0x66, 0x66, 0x66, 0x66, 0x90},                               // the old five-byte NOP
		{0x50},                                                       // push %rax
		{0x58},                                                       // pop %rax
		{0x31, 0xc0},                                                 // xor %eax,%eax
		{0x48, 0x89, 0xd8},                                           // mov %rbx,%rax
		{0x48, 0x83, 0xc0, 0x08},                                     // add $8,%rax
		{0xb8, 0x01, 0x02, 0x03, 0x04},                               // mov $imm32,%eax
		{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8},                         // movabs $imm64,%rax
		{0x48, 0x8b, 0x43, 0x10},                                     // mov 16(%rbx),%rax
		{0x8b, 0x05, 0x10, 0x20, 0x00, 0x00},                         // mov 0x2010(%rip),%eax
		{0x48, 0x8d, 0x44, 0x24, 0x20},                               // lea 32(%rsp),%rax
		{0x81, 0x7c, 0x24, 0x08, 0xff, 0x00, 0x00, 0x00},             // cmpl $255,8(%rsp)
		{0x48, 0xc7, 0x84, 0x24, 0x80, 0, 0, 0, 1, 0, 0, 0},          // movq $1,128(%rsp), 12 bytes
		{0xc5, 0xf8, 0x77},                                           // vzeroupper
		{0xc4, 0xe2, 0x79, 0x18, 0xc1},                               // vbroadcastss %xmm1,%xmm0
		{0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1},                         // vmovaps %zmm1,%zmm0
		{0xf3, 0x90},                                                 // pause
		{0x0f, 0xae, 0xe8},                                           // lfence
		{0xf3, 0xa4},                                                 // rep movsb
		{0xf0, 0x0f, 0xb1, 0x13},                                     // lock cmpxchg %edx,(%rbx)
		{0x66, 0xb8, 0x34, 0x12},                                     // mov $imm16,%ax
		{0xa8, 0x04},                                                 // test $4,%al
		{0xf6, 0x43, 0x04, 0x80},                                     // testb $0x80,4(%rbx)
		{0xf7, 0xc7, 0x00, 0x02, 0x00, 0x00},                         // test $0x200,%edi
	}
}
