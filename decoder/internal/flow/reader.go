package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// reader reads code for one walker. What is true for all that the clock allows
// comes out of the cache, which all walkers share. What lies at a contested site
// comes as of one epoch, and out of what was read there before.
type reader struct {
	builder
	kernel uint64 // lowest address that is the kernel's
	cache  *Cache
	table  *[1 << tableBits]*Block // of the cache's blocks, those last used
	reads  map[readKey]*Block
	watch  *Watch // nil: nobody asks what is read
}

// tableBits is log2 of the private table's entries.
const tableBits = 12

// newReader returns a reader of text for walks by the rules, which keeps blocks in c.
func newReader(text Text, c *Cache, dec isa.Decoder, rules *isa.Rules, kernel uint64) reader {
	return reader{builder: builder{text: text, dec: dec, rules: rules}, kernel: kernel, cache: c, table: new([1 << tableBits]*Block)}
}

// isKernel reports whether addr is the kernel's.
func (c *reader) isKernel(addr uint64) bool { return addr >= c.kernel }

// spaceOf returns the address space in which addr is read by a flow that is in
// space: the kernel is the same in all.
func (c *reader) spaceOf(space uint32, addr uint64) uint32 {
	if c.isKernel(addr) && space != guestSpace {
		return 0
	}
	return space
}

// block returns the block at addr that is true for every epoch in [lo, hi],
// or nil when the text there changes in between.
func (c *reader) block(space uint32, addr uint64, m isa.Mode, lo, hi event.Epoch) *Block {
	space = c.spaceOf(space, addr)
	k := key{addr, space, m}
	slot := &c.table[k.hash()>>(64-tableBits)]
	b := *slot
	if b == nil || b.Addr != addr || b.Space != space || b.Mode != m || b.Span.From > lo || lo >= b.Span.Until {
		// One version is true at lo, so one look tells: between two, another worker
		// may have put it in.
		if b = c.cache.find(k, lo); b == nil {
			b = c.cache.add(k, c.build(space, addr, m, lo, 0, maxInsns))
		}
		*slot = b
	}
	if c.watch != nil {
		c.watch.ranLately(b) // it may be
	}
	if lo < b.Span.From || hi >= b.Span.Until {
		return nil
	}
	return b
}

// readKey is what a block read for a contested site depends on.
type readKey struct {
	addr, limit uint64
	space       uint32
	at          event.Epoch
	max         uint16
	mode        isa.Mode
}

// maxReads bounds the blocks that read keeps.
const maxReads = 1 << 14

// read is builder.build, but for what it has read before: the same sites are
// visited over and over while a window is open.
func (c *reader) read(space uint32, addr uint64, m isa.Mode, at event.Epoch, limit uint64, max int) *Block {
	k := readKey{addr, limit, space, at, uint16(max), m}
	b := c.reads[k]
	if b == nil {
		if c.reads == nil || len(c.reads) >= maxReads {
			c.reads = make(map[readKey]*Block)
		}
		b = c.build(space, addr, m, at, limit, max)
		b.Number = c.cache.numbers.Add(1)
		c.reads[k] = b
	}
	if c.watch != nil {
		c.watch.ranLately(b)
	}
	return b
}

// insn reads the instruction at ip as of epoch at.
func (c *reader) insn(ip uint64, m isa.Mode, at event.Epoch) (in isa.Insn, ok bool) {
	c.watch.read(ip, ip+mostInsn)
	n, _ := c.text.Fetch(c.buf[:c.dec.MaxLen()], 0, ip, at)
	ok = c.dec.Decode(&c.in, c.buf[:n], ip, m) == isa.OK
	return c.in, ok
}
