package image

import (
	"bytes"
	"debug/elf"
)

// noteBuildID is NT_GNU_BUILD_ID (include/uapi/linux/elf.h, v6.12).
const noteBuildID = 3

// BuildID returns the build ID of an ELF file: the contents of its note
// NT_GNU_BUILD_ID. nil if it has none or is no ELF file.
func BuildID(data []byte) []byte {
	from, to, _ := noteOf(data)
	if to == 0 {
		return nil
	}
	return data[from:to]
}

// HoldBuildID asks held for the bytes of an ELF file that BuildID reads, and no others.
func HoldBuildID(data []byte, held func(off, n int64) int64) {
	_, _, read := noteOf(data)
	for _, r := range read {
		held(int64(r.Addr), int64(r.Len))
	}
}

// noteOf returns where the build ID of an ELF file stands, and which bytes of the file
// say so. to is 0 if it has none or is no ELF file.
func noteOf(data []byte) (from, to uint64, read []Range) {
	s := elfSource{r: bytes.NewReader(data), size: int64(len(data))}
	h, err := s.header()
	if err != nil {
		return 0, 0, nil
	}
	read = append(read, Range{0, min(64, uint64(len(data)))})
	for i := range h.progs {
		p := &h.progs[i]
		read = append(read, Range{uint64(p.at), min(56, uint64(len(data))-uint64(p.at))})
		if p.typ != elf.PT_NOTE || p.off > uint64(len(data)) {
			continue
		}
		off, b := p.off, data[p.off:]
		b = b[:min(uint64(len(b)), p.filesz)]
		// A note: u32 bytes of the name, u32 bytes of what it holds, u32 type,
		// then both, each padded to 4 bytes (ELF gABI, "Note Section").
		for len(b) >= 12 {
			name, size, typ := h.order.Uint32(b), h.order.Uint32(b[4:]), h.order.Uint32(b[8:])
			at := 12 + (uint64(name)+3)&^3
			end := at + (uint64(size)+3)&^3
			if at+uint64(size) > uint64(len(b)) {
				break
			}
			read = append(read, Range{off, at})
			if typ == noteBuildID && string(b[12:12+uint64(name)]) == "GNU\x00" {
				return off + at, off + at + uint64(size), append(read, Range{off + at, uint64(size)})
			}
			n := min(end, uint64(len(b)))
			off, b = off+n, b[n:]
		}
	}
	return 0, 0, read
}
