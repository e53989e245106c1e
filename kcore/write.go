package kcore

import (
	"bufio"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Ranges returns the addresses whose bytes are known at an epoch, ascending,
// adjoining ranges joined.
func (t *Text) Ranges(e event.Epoch) []Range {
	var known, poked []Range
	for _, pg := range t.order {
		for i := range t.pages[pg].cells {
			c := &t.pages[pg].cells[i]
			r := Range{pg<<pageShift + uint64(c.off), uint64(c.end - c.off)}
			poked = append(poked, r)
			if data, _ := c.at(e, 0, int(r.Len)); data != nil {
				known = append(known, r)
			}
		}
	}
	for _, r := range t.img.Ranges() { // what of it lies beside the cells
		i, _ := slices.BinarySearchFunc(poked, r.Addr, func(p Range, a uint64) int { return cmp.Compare(p.last(), a) })
		for at := r.Addr; ; i++ {
			if i == len(poked) || poked[i].Addr > r.last() {
				known = append(known, Range{at, r.last() - at + 1})
				break
			}
			if poked[i].Addr > at {
				known = append(known, Range{at, poked[i].Addr - at})
			}
			if poked[i].last() >= r.last() {
				break
			}
			at = poked[i].last() + 1
		}
	}
	slices.SortFunc(known, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
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
	pnXNum   = 0xffff // e_phnum that says: see sh_info of section header 0 (ELF gABI, "ELF Header")
	segAlign = 0x1000
	emX86_64 = uint16(elf.EM_X86_64)
	elfIdent = "\x7fELF\x02\x01\x01"
)

// WriteKcore writes the text as of an epoch as an ELF core in the layout of
// /proc/kcore: a loadable segment for each stretch of known bytes. What is
// unknown is left out.
func WriteKcore(w io.Writer, t *Text, e event.Epoch) error {
	rs := t.Ranges(e)
	b := bufio.NewWriterSize(w, 1<<16)
	pos := writeHeaders(b, rs)
	buf := make([]byte, 1<<16)
	for _, r := range rs {
		pos += writeZeros(b, segmentOffset(pos, r.Addr)-pos)
		for r.Len > 0 {
			n, _ := t.Fetch(buf[:min(r.Len, uint64(len(buf)))], r.Addr, e)
			if n == 0 {
				return &FormatError{File: "image", Off: int64(r.Addr), What: "text: it could be read before and can not be now"}
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

// writeHeaders writes all that lies before the first segment and returns its size.
func writeHeaders(b *bufio.Writer, rs []Range) uint64 {
	le := binary.LittleEndian
	num, shoff, shnum := len(rs), uint64(0), 0
	pos := uint64(ehSize64 + phSize64*len(rs))
	if num >= pnXNum {
		num, shoff, shnum = pnXNum, pos, 1
		pos += shSize64
	}
	h := append([]byte(elfIdent), make([]byte, 9)...)
	h = le.AppendUint16(h, uint16(elf.ET_CORE))
	h = le.AppendUint16(h, emX86_64)
	h = le.AppendUint32(h, 1)        // version
	h = le.AppendUint64(h, 0)        // entry
	h = le.AppendUint64(h, ehSize64) // program headers at
	h = le.AppendUint64(h, shoff)
	h = le.AppendUint32(h, 0) // flags
	for _, v := range []int{ehSize64, phSize64, num, shSize64 * shnum, shnum, 0} {
		h = le.AppendUint16(h, uint16(v))
	}
	b.Write(h)
	off := pos
	for _, r := range rs {
		off = segmentOffset(off, r.Addr)
		var p []byte
		p = le.AppendUint32(p, uint32(elf.PT_LOAD))
		p = le.AppendUint32(p, uint32(elf.PF_R|elf.PF_W|elf.PF_X))
		for _, v := range []uint64{off, r.Addr, 0, r.Len, r.Len, segAlign} {
			p = le.AppendUint64(p, v)
		}
		b.Write(p)
		off += r.Len
	}
	if shnum > 0 {
		sh := make([]byte, shSize64)
		le.PutUint32(sh[44:], uint32(len(rs))) // sh_info
		b.Write(sh)
	}
	return pos
}
