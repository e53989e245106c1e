package perfdata

import "sync/atomic"

// residentBytes is how much of the files is looked at, bytes, until the process lets go of it.
const residentBytes = 32 << 20

// nearPages is how much the system maps around a byte that is looked at, bytes, a power of
// two (mm/memory.c, fault_around_bytes, v6.12).
const nearPages = 64 << 10

// resident bounds how much of the mapped files stays in the process's memory. What was looked
// at once counts as the process's own until the system needs room, however large the file is.
type resident struct {
	r     *Recording
	bytes atomic.Int64 // that were looked at since forget
}

// looks notes that n bytes are looked at.
func (m *resident) looks(n int64) {
	if m != nil && m.bytes.Add(n) >= residentBytes {
		m.bytes.Store(0)
		m.forget()
	}
}

// passes notes that a record in [off, next) is looked at, without what follows it in its span.
func (m *resident) passes(off, next int64) {
	if off/nearPages != next/nearPages {
		m.looks(nearPages)
	}
}

// forget lets go of all pages. Those that are looked at again are mapped anew, mostly from
// the system's own copy. Where bytes were mended, the changes are nowhere but in the pages.
func (m *resident) forget() {
	if m.r.hints.Mended > 0 {
		return
	}
	for _, s := range m.r.srcs {
		if s.mapped && len(s.data) > residentBytes {
			letGo(s.data)
		}
	}
}
