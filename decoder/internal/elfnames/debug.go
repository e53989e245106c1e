package elfnames

import (
	"debug/elf"
	"encoding/binary"
)

// HasLines reports whether the file has DWARF of its source lines.
func (f *File) HasLines() bool {
	s := f.elf.Section(".debug_info")
	return s != nil && s.Type != elf.SHT_NOBITS
}

// Debug returns the section .debug_NAME, unpacked; nil if there is none, or it has more
// than most bytes. One that is not packed is not copied.
func (f *File) Debug(name string, most int64) (b []byte) {
	_ = safely(func() { b = f.debugSection(name, uint64(most)) })
	return b
}

func (f *File) debugSection(name string, most uint64) []byte {
	s := f.elf.Section(".debug_" + name)
	if s == nil || s.Type == elf.SHT_NOBITS || s.Size > most {
		return nil
	}
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		return f.contents(s, most)
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}

// Order returns the byte order of the file.
func (f *File) Order() binary.ByteOrder { return f.elf.ByteOrder }
