package diff

import (
	"fmt"
	"strings"
)

// function names a function wherever it was loaded. Where nothing names the functions of
// a program's file, all of the file is one.
type function struct{ file, sym string }

// String renders the function, with its module or its file.
func (f function) String() string {
	switch {
	case f.sym == "":
		return f.file
	case f.file == "" || strings.HasPrefix(f.file, "[kernel"):
		return f.sym
	case strings.HasPrefix(f.file, "["):
		return f.sym + " " + f.file
	}
	return f.sym + " (" + f.file + ")"
}

// place is an instruction: its offset in a function, bytes.
type place struct {
	of  function
	off uint64
}

// String renders the place.
func (p place) String() string {
	f := p.of
	name := f.sym
	if name == "" {
		name = f.file
	}
	name = fmt.Sprintf("%s+0x%x", name, p.off)
	if f.sym != "" {
		name += strings.TrimPrefix(f.String(), f.sym)
	}
	return name
}

// edge is a branch taken.
type edge struct{ from, to place }

// insn is what is counted of one instruction.
type insn struct {
	tally
	size uint64 // bytes
}

// side is what one recording executed, by place.
type side struct {
	functions map[function]map[uint64]*insn // by offset
	times     map[function]float64          // ns
	edges     map[edge]tally
	poked     map[place]bool // bytes that changes replace
	unnamed   uint64         // executions of instructions that nothing names
}

// side finds the names of what c counted.
func (c *counter) side() *side {
	d := &side{functions: map[function]map[uint64]*insn{}, times: map[function]float64{}, edges: map[edge]tally{}, poked: map[place]bool{}}
	for _, x := range c.blocks {
		addr := x.block.Addr
		for i, l := range x.block.Lens {
			n := x.whole
			for k, t := range x.runs {
				if int(k) > i {
					n.plus(t)
				}
			}
			p, ok := c.place(x.block.Space, addr, x.time)
			switch {
			case n == (tally{}):
			case ok:
				d.insn(p, uint64(l)).plus(n)
				d.times[p.of] += x.ns / float64(len(x.block.Lens))
			default:
				d.unnamed += n.all()
			}
			addr += uint64(l)
		}
		from, ok := c.place(x.block.Space, x.block.LastIP(), x.time)
		for a, n := range x.to {
			if to, known := c.place(x.block.Space, a, x.time); ok && known {
				k := d.edges[edge{from, to}]
				k.plus(n)
				d.edges[edge{from, to}] = k
			}
		}
	}
	for k := range c.s.Pokes() {
		if len(k.Old) == 0 || len(k.New) == 0 {
			continue // code that came or went
		}
		for i := range k.Range().Len {
			if p, ok := c.place(0, k.Addr+i, k.Time); ok {
				d.poked[p] = true
			}
		}
		// A breakpoint in its place stands for the instruction.
		if p, ok := c.place(0, k.Addr, k.Time); ok && c.traps[k.Addr] > 0 {
			d.insn(p, 1).sure += c.traps[k.Addr]
			delete(c.traps, k.Addr)
		}
	}
	return d
}

// insn returns what is counted of p.
func (d *side) insn(p place, size uint64) *insn {
	f := d.functions[p.of]
	if f == nil {
		f = map[uint64]*insn{}
		d.functions[p.of] = f
	}
	x := f[p.off]
	if x == nil {
		x = &insn{size: size}
		f[p.off] = x
	}
	x.size = max(x.size, size)
	return x
}

// place names an address; ok is false where nothing does.
func (c *counter) place(space uint32, addr, time uint64) (place, bool) {
	sym, off, file, ok := c.s.Symbol(space, addr, time)
	return place{function{file, sym}, off}, ok && (sym != "" || file != "")
}

// ran is how often an instruction was executed.
func (d *side) ran(p place) tally {
	if x := d.functions[p.of][p.off]; x != nil {
		return x.tally
	}
	return tally{}
}

// entered is how often a function was entered, and how many instructions of it were
// executed.
func (d *side) entered(f function) (calls, insns tally) {
	for off, x := range d.functions[f] {
		if insns.plus(x.tally); off == 0 {
			calls = x.tally
		}
	}
	return calls, insns
}
