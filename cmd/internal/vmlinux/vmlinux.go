// Package vmlinux reads the kernel's file as its linker made it, which --vmlinux names. Its
// addresses, names and source lines are taken, not its code: what ran is what the recording's
// copy of the kernel has.
package vmlinux

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// File is a vmlinux.
type File struct {
	Path     string
	Text     uint64 // where it has _text
	Segments []Segment
	Lines    bool // it has DWARF's source lines
	Symbols  bool // it has the symbol _text, by which it is found where the kernel ran
}

// Segment is a loadable segment of an ELF file.
type Segment struct {
	Off, Addr, Size uint64 // bytes from the file's start; an address; bytes
	Exec            bool
}

// Read reads the file at path; "": nil. The error says what is wrong with it, and what to do.
func Read(path string) (*File, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := elfIn(file)
	if err != nil {
		return nil, fmt.Errorf("%s: --vmlinux needs an ELF file: %w", path, err)
	}
	k := &File{Path: path, Segments: Segments(f)}
	for _, x := range f.Sections {
		k.Lines = k.Lines || x.Name == ".debug_line" || x.Name == ".zdebug_line"
	}
	list, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, y := range list {
		if y.Name == "_text" {
			k.Text, k.Symbols = y.Value, true
			return k, nil
		}
	}
	for _, g := range k.Segments { // a stripped one begins with _text (arch/x86/kernel/vmlinux.lds.S, v6.12)
		if g.Exec && g.Addr >= isa.UpperHalf {
			k.Text = g.Addr
			return k, nil
		}
	}
	return nil, &decoder.CallError{What: fmt.Sprintf("--vmlinux %s: it has neither a symbol _text nor code of a kernel: it is no vmlinux", path)}
}

// Names has s name the kernel's code by k, and say says if it cannot. nil names nothing.
func (k *File) Names(s *decoder.Session, say func(format string, args ...any)) {
	switch {
	case k == nil:
	case k.Symbols:
		s.NameBy(k.Path)
	default:
		say("%s: it has no symbol _text: where it ran is not known, so it gives no names and no source lines", k.Path)
	}
}

// elfIn returns the ELF file that file holds.
func elfIn(file *os.File) (*elf.File, error) {
	var magic [4]byte
	if n, _ := file.ReadAt(magic[:], 0); files.Packing(magic[:n]) != "" {
		return nil, fmt.Errorf("it is packed: unpack it by %s -d", files.Packing(magic[:n]))
	}
	return elf.NewFile(file)
}

// Segments returns the loadable segments of f.
func Segments(f *elf.File) (list []Segment) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			list = append(list, Segment{p.Off, p.Vaddr, p.Filesz, p.Flags&elf.PF_X != 0})
		}
	}
	return list
}
