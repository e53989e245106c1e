package sim

import "fmt"

// region is a stretch of address space that holds code.
type region struct {
	base uint64
	size uint64
}

// Where the machine's code lies. The kernel's text is at textBase; what is
// allocated while it runs (slots, trampolines) at dynBase.
const (
	textBase = 0xffffffff81000000
	dynBase  = 0xffffffffa0000000
	dynSize  = 8192
)

// write is one store to text that an instruction cache has not taken in yet.
type write struct {
	addr uint64
	data []byte
	due  uint64 // time at which the cache takes it in at the latest, ticks
	poke *Poke  // nil: none
	kind writeKind
}

// writeKind says what a write means to a CPU that sees it.
type writeKind uint8

const (
	writeOther writeKind = iota
	writeTrap            // the breakpoint appears
	writeNew             // the first byte (or the whole) of the new text
)

// memory is the code as it is stored: what a cache sees once it is clean.
type memory struct {
	regions [2]region
	bytes   [2][]byte
}

func (m *memory) at(addr uint64) (r int, off uint64) {
	for i := range m.regions {
		if off := addr - m.regions[i].base; off < m.regions[i].size {
			return i, off
		}
	}
	panic(fmt.Sprintf("sim: no code at %#x", addr))
}

// read returns n bytes at addr (fewer at the end of the region).
func (m *memory) read(addr uint64, n int) []byte {
	r, off := m.at(addr)
	b := m.bytes[r][off:]
	return append([]byte(nil), b[:min(n, len(b))]...)
}

func (m *memory) store(addr uint64, data []byte) {
	r, off := m.at(addr)
	copy(m.bytes[r][off:], data)
}

// icache is the code as one CPU sees it: a copy of memory that lags behind,
// with the instructions that were decoded from it.
type icache struct {
	memory
	insns   [2][]insn // by offset; len 0: not decoded
	pending []write   // oldest first
	due     uint64    // earliest due of pending, ticks; never if none
}

const never = 1<<64 - 1

func newICache(m *memory) *icache {
	c := &icache{memory: memory{regions: m.regions}, due: never}
	for i := range m.bytes {
		c.bytes[i] = append([]byte(nil), m.bytes[i]...)
		c.insns[i] = make([]insn, len(m.bytes[i]))
	}
	return c
}

// push adds a store that this cache has yet to see. Stores to the same bytes
// are seen in the order they were made.
func (c *icache) push(w write) {
	for _, p := range c.pending {
		if p.addr < w.addr+uint64(len(w.data)) && w.addr < p.addr+uint64(len(p.data)) {
			w.due = max(w.due, p.due)
		}
	}
	c.pending = append(c.pending, w)
	c.due = min(c.due, w.due)
}

// absorb takes in the stores that are due at time t and calls seen for each.
func (c *icache) absorb(t uint64, seen func(*write)) {
	keep := c.pending[:0]
	c.due = never
	for i := range c.pending {
		w := c.pending[i]
		if w.due > t {
			keep = append(keep, w)
			c.due = min(c.due, w.due)
			continue
		}
		c.store(w.addr, w.data)
		r, off := c.at(w.addr)
		lo := off - min(off, 14) // an instruction is 15 bytes at most
		clear(c.insns[r][lo:min(off+uint64(len(w.data)), uint64(len(c.insns[r])))])
		seen(&w)
	}
	c.pending = keep
}
