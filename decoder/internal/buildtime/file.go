package buildtime

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// maxFile bounds what is read of a file, bytes.
const maxFile = 1 << 30

// stretch is what one segment of the file holds, at the addresses of the link.
type stretch struct {
	addr uint64
	data []byte
	exec bool
}

// vmlinux is a kernel's file in memory.
type vmlinux struct {
	segs     []stretch // by address
	sections map[string]stretch
	symbols  map[string]uint64
	text     stretch    // the lowest executable segment, as far as it is code
	init     [2]stretch // code that boot throws away
	arm      bool       // of arm64, else of x86-64
}

// load reads a file. It keeps what lies in the kernel's half of the addresses.
func load(r io.ReaderAt, size int64, name string) (*vmlinux, error) {
	f, err := elf.NewFile(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, &badfile.Error{File: name, What: "vmlinux", Err: err}
	}
	v := &vmlinux{sections: map[string]stretch{}, symbols: map[string]uint64{}, arm: f.Machine == elf.EM_AARCH64}
	var total uint64
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Vaddr < 1<<63 || p.Filesz == 0 {
			continue
		}
		if total += p.Filesz; p.Filesz > maxFile || total > maxFile {
			return nil, &badfile.Error{File: name, What: fmt.Sprintf("vmlinux: segments of over %d bytes", maxFile)}
		}
		if p.Off > uint64(size) || p.Filesz > uint64(size)-p.Off || p.Vaddr+p.Filesz < p.Vaddr {
			return nil, &badfile.Error{File: name, What: fmt.Sprintf("vmlinux: segment at %#x: %d bytes from %#x on, the file has %#x", p.Vaddr, p.Filesz, p.Off, size)}
		}
		b := make([]byte, p.Filesz)
		if _, err := r.ReadAt(b, int64(p.Off)); err != nil && err != io.EOF {
			return nil, &badfile.Error{File: name, Off: int64(p.Off), What: "vmlinux", Err: err}
		}
		v.segs = append(v.segs, stretch{p.Vaddr, b, p.Flags&elf.PF_X != 0})
	}
	slices.SortFunc(v.segs, func(a, b stretch) int {
		if a.addr < b.addr {
			return -1
		}
		return 1
	})
	for _, s := range f.Sections {
		if b := v.at(s.Addr, s.Size); b != nil && s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_ALLOC != 0 {
			v.sections[s.Name] = stretch{s.Addr, b, s.Flags&elf.SHF_EXECINSTR != 0}
		}
	}
	v.text = v.sections[".text"]
	v.init = [2]stretch{v.sections[".init.text"], v.sections[".exit.text"]}
	for _, s := range v.segs {
		if v.text.data == nil && s.exec {
			v.text = s
		}
	}
	syms, _ := f.Symbols() // an error here is a stripped file
	for _, y := range syms {
		if y.Section != elf.SHN_UNDEF && y.Name != "" {
			v.symbols[y.Name] = y.Value
		}
	}
	return v, nil
}

// at returns the n bytes at addr; nil where the file has not got them all.
func (v *vmlinux) at(addr, n uint64) []byte {
	i := sort.Search(len(v.segs), func(i int) bool { return v.segs[i].addr > addr }) - 1
	if i < 0 {
		return nil
	}
	s := &v.segs[i]
	d := addr - s.addr
	if d > uint64(len(s.data)) || n > uint64(len(s.data))-d {
		return nil
	}
	return s.data[d : d+n : d+n]
}

// isText reports whether addr is in code that stays after boot.
func (v *vmlinux) isText(addr uint64) bool {
	return addr-v.text.addr < uint64(len(v.text.data))
}

// relative returns what the 32-bit distance at the front of b, which lies at addr,
// leads to.
func relative(b []byte, addr uint64) uint64 {
	return addr + uint64(int64(int32(binary.LittleEndian.Uint32(b))))
}

// branchTo returns where the direct branch of 5 bytes at addr leads, and its opcode;
// ok is false where there is none.
func (v *vmlinux) branchTo(addr uint64) (op byte, to uint64, ok bool) {
	b := v.at(addr, 5)
	if b == nil || b[0] != opCall && b[0] != opJump {
		return 0, 0, false
	}
	return b[0], relative(b[1:], addr+5), true
}
