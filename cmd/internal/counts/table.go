// Package counts counts what was executed: blocks of instructions, and the edges
// between them.
//
// A Counter is a sink of flow. It fills a Table for each group that is asked for, such as a
// thread, and tells ambiguous executions from others. Code that was changed has a block
// for each of its versions, so a Table tells them apart.
package counts

import (
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Count is how often something was executed.
type Count struct {
	N         uint64 // executions that are not ambiguous
	Ambiguous uint64
}

// plus adds o to c.
func (c *Count) plus(o Count) { c.N, c.Ambiguous = c.N+o.N, c.Ambiguous+o.Ambiguous }

// Table is how often blocks and edges were executed.
type Table struct {
	near  []*node // by a hash of the address: those asked for last
	nodes map[*decoder.Block]*node
	// Where a branch led to an address at which an interrupt came before the first
	// instruction.
	stray map[strayEdge]*Count
}

// strayEdge is a branch to an address of which nothing was executed then.
type strayEdge struct {
	from *node
	to   uint64
}

// node is a block with what was counted of it.
type node struct {
	block *decoder.Block
	whole Count    // executions of all of it
	out   [2]edge  // behind whole executions: where the flow went first
	more  []edge   // and where else
	parts []partly // executions of its first instructions
	time  float64  // ns, where that is asked for
}

// edge is from a node to what was executed next.
type edge struct {
	to *node
	Count
}

// partly is executions of a block's first n instructions.
type partly struct {
	n uint16
	Count
}

// nearBits is how many nodes of a table are found without a map: 1<<nearBits.
const nearBits = 12

func newTable() *Table {
	return &Table{near: make([]*node, 1<<nearBits), nodes: map[*decoder.Block]*node{}, stray: map[strayEdge]*Count{}}
}

// node returns the node of b.
func (t *Table) node(b *decoder.Block) *node {
	slot := &t.near[b.Addr*0x9e3779b97f4a7c15>>(64-nearBits)]
	if x := *slot; x != nil && x.block == b {
		return x
	}
	x := t.nodes[b]
	if x == nil {
		x = &node{block: b}
		t.nodes[b] = x
	}
	*slot = x
	return x
}

// edgeTo returns the edge from x to what lies in b.
func (t *Table) edgeTo(x *node, b *decoder.Block) *edge {
	for i := range x.out {
		e := &x.out[i]
		if e.to == nil {
			e.to = t.node(b)
		}
		if e.to.block == b {
			return e
		}
	}
	for i := range x.more {
		if e := &x.more[i]; e.to.block == b {
			if i > 0 { // what comes often comes to the front
				x.more[i], x.more[i-1] = x.more[i-1], x.more[i]
				e = &x.more[i-1]
			}
			return e
		}
	}
	x.more = append(x.more, edge{to: t.node(b)})
	return &x.more[len(x.more)-1]
}

// part returns the count of executions of x's first n instructions.
func (x *node) part(n uint16) *Count {
	for i := range x.parts {
		if p := &x.parts[i]; p.n == n {
			return &p.Count
		}
	}
	x.parts = append(x.parts, partly{n: n})
	return &x.parts[len(x.parts)-1].Count
}

// Range is instructions in a row with how often they were executed: the first N of Block.
type Range struct {
	Block *decoder.Block
	N     int // instructions
	Count
	Time float64 // that passed in it, ns, where the Counter was asked for it
}

// Last returns the address of the last instruction of r.
func (r *Range) Last() uint64 { return r.End() - uint64(r.Block.Lens[r.N-1]) }

// End returns the address behind the last instruction of r.
func (r *Range) End() uint64 {
	a := r.Block.Addr
	for _, l := range r.Block.Lens[:r.N] {
		a += uint64(l)
	}
	return a
}

// Whole reports whether r is all of its block.
func (r *Range) Whole() bool { return r.N == int(r.Block.N) }

// Ranges returns what was executed, by address space, address, version and length. Time
// stands at the longest range of a block.
func (t *Table) Ranges() (list []Range) {
	for _, x := range t.nodes {
		at := len(list)
		if x.whole != (Count{}) {
			list = append(list, Range{Block: x.block, N: int(x.block.N), Count: x.whole})
		}
		for _, p := range x.parts {
			list = append(list, Range{Block: x.block, N: int(p.n), Count: p.Count})
		}
		if len(list) > at {
			list[at].Time = x.time
		}
	}
	slices.SortFunc(list, func(a, b Range) int {
		return cmp.Or(compareBlocks(a.Block, b.Block), cmp.Compare(a.N, b.N))
	})
	return list
}

// compareBlocks orders blocks by address space, address, version and end.
func compareBlocks(a, b *decoder.Block) int {
	return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Span.From, b.Span.From), cmp.Compare(a.End, b.End))
}

// Edge is how often the flow went from the end of one block to an address: by a branch, or
// straight on.
type Edge struct {
	From *decoder.Block
	To   uint64
	Into *decoder.Block // what was executed at To; nil: an interrupt came before
	Count
}

// Taken reports whether a branch was taken: otherwise the flow went straight on.
func (e *Edge) Taken() bool { return e.To != e.From.End || always.Has(e.From.Class) }

// always is the classes that never lead straight on.
var always = isa.Set(isa.Jump, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarJump, isa.FarReturn, isa.JumpAbs)

// Edges returns the edges, by where they leave and where they lead.
func (t *Table) Edges() (list []Edge) {
	for _, x := range t.nodes {
		for i := range x.out {
			list = x.appendEdge(list, &x.out[i])
		}
		for i := range x.more {
			list = x.appendEdge(list, &x.more[i])
		}
	}
	for k, c := range t.stray {
		if leads(k.from.block, k.to) {
			list = append(list, Edge{k.from.block, k.to, nil, *c})
		}
	}
	slices.SortFunc(list, func(a, b Edge) int {
		r := cmp.Or(cmp.Compare(a.From.Space, b.From.Space), cmp.Compare(a.From.LastIP(), b.From.LastIP()), compareBlocks(a.From, b.From), cmp.Compare(a.To, b.To))
		switch {
		case r != 0 || a.Into == b.Into:
			return r
		case a.Into == nil:
			return -1
		case b.Into == nil:
			return 1
		}
		return compareBlocks(a.Into, b.Into)
	})
	return list
}

// appendEdge appends e, which leaves x, where it is one.
func (x *node) appendEdge(list []Edge, e *edge) []Edge {
	if e.to == nil || e.Count == (Count{}) || !leads(x.block, e.to.block.Addr) {
		return list
	}
	return append(list, Edge{x.block, e.to.block.Addr, e.to.block, e.Count})
}

// leads reports whether the flow can go from the end of b to an address. Where trace was
// lost without a gap it may stand elsewhere.
func leads(b *decoder.Block, to uint64) bool {
	if to == b.End {
		return true
	}
	switch b.Class {
	case isa.Jump, isa.Cond, isa.Call:
		return to == b.Target
	}
	return always.Has(b.Class)
}

// Add adds what o counted to t.
func (t *Table) Add(o *Table) {
	for b, x := range o.nodes {
		y := t.node(b)
		y.whole.plus(x.whole)
		y.time += x.time
		for _, p := range x.parts {
			y.part(p.n).plus(p.Count)
		}
		for _, e := range append(x.out[:], x.more...) {
			if e.to != nil {
				t.edgeTo(y, e.to.block).Count.plus(e.Count)
			}
		}
	}
	for k, c := range o.stray {
		t.leave(t.node(k.from.block), k.to).plus(*c)
	}
}

// leave returns the count of the edge from x to an address of which nothing was executed.
func (t *Table) leave(x *node, to uint64) *Count {
	c := t.stray[strayEdge{x, to}]
	if c == nil {
		c = new(Count)
		t.stray[strayEdge{x, to}] = c
	}
	return c
}
