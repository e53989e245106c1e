package kcore

import (
	"bufio"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Ranges returns the addresses whose bytes are known at an epoch, ascending,
// adjoining ranges joined.
func (t *Text) Ranges(e event.Epoch) []image.Range {
	var known, poked []image.Range
	for _, pg := range t.order {
		for i := range t.pages[pg].cells {
			c := &t.pages[pg].cells[i]
			r := image.Range{Addr: pg<<pageShift + uint64(c.off), Len: uint64(c.end - c.off)}
			poked = append(poked, r)
			if c.known(e) {
				known = append(known, r)
			}
		}
	}
	for _, r := range t.img.Ranges() { // what of it lies beside the cells
		i, _ := slices.BinarySearchFunc(poked, r.Addr, func(p image.Range, a uint64) int { return cmp.Compare(p.Last(), a) })
		for at := r.Addr; ; i++ {
			if i == len(poked) || poked[i].Addr > r.Last() {
				known = append(known, image.Range{Addr: at, Len: r.Last() - at + 1})
				break
			}
			if poked[i].Addr > at {
				known = append(known, image.Range{Addr: at, Len: poked[i].Addr - at})
			}
			if poked[i].Last() >= r.Last() {
				break
			}
			at = poked[i].Last() + 1
		}
	}
	slices.SortFunc(known, func(a, b image.Range) int { return cmp.Compare(a.Addr, b.Addr) })
	out := known[:0]
	for _, r := range known {
		if k := len(out) - 1; k >= 0 && out[k].Addr+out[k].Len == r.Addr {
			out[k].Len += r.Len
			continue
		}
		out = append(out, r)
	}
	return out
}

// Layout of the file that WriteKcore makes: ELF header, program headers, then
// the segments, each at an offset that is its address modulo the page.
const (
	ehSize64 = 64
	phSize64 = 56
	shSize64 = 64
	ehSize32 = 52
	phSize32 = 32
	shSize32 = 40
	pnXNum   = 0xffff // e_phnum that says: see sh_info of section header 0 (ELF gABI, "ELF Header")
	segAlign = 0x1000
)

// WriteKcore writes the code as of an epoch as an ELF core in the layout of
// /proc/kcore: a loadable segment for each stretch of known bytes. What is
// unknown is left out.
//
// The mode is that of the code, and decides the machine in the ELF header:
// EM_X86_64, EM_AARCH64 or EM_ARM. Readers take EM_ARM in a 32-bit file only
// ("ELF for the Arm Architecture", IHI 0044, "ELF header"). A32 and T32 code with
// addresses from 4 GiB on is that of a 64-bit core, so its file is one of
// EM_AARCH64. So is a file that would be larger than 4 GiB.
func WriteKcore(w io.Writer, t *Text, e event.Epoch, m isa.Mode) error {
	rs := t.Ranges(e)
	b := bufio.NewWriterSize(w, 1<<16)
	pos := newCoreFile(rs, m).writeHeaders(b, rs)
	buf := make([]byte, 1<<16)
	for _, r := range rs {
		pos += writeZeros(b, segmentOffset(pos, r.Addr)-pos)
		for r.Len > 0 {
			n, _ := t.Fetch(buf[:min(r.Len, uint64(len(buf)))], r.Addr, e)
			if n == 0 {
				return &badfile.Error{File: "image", Off: int64(r.Addr), What: "text: it could be read before and can not be now"}
			}
			b.Write(buf[:n]) // bufio keeps the first error for Flush
			r.Addr, r.Len, pos = r.Addr+uint64(n), r.Len-uint64(n), pos+uint64(n)
		}
	}
	return b.Flush()
}

// segmentOffset returns the first offset from pos on that is addr modulo the page.
func segmentOffset(pos, addr uint64) uint64 {
	return pos + (addr-pos)&(segAlign-1)
}

func writeZeros(b *bufio.Writer, n uint64) uint64 {
	for i := uint64(0); i < n; i++ {
		b.WriteByte(0)
	}
	return n
}

// coreFile is what a written file is, by its ELF header.
type coreFile struct {
	machine elf.Machine
	class   elf.Class
}

// newCoreFile returns the kind of file that the text of mode m at rs goes to.
func newCoreFile(rs []image.Range, m isa.Mode) coreFile {
	switch m {
	case isa.ModeA64:
		return coreFile{elf.EM_AARCH64, elf.ELFCLASS64}
	case isa.ModeA32, isa.ModeT32:
		c := coreFile{elf.EM_ARM, elf.ELFCLASS32}
		end := c.headersSize(len(rs))
		for _, r := range rs {
			end = segmentOffset(end, r.Addr) + r.Len
		}
		if n := len(rs); end > math.MaxUint32 || n > 0 && rs[n-1].Last() > math.MaxUint32 {
			return coreFile{elf.EM_AARCH64, elf.ELFCLASS64}
		}
		return c
	}
	return coreFile{elf.EM_X86_64, elf.ELFCLASS64}
}

// headersSize returns the size of all that lies before n segments.
func (c coreFile) headersSize(n int) uint64 {
	eh, ph, sh := c.sizes()
	size := eh + ph*n
	if n >= pnXNum {
		size += sh
	}
	return uint64(size)
}

// sizes returns those of an ELF header, a program header and a section header.
func (c coreFile) sizes() (eh, ph, sh int) {
	if c.class == elf.ELFCLASS32 {
		return ehSize32, phSize32, shSize32
	}
	return ehSize64, phSize64, shSize64
}

// appendWord appends an address, an offset or a size, as wide as the file has
// them.
func (c coreFile) appendWord(b []byte, v uint64) []byte {
	if c.class == elf.ELFCLASS32 {
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// writeHeaders writes all that lies before the first segment and returns its size.
func (c coreFile) writeHeaders(b *bufio.Writer, rs []image.Range) uint64 {
	le := binary.LittleEndian
	eh, ph, sh := c.sizes()
	num, shoff, shnum := len(rs), 0, 0
	if num >= pnXNum {
		num, shoff, shnum = pnXNum, eh+ph*len(rs), 1
	}
	h := append([]byte(elf.ELFMAG), byte(c.class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT))
	h = append(h, make([]byte, elf.EI_NIDENT-len(h))...)
	h = le.AppendUint16(h, uint16(elf.ET_CORE))
	h = le.AppendUint16(h, uint16(c.machine))
	h = le.AppendUint32(h, uint32(elf.EV_CURRENT))
	h = c.appendWord(h, 0)          // entry
	h = c.appendWord(h, uint64(eh)) // program headers at
	h = c.appendWord(h, uint64(shoff))
	h = le.AppendUint32(h, 0) // flags
	for _, v := range []int{eh, ph, num, sh * shnum, shnum, 0} {
		h = le.AppendUint16(h, uint16(v))
	}
	b.Write(h)
	off := c.headersSize(len(rs))
	for _, r := range rs {
		off = segmentOffset(off, r.Addr)
		b.Write(c.appendSegment(nil, off, r))
		off += r.Len
	}
	if shnum > 0 {
		at := 44 // sh_info
		if c.class == elf.ELFCLASS32 {
			at = 28
		}
		s := make([]byte, sh)
		le.PutUint32(s[at:], uint32(len(rs)))
		b.Write(s)
	}
	return c.headersSize(len(rs))
}

// appendSegment appends the program header of r, which lies at off.
func (c coreFile) appendSegment(b []byte, off uint64, r image.Range) []byte {
	le := binary.LittleEndian
	const flags = uint32(elf.PF_R | elf.PF_W | elf.PF_X)
	b = le.AppendUint32(b, uint32(elf.PT_LOAD))
	if c.class == elf.ELFCLASS64 {
		b = le.AppendUint32(b, flags)
	}
	for _, v := range []uint64{off, r.Addr, 0, r.Len, r.Len} {
		b = c.appendWord(b, v)
	}
	if c.class == elf.ELFCLASS32 {
		b = le.AppendUint32(b, flags)
	}
	return c.appendWord(b, segAlign)
}
