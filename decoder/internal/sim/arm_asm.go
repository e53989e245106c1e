package sim

import "encoding/binary"

// Inside of the machine of Arm's CPUs an address has bit 0 set where T32 is
// executed, as BX has it. An instruction is one number; of T32's with two
// halfwords the first is the upper one.

// thumb reports whether T32 is executed at a.
func thumb(a uint64) bool { return a&1 != 0 }

// plainAddr returns a as everyone else writes it.
func plainAddr(a uint64) uint64 { return a &^ 1 }

// lengthAt returns the length of the instruction w at a, bytes.
func lengthAt(a uint64, w uint32) int {
	if thumb(a) && w < 0xe8000000 {
		return 2
	}
	return 4
}

// textAt returns the bytes of the instructions ws at a.
func textAt(a uint64, ws ...uint32) (b []byte) {
	for _, w := range ws {
		switch {
		case lengthAt(a, w) == 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(w))
		case thumb(a):
			b = binary.LittleEndian.AppendUint16(b, uint16(w>>16))
			b = binary.LittleEndian.AppendUint16(b, uint16(w))
		default:
			b = binary.LittleEndian.AppendUint32(b, w)
		}
	}
	return b
}

// encoder returns the instruction at from that leads to to.
type encoder func(from, to uint64) uint32

type fixupArm struct {
	at  uint64
	enc encoder
	to  label
}

// asmArm emits Arm's machine code at a base address. Its errors are the
// generator's own faults and panic.
type asmArm struct {
	base   uint64
	text   []byte
	t32    bool     // what is emitted next is T32
	labels []uint64 // the address of each label, 0 while unbound
	fixups []fixupArm
}

func (a *asmArm) pc() uint64 {
	pc := a.base + uint64(len(a.text))
	if a.t32 {
		pc |= 1
	}
	return pc
}

func (a *asmArm) raw(ws ...uint32) { a.text = append(a.text, textAt(a.pc(), ws...)...) }

func (a *asmArm) newLabel() label {
	a.labels = append(a.labels, 0)
	return label(len(a.labels) - 1)
}

func (a *asmArm) bind(l label) { a.labels[l] = a.pc() }

func (a *asmArm) here() label {
	l := a.newLabel()
	a.bind(l)
	return l
}

// addr returns the address of a bound label.
func (a *asmArm) addr(l label) uint64 {
	if a.labels[l] == 0 {
		panic("sim: label never bound")
	}
	return a.labels[l]
}

// ref emits what leads to l: an instruction as long as w, whose place it takes.
func (a *asmArm) ref(w uint32, enc encoder, l label) {
	a.fixups = append(a.fixups, fixupArm{a.pc(), enc, l})
	a.raw(w)
}

// put replaces the instruction at addr.
func (a *asmArm) put(addr uint64, w uint32) {
	copy(a.text[plainAddr(addr)-a.base:], textAt(addr, w))
}

// finish resolves what leads to labels.
func (a *asmArm) finish() {
	for _, x := range a.fixups {
		a.put(x.at, x.enc(x.at, a.addr(x.to)))
	}
	a.fixups = nil
}

// word returns the instruction at addr.
func (a *asmArm) word(addr uint64) uint32 { return wordAt(addr, a.text[plainAddr(addr)-a.base:]) }

// wordAt returns the instruction at the front of b, which lies at addr.
func wordAt(addr uint64, b []byte) uint32 {
	if !thumb(addr) {
		return binary.LittleEndian.Uint32(b)
	}
	w := uint32(binary.LittleEndian.Uint16(b))
	if w >= 0xe800 {
		w = w<<16 | uint32(binary.LittleEndian.Uint16(b[2:]))
	}
	return w
}
