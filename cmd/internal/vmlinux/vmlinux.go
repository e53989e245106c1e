// Package vmlinux reads the kernel's file as its linker made it, which --vmlinux names. Its
// addresses, names and source lines are taken, not its code: what ran is what the recording's
// copy of the kernel has.
package vmlinux

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// File is a vmlinux.
type File struct {
	Path     string
	Text     uint64 // where it has _text
	Segments []Segment
	Lines    bool   // it has DWARF's source lines
	Symbols  bool   // it has the symbol _text, by which it is found where the kernel ran
	BuildID  string // hex; "": none is known

	globals []function // some of the global ones
}

// function is a symbol of code.
type function struct {
	name string
	addr uint64
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
	k.BuildID = buildID(f)
	list, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k.globals = globals(list)
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

// Names has s name the kernel's code by k, and say says if it cannot. nil names nothing. A vmlinux of another kernel
// is an error.
func (k *File) Names(s *decoder.Session, say func(format string, args ...any)) error {
	if k == nil {
		return nil
	}
	if y := s.Symbols(); y != nil {
		text, found := y.Find("_text")
		build := ""
		if o, ok := s.Object(0, text.Addr, 0); found && ok && o.Kernel {
			build = o.BuildID
		}
		at := func(name string) (uint64, bool) {
			x, ok := y.Find(name)
			return x.Addr - text.Addr, ok && found && x.Module == ""
		}
		if why := k.differs(build, at); why != "" {
			return &decoder.CallError{What: fmt.Sprintf("--vmlinux %s: it is not the kernel that ran: %s; give that kernel's file, or none", k.Path, why)}
		}
	}
	if !k.Symbols {
		say("%s: it has no symbol _text: where it ran is not known, so it gives no names and no source lines", k.Path)
		return nil
	}
	s.NameBy(k.Path)
	return nil
}

// leastAlike is how many functions tell whether a kernel is another one, at least.
const leastAlike = 8

// differs returns why k is another kernel than the one with a build ID, "" if that is not known, and with functions so far
// behind _text as at says. It returns "" if k may be that kernel.
func (k *File) differs(build string, at func(name string) (off uint64, ok bool)) string {
	if k.BuildID != "" && build != "" {
		if k.BuildID != build {
			return fmt.Sprintf("its build ID is %s, that of the kernel is %s", k.BuildID, build)
		}
		return ""
	}
	both, alike := 0, 0
	if k.Symbols {
		for _, f := range k.globals {
			if off, ok := at(f.name); ok {
				if both++; off == f.addr-k.Text {
					alike++
				}
			}
		}
	}
	if both >= leastAlike && alike*2 < both {
		return fmt.Sprintf("of %d functions that both have, %d lie where that kernel has them", both, alike)
	}
	return ""
}

// globals returns some global functions among symbols: as many as take no time to look up.
func globals(list []elf.Symbol) (some []function) {
	for _, y := range list {
		if elf.ST_TYPE(y.Info) == elf.STT_FUNC && elf.ST_BIND(y.Info) == elf.STB_GLOBAL {
			some = append(some, function{y.Name, y.Value})
		}
	}
	const most = 64
	if n := len(some); n > most {
		for i := range most {
			some[i] = some[i*n/most]
		}
		some = some[:most:most]
	}
	return slices.Clip(slices.Clone(some))
}

// buildID returns the build ID among the notes of f, "" if there is none.
func buildID(f *elf.File) string {
	for _, x := range f.Sections {
		if x.Type == elf.SHT_NOTE {
			if b, err := x.Data(); err == nil {
				if id := idAmong(b, f.ByteOrder); id != "" {
					return id
				}
			}
		}
	}
	return ""
}

// idAmong returns the build ID among notes, "" if there is none. That is GNU's note of the type NT_GNU_BUILD_ID. A note begins with
// the length of its name, that of what it holds, and its type (include/uapi/linux/elf.h, v6.12).
func idAmong(notes []byte, order binary.ByteOrder) string {
	const head, gnu, gnuBuildID = 12, "GNU\x00", 3
	for b := notes; len(b) >= head; {
		name, size := (uint64(order.Uint32(b))+3)&^3, uint64(order.Uint32(b[4:]))
		if name+size > uint64(len(b)-head) {
			break
		}
		if order.Uint32(b[8:]) == gnuBuildID && string(b[head:head+name]) == gnu {
			return hex.EncodeToString(b[head+name:][:size])
		}
		b = b[min(uint64(len(b)), head+name+(size+3)&^3):]
	}
	return ""
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
