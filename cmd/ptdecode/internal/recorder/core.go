package recorder

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"

	"github.com/ptdecode/ptdecode/kcore/image"
)

// Sizes of an ELF64 file's parts, bytes (ELF gABI, "ELF Header", "Program Header").
const (
	elfHeaderSize  = 64
	elfProgramSize = 56
	pageSize       = 4096
)

// coreImage is what is copied of the kernel's memory.
type coreImage interface {
	ReadAt(dst []byte, addr uint64) int
	Within(dst []image.Range, r image.Range) []image.Range
}

// join sorts ranges, rounds them to pages and makes one of those that touch.
func join(list []image.Range) (out []image.Range) {
	list = slices.Clone(list)
	for i, r := range list {
		from := r.Addr &^ (pageSize - 1)
		list[i] = image.Range{Addr: from, Len: (r.Last() | (pageSize - 1)) - from + 1}
	}
	slices.SortFunc(list, func(a, b image.Range) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, r := range list {
		if k := len(out) - 1; k >= 0 && r.Addr <= out[k].Last()+1 && out[k].Last() != ^uint64(0) {
			if r.Last() > out[k].Last() {
				out[k].Len = r.Last() - out[k].Addr + 1
			}
			continue
		}
		out = append(out, r)
	}
	return out
}

// copyCore writes what an image holds of ranges to w as an ELF core, in the layout of
// /proc/kcore: a loadable segment for each stretch. Pages of zeros are left out: that is
// what /proc/kcore has where nothing is mapped. It returns how many bytes of memory the
// file holds. stop is asked between pieces.
func copyCore(w io.WriteSeeker, img coreImage, ranges []image.Range, machine elf.Machine, stop func() error) (held int64, err error) {
	var parts []image.Range
	for _, r := range join(ranges) {
		parts = img.Within(parts, r)
	}
	// Each part may fall apart at pages of zeros. What is there is known when it is
	// read, so the headers come last: behind the memory.
	var segs []elf.Prog64
	off := uint64(pageSize)
	if _, err := w.Seek(int64(off), io.SeekStart); err != nil {
		return 0, err
	}
	piece := make([]byte, 1<<20)
	for _, part := range parts {
		for at, left := part.Addr, part.Len; left > 0; {
			if err := stop(); err != nil {
				return held, err
			}
			n := int(min(left, uint64(len(piece))))
			have := img.ReadAt(piece[:n], at)
			for i := 0; i < have; {
				k := min(pageSize-int((at+uint64(i))%pageSize), have-i)
				if page := piece[i : i+k]; len(bytes.TrimLeft(page, "\x00")) > 0 {
					if _, err := w.Write(page); err != nil {
						return held, err
					}
					segs = grow(segs, at+uint64(i), off, uint64(k))
					off, held = off+uint64(k), held+int64(k)
				}
				i += k
			}
			at, left = at+uint64(n), left-uint64(n)
		}
	}
	for i := range segs {
		if err := binary.Write(w, binary.LittleEndian, &segs[i]); err != nil {
			return held, err
		}
	}
	return held, writeHeader(w, machine, off, len(segs))
}

// grow adds memory to the segments of a file: to the last one, if it goes on there.
func grow(segs []elf.Prog64, addr, off, n uint64) []elf.Prog64 {
	if k := len(segs) - 1; k >= 0 && segs[k].Vaddr+segs[k].Filesz == addr {
		segs[k].Filesz += n
		segs[k].Memsz += n
		return segs
	}
	return append(segs, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: off, Vaddr: addr, Filesz: n, Memsz: n, Align: pageSize})
}

// writeHeader writes the header of a core whose n program headers lie at phoff, and
// where there are too many for it the section header that counts them (ELF gABI,
// "Number of Program Headers").
func writeHeader(w io.WriteSeeker, machine elf.Machine, phoff uint64, n int) error {
	h := elf.Header64{
		Type: uint16(elf.ET_CORE), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: phoff, Ehsize: elfHeaderSize, Phentsize: elfProgramSize, Phnum: uint16(n),
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	const many = 0xffff // PN_XNUM
	if n >= many {
		h.Phnum, h.Shoff, h.Shentsize, h.Shnum = many, phoff+uint64(n)*elfProgramSize, elfHeaderSize, 1
		if err := binary.Write(w, binary.LittleEndian, &elf.Section64{Info: uint32(n)}); err != nil {
			return err
		}
	}
	if _, err := w.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return binary.Write(w, binary.LittleEndian, &h)
}
