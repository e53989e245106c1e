package calls

import (
	"math/bits"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// place is what a block is of, or an address. It is 24 bytes: many are looked up, each long after the last time.
type place struct {
	*function
	block *decoder.Block
	first bool // it begins with the function's first instruction
	// simple: a call of it is nothing but that, where the caller is no thunk.
	simple bool
	thunk  bool // the same of a thunk
	steady bool // it is the kernel's, of the same name at any time
	called bool // simple and steady
	parted bool // the block is of more functions: Tree.parts
}

// part is what a block has of one more function.
type part struct {
	*function
	at    int // instructions of the block before it
	first bool
}

// functionAt is where a function begins. A few share it: names may change, and static ones have others elsewhere.
type functionAt struct {
	guest int32
	space uint32
	addr  uint64
}

// Of how many blocks the functions are kept: at first, and at most. These are powers of two. The first is what most
// recordings need: memory that is not touched costs nothing, and a table that grows is touched twice.
const (
	placesFirst = 1 << 14
	placesMost  = 1 << 18
)

// slot returns where it is kept what b is of.
func (t *Tree) slot(b *decoder.Block) *place { return &t.places[int(b.Number)&(len(t.places)-1)] }

// morePlaces makes room for the block with number n, as far as there may be.
func (t *Tree) morePlaces(n uint32) {
	old := t.places
	t.written = len(old)
	t.places = make([]place, min(placesMost, 1<<bits.Len32(n)))
	for i := range old {
		if b := old[i].block; b != nil {
			*t.slot(b) = old[i]
		}
	}
}

// placesAhead is how many places are written ahead of those that are used.
const placesAhead = 2048

// writesAhead writes to memory that the next places will take. It would be read before it is written: then the
// system first lends a page of zeros, and interrupts all CPUs as it takes that away for the first write.
func (t *Tree) writesAhead(n int) {
	if to := min(n+placesAhead, len(t.places)); t.written < to-placesAhead/2 && n < to {
		clear(t.places[t.written:to])
		t.written = to
	}
}

// placeOf returns what b is of. The answer holds until the next call.
func (c *cpu) placeOf(b *decoder.Block) *place {
	p := c.slot(b)
	if p.block == b {
		return p
	}
	if n := len(c.places); int(b.Number) >= n && n < placesMost {
		c.morePlaces(b.Number)
		p = c.slot(b)
	}
	other := &c.places[(int(b.Number)^1)&(len(c.places)-1)]
	if other.block == b {
		return other
	}
	c.writesAhead(int(b.Number))
	if p.block != nil {
		if other.parted {
			delete(c.parts, other.block)
		}
		*other = *p
	}
	*p = c.at(b.Space, b.Addr)
	p.block = b
	if last := b.LastIP(); b.N > 1 && (p.unnamed || last-p.lo >= p.size) {
		c.divide(p, b)
	}
	if !p.unnamed && p.parted {
		p.grow(b, c.parts[b][0].Addr)
	} else if !p.unnamed {
		p.grow(b, b.End)
	}
	plain := p.first && !p.parted && !p.switches && !p.callsOn
	p.simple, p.thunk = plain && !p.leadsOn, plain && p.leadsOn
	if y := c.machine.Symbols(); y != nil && !p.steady {
		p.steady = c.machine.Kernel(b.Addr) && y.Steady(b.Addr)
	}
	p.called = p.simple && p.steady
	return p
}

// grow notes that b is f's up to end.
func (f *function) grow(b *decoder.Block, end uint64) {
	if f.size < end-f.lo && end > f.lo {
		f.size = end - f.lo
	}
}

// divide finds which functions b is of, behind the one that it begins with.
func (c *cpu) divide(p *place, b *decoder.Block) {
	addr, f := b.Addr, p.function
	if !p.unnamed && c.machine.Kernel(addr) && c.at(b.Space, b.LastIP()).function == f {
		return // where one of the kernel's functions ends the next one begins
	}
	var parts []part
	for i, l := range b.Lens {
		if i > 0 {
			if q := c.at(b.Space, addr); q.function != f && q.first && !q.unnamed {
				f = q.function
				p.parted = true
				parts = append(parts, part{f, i, q.first})
			}
		}
		addr += uint64(l)
	}
	if p.parted {
		if c.parts == nil {
			c.Tree.parts = map[*decoder.Block][]part{}
		}
		c.parts[b] = parts
	}
}

// at returns what lies at addr. What has no name is a function of its own.
func (c *cpu) at(space uint32, addr uint64) place {
	if all := c.machine.Symbols(); all != nil && c.machine == c.Session && c.machine.Kernel(addr) {
		if y, index := all.Steadily(addr); y != nil {
			f := steadily(c, y, index)
			return place{function: f, first: f.Addr == addr && !f.slots, steady: true}
		}
	}
	if c.machine.Kernel(addr) {
		space = 0
	}
	sym, off, file, ok := c.machine.Symbol(space, addr, c.stated)
	if !ok || sym == "" {
		sym, off = "", 0
	}
	f := functionOf(c, functionAt{c.st.Guest, space, addr - off}, sym, file)
	return place{function: f, first: f.Addr == addr && !f.unnamed && !f.slots}
}

// steadily returns the function that y names, by its index (symbols.Table.Steadily).
func steadily(c *cpu, y *symbols.Symbol, index int) *function {
	for index >= len(c.steady) {
		c.Tree.steady = append(c.steady, nil)
	}
	f := c.steady[index]
	if f == nil {
		f = functionOf(c, functionAt{c.st.Guest, 0, y.Addr}, y.Name, y.File())
		f.size = max(f.size, y.Len)
		c.steady[index] = f
	}
	return f
}

// coldSuffix ends the name of what a compiler moved out of a function.
const coldSuffix = ".cold"

// functionOf returns the function of a name that begins there.
func functionOf(c *cpu, at functionAt, sym, file string) *function {
	f := c.find(at, sym, file)
	if f != nil {
		return f
	}
	f = &function{at: at, Sym: sym, File: file, Addr: at.addr, lo: at.addr, unnamed: sym == ""}
	here := rows.Place{Sym: sym}
	f.leadsOn = here.LeadsOn(c.machine.Kernel(at.addr))
	if at.space == 0 && sym != "" {
		f.callsOn, f.switches, f.slots = here.CallsOn(), c.switches != "" && sym == c.switches, here.InSlot()
	}
	f.inner = strings.HasSuffix(sym, coldSuffix)
	c.finds(f)
	return f
}

// find returns the function of a name that begins there, nil if the flow did not come to it.
func (t *Tree) find(at functionAt, sym, file string) *function {
	f := t.found[at]
	for f != nil && (f.Sym != sym || f.File != file) {
		f = f.also
	}
	return f
}

// finds adds f to the functions.
func (t *Tree) finds(f *function) {
	f.also, f.Function = t.found[f.at], len(t.functions)
	t.found[f.at] = f
	t.functions = append(t.functions, f)
}

// switchName names the function in which a kernel takes another thread's stack, "" where
// its symbols have none. __switch_to of arm64 calls the one that does.
func switchName(s *decoder.Session) string {
	if y := s.Symbols(); y != nil {
		for _, name := range []string{"cpu_switch_to", "__switch_to"} {
			if _, ok := y.Find(name); ok {
				return name
			}
		}
	}
	return ""
}
