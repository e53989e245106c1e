package export

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// vmlinux is the kernel's file as its linker made it, which --vmlinux names. Its addresses
// and its source lines are taken, not its code: what ran is what the recording's copy of the kernel has.
type vmlinux struct {
	path  string
	text  uint64 // where it has _text
	segs  []segment
	lines bool // it has DWARF's source lines
}

// elfIn returns the ELF file that file holds.
func elfIn(file *os.File) (*elf.File, error) {
	var magic [4]byte
	if n, _ := file.ReadAt(magic[:], 0); files.Packing(magic[:n]) != "" {
		return nil, fmt.Errorf("it is packed: unpack it by %s -d", files.Packing(magic[:n]))
	}
	return elf.NewFile(file)
}

// readVmlinux reads the file at path.
func readVmlinux(path string) (*vmlinux, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f, err := elfIn(file)
	if err != nil {
		return nil, fmt.Errorf("%s: --vmlinux needs an ELF file: %w", path, err)
	}
	k := &vmlinux{path: path, segs: segmentsOf(f)}
	for _, x := range f.Sections {
		k.lines = k.lines || x.Name == ".debug_line" || x.Name == ".zdebug_line"
	}
	list, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, y := range list {
		if y.Name == "_text" {
			k.text = y.Value
			return k, nil
		}
	}
	for _, g := range k.segs { // a stripped one begins with _text (arch/x86/kernel/vmlinux.lds.S, v6.12)
		if g.exec && g.addr >= isa.UpperHalf {
			k.text = g.addr
			return k, nil
		}
	}
	return nil, &decoder.CallError{What: fmt.Sprintf("--vmlinux %s: it has neither a symbol _text nor code of a kernel: it is no vmlinux", path)}
}

// segmentsOf returns the loadable segments of f.
func segmentsOf(f *elf.File) (list []segment) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			list = append(list, segment{p.Off, p.Vaddr, p.Filesz, p.Flags&elf.PF_X != 0})
		}
	}
	return list
}
