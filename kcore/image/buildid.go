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
	s := elfSource{r: bytes.NewReader(data), size: int64(len(data))}
	h, err := s.header()
	if err != nil {
		return nil
	}
	for i := range h.progs {
		p := &h.progs[i]
		if p.typ != elf.PT_NOTE || p.off > uint64(len(data)) {
			continue
		}
		b := data[p.off:]
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
			if typ == noteBuildID && string(b[12:12+uint64(name)]) == "GNU\x00" {
				return b[at : at+uint64(size)]
			}
			b = b[min(end, uint64(len(b))):]
		}
	}
	return nil
}
