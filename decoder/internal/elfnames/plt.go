package elfnames

import (
	"debug/elf"
	"encoding/binary"
	"strings"
)

// Stubs of the procedure linkage table: each jumps to where a slot of the global offset
// table says, and a relocation says whose slot that is.

// pltSuffix stands behind the name of the function that a stub leads to.
const pltSuffix = "@plt"

// stubs takes the stubs of f.
func (t *Table) stubs(f *File) {
	slots := f.slots()
	if len(slots) == 0 || len(t.names) > 255 {
		return
	}
	blob := []byte{0}
	t.names = append(t.names, nil)
	got := uint64(0)
	if s := f.elf.Section(".got.plt"); s != nil {
		got = s.Addr
	}
	for _, s := range f.elf.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Name != ".plt" && !strings.HasPrefix(s.Name, ".plt.") {
			continue
		}
		b := f.contents(s, most)
		for _, y := range f.findStubs(b, s.Addr, got) {
			name := slots[y.slot]
			if name == "" {
				continue
			}
			t.entries = append(t.entries, entry{addr: y.addr, len: y.len, name: uint32(len(blob)), blob: uint8(len(t.names) - 1), from: fromPLT, typed: true})
			blob = append(append(append(blob, name...), pltSuffix...), 0)
		}
	}
	t.names[len(t.names)-1] = blob
}

// stub is a stub, and the slot that it jumps through.
type stub struct{ addr, len, slot uint64 }

// slots returns the names of symbols by the slots that are relocated for them.
func (f *File) slots() map[uint64]string {
	list := map[uint64]string{}
	for _, s := range f.elf.Sections {
		rela := s.Type == elf.SHT_RELA
		if !rela && s.Type != elf.SHT_REL || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		syms := f.linked(s)
		if syms == nil || syms.Type != elf.SHT_DYNSYM {
			continue
		}
		table, names := f.contents(syms, most), f.contents(f.linked(syms), most)
		f.relocations(f.contents(s, most), rela, func(slot uint64, sym uint32) {
			size := f.symbolSize()
			if at := uint64(sym) * uint64(size); sym > 0 && at+uint64(size) <= uint64(len(table)) {
				y := f.symbol(table[at:])
				if name := cstring(names, y.name); len(name) > 0 {
					list[slot] = string(name)
				}
			}
		})
	}
	return list
}

// relocations gives the slot and the symbol of each relocation that fills a slot with
// a symbol's address (psABI of x86-64, i386, AArch64 and Arm, "Relocation").
func (f *File) relocations(b []byte, rela bool, yield func(slot uint64, sym uint32)) {
	o, size := f.elf.ByteOrder, 8
	if f.elf.Class == elf.ELFCLASS64 {
		size = 16
	}
	if rela {
		size += size / 2
	}
	for ; len(b) >= size; b = b[size:] {
		slot, sym, typ := uint64(o.Uint32(b)), o.Uint32(b[4:])>>8, o.Uint32(b[4:])&0xff
		if f.elf.Class == elf.ELFCLASS64 {
			slot, sym, typ = o.Uint64(b), uint32(o.Uint64(b[8:])>>32), uint32(o.Uint64(b[8:]))
		}
		fills := false
		switch f.elf.Machine {
		case elf.EM_X86_64:
			fills = elf.R_X86_64(typ) == elf.R_X86_64_JMP_SLOT || elf.R_X86_64(typ) == elf.R_X86_64_GLOB_DAT
		case elf.EM_386:
			fills = elf.R_386(typ) == elf.R_386_JMP_SLOT || elf.R_386(typ) == elf.R_386_GLOB_DAT
		case elf.EM_AARCH64:
			fills = elf.R_AARCH64(typ) == elf.R_AARCH64_JUMP_SLOT || elf.R_AARCH64(typ) == elf.R_AARCH64_GLOB_DAT
		case elf.EM_ARM:
			fills = elf.R_ARM(typ) == elf.R_ARM_JUMP_SLOT || elf.R_ARM(typ) == elf.R_ARM_GLOB_DAT
		}
		if fills {
			yield(slot, sym)
		}
	}
}

// findStubs returns the stubs in b, code at addr. got is the address of .got.plt.
func (f *File) findStubs(b []byte, addr, got uint64) []stub {
	switch f.elf.Machine {
	case elf.EM_X86_64, elf.EM_386:
		return x86Stubs(b, addr, got, f.elf.Machine == elf.EM_386)
	case elf.EM_AARCH64:
		return a64Stubs(b, addr)
	case elf.EM_ARM:
		return a32Stubs(b, addr)
	}
	return nil
}

// x86Stubs finds jumps through memory: FF /4 with RIP-relative, absolute or
// EBX-relative address. A stub begins at a multiple of 8 bytes, or of 16.
func x86Stubs(b []byte, addr, got uint64, i386 bool) (list []stub) {
	const size = 16
	for i := 0; i+6 <= len(b); i++ {
		if b[i] != 0xff || b[i+1] != 0x25 && (!i386 || b[i+1] != 0xa3) {
			continue
		}
		disp := binary.LittleEndian.Uint32(b[i+2:])
		slot := addr + uint64(i) + 6 + uint64(int64(int32(disp)))
		if i386 {
			if slot = uint64(disp); b[i+1] == 0xa3 {
				slot = uint64(uint32(got) + disp)
			}
		}
		first := i &^ (size - 1)
		length := min(size, len(b)-first)
		if len(b)%size != 0 || eight(b, first, i) {
			first, length = i&^7, 8
		}
		list = append(list, stub{addr + uint64(first), uint64(length), slot})
		i += 5
	}
	return list
}

// eight reports whether stubs of 8 bytes stand in the 16 bytes at first: both halves
// begin with the jump, as .plt.got has them.
func eight(b []byte, first, at int) bool {
	jump := func(i int) bool { return i+2 <= len(b) && b[i] == 0xff && (b[i+1] == 0x25 || b[i+1] == 0xa3) }
	return jump(first) && jump(first+8) || at == first+8
}

// a64Stubs finds ADRP X16, then LDR X17, [X16, #n], then BR X17, with ADD X16 between
// (ELF for the Arm 64-bit Architecture, "Procedure Linkage Table"), and BTI before.
func a64Stubs(b []byte, addr uint64) (list []stub) {
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	const bti = 0xd503245f
	for i := 0; i+16 <= len(b); i += 4 {
		adrp, ldr := word(i), word(i+4)
		if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
			continue
		}
		page := int64(int32((adrp>>5&0x7ffff)<<2|adrp>>29&3)<<11) >> 11 << 12
		slot := (addr+uint64(i))&^0xfff + uint64(page) + uint64(ldr>>10&0xfff)*8
		first, length := i, 16
		if i >= 4 && word(i-4) == bti {
			first, length = i-4, 24
		}
		list = append(list, stub{addr + uint64(first), uint64(length), slot})
		i += 12
	}
	return list
}

// a32Stubs finds ADD IP, PC, #a; ADD IP, IP, #b; LDR PC, [IP, #c]! (binutils 2.40,
// bfd/elf32-arm.c, elf32_arm_plt_entry_short).
func a32Stubs(b []byte, addr uint64) (list []stub) {
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	rotated := func(w uint32) uint32 { n := w >> 8 & 15 * 2; v := w & 0xff; return v>>n | v<<(32-n)&^0 }
	for i := 0; i+12 <= len(b); i += 4 {
		x, y, z := word(i), word(i+4), word(i+8)
		if x&0xfffff000 != 0xe28fc000 || y&0xfffff000 != 0xe28cc000 || z&0xfffff000 != 0xe5bcf000 {
			continue
		}
		slot := uint32(addr) + uint32(i) + 8 + rotated(x) + rotated(y) + z&0xfff
		list = append(list, stub{addr + uint64(i), 12, uint64(slot)})
		i += 8
	}
	return list
}
