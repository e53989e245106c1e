package elfnames

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// smallFile is a program of x86 at 0x1000: main of 8 bytes with a label inside, tail
// without a length, and at 0x1010 a stub that leads to read.
func smallFile() []byte {
	le := binary.LittleEndian
	var b bytes.Buffer
	put := func(list ...any) {
		for _, x := range list {
			_ = binary.Write(&b, le, x)
		}
	}
	names := []byte("\x00main\x00inside\x00tail@@V1\x00read\x00")
	strings := []byte("\x00.text\x00.plt\x00.symtab\x00.strtab\x00.dynsym\x00.rela.plt\x00.shstrtab\x00")
	code := make([]byte, 32)
	copy(code[16:], []byte{0xff, 0x25, 0xea, 0x2f, 0, 0}) // jmp *0x4000: behind it is 0x1016
	sym := func(name uint32, info byte, section uint16, addr, size uint64) []byte {
		y := le.AppendUint16(append(le.AppendUint32(nil, name), info, 0), section)
		return le.AppendUint64(le.AppendUint64(y, addr), size)
	}
	syms := bytes.Join([][]byte{make([]byte, 24), sym(1, 0x12, 1, 0x1000, 8), sym(6, 0, 1, 0x1004, 0), sym(13, 0x12, 1, 0x1008, 0)}, nil)
	dyn := bytes.Join([][]byte{make([]byte, 24), sym(22, 0x12, 0, 0, 0)}, nil)
	rela := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, 0x4000), 1<<32|uint64(elf.R_X86_64_JMP_SLOT)), 0)
	parts := [][]byte{code, syms, names, dyn, rela, strings}
	at := make([]uint64, len(parts))
	off := uint64(64 + 56)
	for i, p := range parts {
		at[i] = off
		off += uint64(len(p))
	}
	put([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint16(2), uint16(62), uint32(1), uint64(0x1000), uint64(64), off,
		uint32(0), uint16(64), uint16(56), uint16(1), uint16(64), uint16(8), uint16(7))
	put(uint32(1), uint32(5), at[0], uint64(0x1000), uint64(0x1000), uint64(32), uint64(32), uint64(16))
	for _, p := range parts {
		put(p)
	}
	head := func(name, typ uint32, flags, addr, off uint64, size int, link uint32) {
		put(name, typ, flags, addr, off, uint64(size), link, uint32(0), uint64(1), uint64(24))
	}
	put(make([]byte, 64))
	head(1, 1, 6, 0x1000, at[0], 16, 0)     // .text
	head(7, 1, 6, 0x1010, at[0]+16, 16, 0)  // .plt
	head(12, 2, 0, 0, at[1], len(syms), 4)  // .symtab
	head(20, 3, 0, 0, at[2], len(names), 0) // .strtab
	head(28, 11, 2, 0, at[3], len(dyn), 4)  // .dynsym
	head(36, 4, 2, 0, at[4], len(rela), 5)  // .rela.plt
	head(46, 3, 0, 0, at[5], len(strings), 0)
	return b.Bytes()
}
