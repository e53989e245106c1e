package image

import (
	"debug/elf"
	"io"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// markers are the symbols that tell where a kernel runs: all are in the table
// of vmlinux and in kallsyms, once (include/asm-generic/sections.h, v6.1).
var markers = []string{"_text", "_stext", "_etext", "_sinittext", "_einittext"}

// kernelHalf is the lowest address that 64-bit kernels use; a program has none
// as high.
const kernelHalf = 1 << 63

// relocation returns what to add to the addresses of an executable file so that
// it lies where the kernel of the kallsyms runs: KASLR moves a kernel whole.
// kernel is false for a file that is no kernel; it stays where it is.
func (s *elfSource) relocation(h *elfHeader, k *symbols.Kallsyms) (shift uint64, kernel bool, err error) {
	at := map[string]uint64{}
	f, err := elf.NewFile(io.NewSectionReader(s.r, 0, s.size))
	if err == nil {
		syms, _ := f.Symbols() // an error here is a stripped file
		for i := range syms {
			for _, m := range markers {
				if syms[i].Name == m && syms[i].Section != elf.SHN_UNDEF {
					at[m] = syms[i].Value
				}
			}
		}
	}
	if len(at) == 0 {
		// Stripped: the image of a kernel begins at _text.
		if lowest, ok := h.lowestText(); ok && lowest >= kernelHalf {
			at["_text"] = lowest
		}
	}
	first := ""
	for _, m := range markers {
		linked, ok := at[m]
		runs, shown := k.Addr(m)
		switch {
		case !ok || !shown:
		case first == "":
			first, shift = m, runs-linked
		case runs-linked != shift:
			return 0, true, s.errorf(0, "vmlinux: %s is moved by %#x and %s by %#x from where it was linked: it is not the kernel of the kallsyms",
				first, shift, m, runs-linked)
		}
	}
	if first == "" && len(at) > 0 {
		return 0, true, s.errorf(0, "vmlinux: kallsyms has none of the %d symbols that tell where it runs; give its address as FILE@SHIFT", len(at))
	}
	return shift, first != "", nil
}

// lowestText returns the lowest address of an executable segment.
func (h *elfHeader) lowestText() (addr uint64, ok bool) {
	for i := range h.progs {
		p := &h.progs[i]
		if p.typ == elf.PT_LOAD && p.flags&elf.PF_X != 0 && p.filesz > 0 && (!ok || p.vaddr < addr) {
			addr, ok = p.vaddr, true
		}
	}
	return addr, ok
}
