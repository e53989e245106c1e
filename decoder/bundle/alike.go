package bundle

import (
	"debug/elf"
	"errors"
	"io"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/files"
)

// Two copies of a kernel's memory are compared page by page. A page that nothing else was
// read of, and that is alike in both, is left out of both.

// memory is a copy of a kernel's memory.
type memory struct {
	path  string
	bulk  []int64 // pages of the file that were only compared, sorted
	file  files.File
	loads []elf.ProgHeader
}

// dropAlike leaves out what is alike in two copies of the kernel's memory.
func (b *Bundle) dropAlike() (err error) {
	var list []*memory
	for _, path := range b.watch.Paths() {
		bulk := b.watch.Bulk(path)
		if len(bulk) == 0 {
			continue
		}
		m, e := b.openMemory(path)
		if e != nil || m == nil {
			continue // not a core: all of it stays
		}
		defer func() { err = errors.Join(err, m.file.Close()) }()
		slices.Sort(bulk)
		m.bulk = bulk
		list = append(list, m)
	}
	if len(list) != 2 {
		return nil
	}
	x, y := list[0], list[1]
	var ofX, ofY []int64
	var a, c [page]byte
	for _, p := range x.bulk {
		q, ok := y.page(x.addr(p))
		if _, compared := slices.BinarySearch(y.bulk, q); !ok || !compared {
			continue
		}
		n, _ := x.file.ReadAt(a[:], p*page)
		k, _ := y.file.ReadAt(c[:], q*page)
		if n == page && k == page && a == c {
			ofX, ofY = append(ofX, p), append(ofY, q)
		}
	}
	b.watch.Drop(x.path, ofX)
	b.watch.Drop(y.path, ofY)
	return nil
}

// openMemory opens a core; nil: it is none.
func (b *Bundle) openMemory(path string) (*memory, error) {
	f, err := files.Tree{FS: b.from.FS}.Open(path)
	if err != nil {
		return nil, err
	}
	e, err := elf.NewFile(io.NewSectionReader(f, 0, 1<<62))
	if err != nil || e.Type != elf.ET_CORE {
		f.Close()
		return nil, err
	}
	m := &memory{path: path, file: f}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && (p.Vaddr-p.Off)%page == 0 {
			m.loads = append(m.loads, p.ProgHeader)
		}
	}
	return m, nil
}

// addr returns the address of a page of the file; 0: it is not all memory.
func (m *memory) addr(p int64) uint64 {
	off := uint64(p) * page
	for _, l := range m.loads {
		if off >= l.Off && off+page <= l.Off+l.Filesz {
			return l.Vaddr + off - l.Off
		}
	}
	return 0
}

// page returns the page of the file that has an address.
func (m *memory) page(addr uint64) (p int64, ok bool) {
	for _, l := range m.loads {
		if addr != 0 && addr >= l.Vaddr && addr-l.Vaddr+page <= l.Filesz {
			return int64((l.Off + addr - l.Vaddr) / page), true
		}
	}
	return 0, false
}
