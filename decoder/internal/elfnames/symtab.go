package elfnames

import (
	"bytes"
	"debug/elf"
	"io"

	"github.com/therootcompany/xz"
)

// most is how many bytes a symbol table, or its names, may have.
const most = 1 << 31

// source says where an entry's name comes from; of one address the first is taken.
type source uint8

const (
	fromSymtab source = iota
	fromDebugData
	fromDynsym
	fromPLT
)

// add takes the names of a file.
func (t *Table) add(f *File) {
	t.symbols(f, f.elf.Section(".symtab"), fromSymtab)
	if f.Stripped() {
		if mini := f.debugData(); mini != nil {
			t.symbols(mini, mini.elf.Section(".symtab"), fromDebugData)
		}
	}
	t.symbols(f, f.elf.Section(".dynsym"), fromDynsym)
}

// symbols takes the symbols of one table.
func (t *Table) symbols(f *File, s *elf.Section, from source) {
	if s == nil || s.Type != elf.SHT_SYMTAB && s.Type != elf.SHT_DYNSYM {
		return
	}
	b, names := f.contents(s, most), f.contents(f.linked(s), most)
	if len(b) == 0 || len(names) == 0 || len(t.names) > 255 {
		return
	}
	t.names = append(t.names, names)
	size := f.symbolSize()
	mapped := f.arm()
	for ; len(b) >= size; b = b[size:] {
		y := f.symbol(b)
		name := cstring(names, y.name)
		if y.section == uint16(elf.SHN_UNDEF) {
			continue
		}
		if mapped && len(name) > 1 && name[0] == '$' {
			t.mapping(y.addr, name)
			continue
		}
		if !f.names(&y) || internal(name) {
			continue
		}
		e := entry{addr: y.addr, len: y.len, name: y.name, blob: uint8(len(t.names) - 1), from: from, bind: elf.ST_BIND(y.info), typed: elf.ST_TYPE(y.info) != elf.STT_NOTYPE}
		if f.elf.Machine == elf.EM_ARM && e.typed {
			e.addr &^= 1 // bit 0 says that the function is T32 code
		}
		t.entries = append(t.entries, e)
	}
}

// rawSymbol is a symbol as a table has it.
type rawSymbol struct {
	addr, len uint64
	name      uint32 // offset in the names, bytes
	section   uint16
	info      uint8
}

// symbol reads the symbol at the front of b (gABI, "Symbol Table").
func (f *File) symbol(b []byte) (y rawSymbol) {
	o := f.elf.ByteOrder
	y.name = o.Uint32(b)
	if f.elf.Class == elf.ELFCLASS32 {
		y.addr, y.len, y.info, y.section = uint64(o.Uint32(b[4:])), uint64(o.Uint32(b[8:])), b[12], o.Uint16(b[14:])
		return y
	}
	y.info, y.section, y.addr, y.len = b[4], o.Uint16(b[6:]), o.Uint64(b[8:]), o.Uint64(b[16:])
	return y
}

// names reports whether a symbol names code: a function, or a label in a section of code.
func (f *File) names(y *rawSymbol) bool {
	switch elf.ST_TYPE(y.info) {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		return y.section != uint16(elf.SHN_ABS)
	case elf.STT_NOTYPE:
		i := int(y.section)
		return i < len(f.elf.Sections) && f.elf.Sections[i].Flags&elf.SHF_EXECINSTR != 0
	}
	return false
}

// cstring returns the string at off in b, without the zero behind it.
func cstring(b []byte, off uint32) []byte {
	if uint64(off) >= uint64(len(b)) {
		return nil
	}
	b = b[off:]
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return b
}

// What .gnu_debugdata may take: the ELF file in it, and xz's dictionary, bytes.
const (
	maxDebugData  = 64 << 20
	maxDictionary = 64 << 20
)

// debugData returns the ELF file that .gnu_debugdata holds, packed by xz; nil if there
// is none, or it cannot be read.
func (f *File) debugData() *File {
	b := f.section(".gnu_debugdata", maxDebugData)
	if len(b) == 0 {
		return nil
	}
	r, err := xz.NewReader(bytes.NewReader(b), maxDictionary)
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxDebugData))
	if err != nil {
		return nil
	}
	mini, err := OpenBytes(data)
	if err != nil {
		return nil
	}
	return mini
}
