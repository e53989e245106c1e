package image

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// elfSource is an ELF file, unpacked.
type elfSource struct {
	r    io.ReaderAt
	data []byte // all of it, if it is in memory
	size int64  // bytes; of a live /proc/kcore, what the kernel says
	name string
}

func (s *elfSource) errorf(off int64, format string, args ...any) error {
	return &badfile.Error{File: s.name, Off: off, What: fmt.Sprintf(format, args...)}
}

// progHeader is what matters of a program header (ELF gABI, "Program Header").
type progHeader struct {
	index         int
	at            int64 // its own offset in the file
	typ           elf.ProgType
	flags         elf.ProgFlag
	off           uint64
	vaddr         uint64
	filesz, memsz uint64
}

// elfHeader is what matters of an ELF header (ELF gABI, "ELF Header").
type elfHeader struct {
	typ   elf.Type
	class elf.Class
	order binary.ByteOrder
	progs []progHeader
}

// readELF maps an ELF file: its loadable segments at their addresses plus
// opt.Addr. Only what the file holds is mapped: the part of a segment beyond
// its file size is unknown, for what lies there in memory is not in the file.
func readELF(s elfSource, opt Options) (*Image, error) {
	h, err := s.header()
	if err != nil {
		return nil, err
	}
	if h.typ == elf.ET_REL {
		return readModule(s, opt)
	}
	shift, onlyText := opt.Addr, false
	if h.typ != elf.ET_CORE && opt.Kallsyms != nil && opt.Addr == 0 {
		if shift, onlyText, err = s.relocation(h, opt.Kallsyms); err != nil {
			return nil, err
		}
	}
	m := &Image{}
	loads, short := 0, 0
	// By address, as the rules want them: each is then laid behind the last.
	slices.SortStableFunc(h.progs, func(a, b progHeader) int { return cmp.Compare(a.vaddr, b.vaddr) })
	for i := range h.progs {
		p := &h.progs[i]
		if p.typ != elf.PT_LOAD {
			continue
		}
		loads++
		if p.filesz == 0 || onlyText && p.flags&elf.PF_X == 0 {
			continue
		}
		if !s.holds(p) {
			if short++; short == 1 || p.at < m.short.Off {
				m.short = &badfile.Error{File: s.name, Off: p.at, What: fmt.Sprintf("program header %d: offset %#x and %#x bytes", p.index, p.off, p.filesz)}
			}
		}
		if err := s.mapSegment(m, p, shift); err != nil {
			return nil, err
		}
	}
	if loads == 0 {
		return nil, s.errorf(0, "ELF: no loadable segment among %d program headers", len(h.progs))
	}
	if short > 0 {
		m.short.What += fmt.Sprintf(", the file has %#x: %d of %d segments are cut short", s.size, short, loads)
		if len(m.segs) == 0 {
			return nil, m.short
		}
	}
	return m, nil
}

// holds reports whether the file has all that a program header names.
func (s *elfSource) holds(p *progHeader) bool {
	return p.off <= uint64(s.size) && p.filesz <= uint64(s.size)-p.off
}

// mapSegment maps a program header. One that reaches behind the end of the file is
// mapped as far as the file goes: a copy cut short still tells what it has.
func (s *elfSource) mapSegment(m *Image, p *progHeader, shift uint64) error {
	n, i := p.filesz, p.index
	if p.off >= uint64(s.size) {
		return nil
	}
	n = min(n, uint64(s.size)-p.off)
	sg := seg{Range: Range{p.vaddr + shift, n}, src: s.r, off: int64(p.off)}
	if s.data != nil {
		sg.data = s.data[p.off : p.off+n : p.off+n]
	}
	if err := m.add(sg); err != nil {
		return &badfile.Error{File: s.name, Off: p.at, What: fmt.Sprintf("program header %d", i), Err: err}
	}
	return nil
}

// header reads the ELF header and the program headers.
func (s *elfSource) header() (*elfHeader, error) {
	var b [64]byte
	n, _ := s.r.ReadAt(b[:], 0)
	if n < 20 {
		return nil, s.errorf(0, "ELF header: cut short: have %d bytes, need 52", n)
	}
	h := &elfHeader{class: elf.Class(b[elf.EI_CLASS])}
	switch d := elf.Data(b[elf.EI_DATA]); d {
	case elf.ELFDATA2LSB:
		h.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		h.order = binary.BigEndian
	default:
		return nil, s.errorf(elf.EI_DATA, "ELF header: data encoding %d, want 1 or 2", d)
	}
	h.typ = elf.Type(h.order.Uint16(b[16:]))
	var phoff, shoff uint64
	var phentsize, phnum, need int
	switch h.class {
	case elf.ELFCLASS64:
		if n < 64 {
			return nil, s.errorf(0, "ELF header: cut short: have %d bytes, need 64", n)
		}
		phoff, shoff = h.order.Uint64(b[32:]), h.order.Uint64(b[40:])
		phentsize, phnum, need = int(h.order.Uint16(b[54:])), int(h.order.Uint16(b[56:])), 56
	case elf.ELFCLASS32:
		if n < 52 {
			return nil, s.errorf(0, "ELF header: cut short: have %d bytes, need 52", n)
		}
		phoff, shoff = uint64(h.order.Uint32(b[28:])), uint64(h.order.Uint32(b[32:]))
		phentsize, phnum, need = int(h.order.Uint16(b[42:])), int(h.order.Uint16(b[44:])), 32
	default:
		return nil, s.errorf(elf.EI_CLASS, "ELF header: class %d, want 1 or 2", h.class)
	}
	if phnum == 0xffff { // PN_XNUM: the count is in section header 0, sh_info
		var err error
		if phnum, err = s.manyHeaders(h, shoff); err != nil {
			return nil, err
		}
	}
	if phnum > 0 && phentsize < need {
		return nil, s.errorf(0, "ELF header: program headers of %d bytes, need %d", phentsize, need)
	}
	return h, s.programs(h, phoff, phentsize, phnum)
}

// manyHeaders reads the number of program headers where it is above 65534.
func (s *elfSource) manyHeaders(h *elfHeader, shoff uint64) (int, error) {
	at := 44
	if h.class == elf.ELFCLASS32 {
		at = 28
	}
	var b [4]byte
	if shoff == 0 || shoff > uint64(s.size) {
		return 0, s.errorf(0, "ELF header: the number of program headers is in section header 0, at %#x of %#x bytes", shoff, s.size)
	}
	if n, _ := s.r.ReadAt(b[:], int64(shoff)+int64(at)); n < 4 {
		return 0, s.errorf(int64(shoff), "section header 0: cut short")
	}
	return int(h.order.Uint32(b[:]) & math.MaxInt32), nil
}

// programs reads the program headers, no more than the file has.
func (s *elfSource) programs(h *elfHeader, off uint64, entry, num int) error {
	if num == 0 {
		return nil
	}
	if off > uint64(s.size) || uint64(num)*uint64(entry) > uint64(s.size)-off {
		return s.errorf(0, "ELF header: %d program headers of %d bytes at %#x, the file has %#x bytes", num, entry, off, s.size)
	}
	b := make([]byte, num*entry)
	if n, err := s.r.ReadAt(b, int64(off)); n < len(b) {
		return &badfile.Error{File: s.name, Off: int64(off), What: fmt.Sprintf("program headers: have %d bytes, need %d", n, len(b)), Err: err}
	}
	h.progs = make([]progHeader, num)
	for i := range h.progs {
		e, p := b[i*entry:], &h.progs[i]
		p.index, p.at = i, int64(off)+int64(i)*int64(entry)
		p.typ = elf.ProgType(h.order.Uint32(e))
		if h.class == elf.ELFCLASS64 {
			p.flags = elf.ProgFlag(h.order.Uint32(e[4:]))
			p.off, p.vaddr = h.order.Uint64(e[8:]), h.order.Uint64(e[16:])
			p.filesz, p.memsz = h.order.Uint64(e[32:]), h.order.Uint64(e[40:])
			continue
		}
		p.flags = elf.ProgFlag(h.order.Uint32(e[24:]))
		p.off, p.vaddr = uint64(h.order.Uint32(e[4:])), uint64(h.order.Uint32(e[8:]))
		p.filesz, p.memsz = uint64(h.order.Uint32(e[16:])), uint64(h.order.Uint32(e[20:]))
	}
	return nil
}
