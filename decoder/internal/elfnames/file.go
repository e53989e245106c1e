package elfnames

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/files"
)

// File is an ELF file. Its names are read when a Table of it is made.
type File struct {
	elf  *elf.File
	r    io.ReaderAt
	size int64  // bytes
	data []byte // all of it, if it is in memory

	close func() error // nil: nothing is to be closed
}

// OpenFile opens an ELF file, which is mapped into memory where that can be. Close closes
// it, with r.
func OpenFile(r files.File) (*File, error) {
	st, err := r.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	if b := files.Mapped(nil); b.Map(r, st.Size()) {
		f, err := OpenBytes(b)
		if err != nil {
			b.Close()
			return nil, err
		}
		f.close = func() error { return errors.Join(b.Close(), r.Close()) }
		return f, nil
	}
	f, err := Open(r, st.Size())
	if err == nil {
		f.close = r.Close
	}
	return f, err
}

// Close closes the file. What was read of it must not be used any more.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Open reads the headers of the ELF file that r holds, of size bytes. It returns an
// error of package elf where r holds none.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	defer guard(&err)
	e, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	return &File{elf: e, r: r, size: size}, nil
}

// OpenBytes is Open for a file in memory.
func OpenBytes(data []byte) (*File, error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		f.data = data
	}
	return f, err
}

// guard makes an error of a panic: package elf may panic where a file is broken.
func guard(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("broken ELF file: %v", x)
	}
}

// Vaddr returns the address that the byte at off in the file is linked to. ok is false if
// it is not loaded. A file without program headers tells by its sections.
func (f *File) Vaddr(off uint64) (addr uint64, ok bool) {
	loads := false
	for _, p := range f.elf.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		loads = true
		if off >= p.Off && off-p.Off < p.Filesz {
			return p.Vaddr + (off - p.Off), true
		}
	}
	if loads {
		return 0, false
	}
	for _, s := range f.elf.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS && off >= s.Offset && off-s.Offset < s.FileSize {
			return s.Addr + (off - s.Offset), true
		}
	}
	return 0, false
}

// Loads reports whether addr is one that the file is linked to.
func (f *File) Loads(addr uint64) bool {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz {
			return true
		}
	}
	return false
}

// First returns where the first segment is linked to.
func (f *File) First() uint64 {
	for _, p := range f.elf.Progs {
		if p.Type == elf.PT_LOAD {
			return p.Vaddr
		}
	}
	return 0
}

// Value returns the address of the symbol with a name as the linker has it; ok is false if
// .symtab has none.
func (f *File) Value(name string) (addr uint64, ok bool) {
	_ = safely(func() {
		s := f.elf.Section(".symtab")
		b, names := f.contents(s, most), []byte(nil)
		if len(b) > 0 {
			names = f.contents(f.linked(s), most)
		}
		size := f.symbolSize()
		for ; len(b) >= size && !ok; b = b[size:] {
			y := f.symbol(b)
			if y.section != uint16(elf.SHN_UNDEF) && string(cstring(names, y.name)) == name {
				addr, ok = y.addr, true
			}
		}
	})
	return addr, ok
}

// symbolSize is what a symbol takes in a table, bytes.
func (f *File) symbolSize() int {
	if f.elf.Class == elf.ELFCLASS32 {
		return elf.Sym32Size
	}
	return elf.Sym64Size
}

// Executable reports whether the file is a program or a library, which has addresses.
func (f *File) Executable() bool { return f.elf.Type == elf.ET_EXEC || f.elf.Type == elf.ET_DYN }

// DebugLink returns the name of the file's debug file, "" if it states none
// (.gnu_debuglink).
func (f *File) DebugLink() string {
	const most = 4096 // bytes
	b := f.section(".gnu_debuglink", most)
	name, _, found := bytes.Cut(b, []byte{0})
	if !found || bytes.ContainsRune(name, '/') {
		return ""
	}
	return string(name)
}

// DebugSum returns the CRC-32 that .gnu_debuglink states of the debug file, 0 if there
// is none.
func (f *File) DebugSum() uint32 {
	const most = 4096 // bytes
	b := f.section(".gnu_debuglink", most)
	if len(b) < 8 {
		return 0
	}
	return f.elf.ByteOrder.Uint32(b[len(b)-4:])
}

// BuildID returns the note of that name, nil if there is none.
func (f *File) BuildID() []byte {
	const most = 4096 // bytes
	b := f.section(".note.gnu.build-id", most)
	if len(b) < 16 {
		return nil
	}
	name, size := uint64(f.elf.ByteOrder.Uint32(b)), uint64(f.elf.ByteOrder.Uint32(b[4:]))
	at := 12 + (name+3)&^3
	if at > uint64(len(b)) || size > uint64(len(b))-at {
		return nil
	}
	return b[at : at+size]
}

// Stripped reports whether the file has no .symtab.
func (f *File) Stripped() bool {
	s := f.elf.Section(".symtab")
	return s == nil || s.Type == elf.SHT_NOBITS
}

// section returns what a section holds; nil if there is none, if it is packed, or if
// it has more than most bytes.
func (f *File) section(name string, most uint64) []byte {
	s := f.elf.Section(name)
	if s == nil || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil
	}
	return f.contents(s, most)
}

// contents returns the bytes of a section as the file has them, cut to what it has.
func (f *File) contents(s *elf.Section, most uint64) []byte {
	if s == nil || s.Type == elf.SHT_NOBITS || s.Offset >= uint64(f.size) {
		return nil
	}
	n := min(s.FileSize, uint64(f.size)-s.Offset)
	if n > most {
		return nil
	}
	if f.data != nil {
		return f.data[s.Offset : s.Offset+n : s.Offset+n]
	}
	b := make([]byte, n)
	got, _ := f.r.ReadAt(b, int64(s.Offset))
	return b[:got]
}

// linked returns the section that another names by its sh_link.
func (f *File) linked(s *elf.Section) *elf.Section {
	if uint64(s.Link) >= uint64(len(f.elf.Sections)) {
		return nil
	}
	return f.elf.Sections[s.Link]
}

// code returns the section of code that holds addr; nil if none does.
func (f *File) code(addr uint64) *elf.Section {
	for _, s := range f.elf.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && addr >= s.Addr && addr-s.Addr < s.Size {
			return s
		}
	}
	return nil
}

// arm reports whether the machine's code has mapping symbols.
func (f *File) arm() bool { return f.elf.Machine == elf.EM_ARM || f.elf.Machine == elf.EM_AARCH64 }

// internal reports whether a name is one that a compiler or assembler made for itself.
func internal(name []byte) bool { return len(name) == 0 || strings.HasPrefix(string(name), ".L") }
