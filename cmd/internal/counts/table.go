// Package counts counts what was executed: blocks of instructions, and the edges
// between them.
//
// A Counter is a sink of flow. It fills a Table for each group that is asked for, such as a
// thread, and tells ambiguous executions from others. Code that was changed has a block
// for each of its versions, so a Table tells them apart.
//
// It prints nothing: the verbs hot and export do, and package tables. Start reading in this
// file; counter.go fills tables.
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
	ways  []way   // the same of edges
	nodes map[*decoder.Block]*node
	// By numbers of their blocks: executions that nodes do not count yet.
	tallies []tally
	walks   []*[walkChunk]walk // by number of the path
	// Edges of which one end is ambiguous: how often they were.
	doubts map[edgeEnds]uint64
	// Where a branch led to an address at which an interrupt came before the first
	// instruction.
	stray map[strayEdge]*Count
	now   uint64 // about when what is counted ran, ns
	runs  map[Run]*Count
	fresh []lately // by a hash: runs that ended last
}

// edgeEnds are the blocks at both ends of an edge.
type edgeEnds struct{ from, to *node }

// strayEdge is a branch to an address of which nothing was executed then.
type strayEdge struct {
	from *node
	to   uint64
}

// node is a block with what was counted of it. It fills a cache line.
type node struct {
	block *decoder.Block
	seen  uint64  // about when it was first executed, ns
	n     uint64  // executions of all of it that are not ambiguous
	out   [2]edge // behind such executions: where the flow went first
	*rare         // nil: none
}

// rare is what else was counted of a node.
type rare struct {
	ambiguous uint64    // executions of all of it
	parts     []*partly // executions of its first instructions
	more      []*edge   // where the flow went, besides out
	time      Time      // of all of it, where that is asked for
}

// edge is from a node to what was executed next, and how often: neither was ambiguous.
type edge struct {
	to *node
	n  uint64
}

// way is an edge with where it leaves.
type way struct {
	from *node
	*edge
}

// partly is executions of a block's first n instructions.
type partly struct {
	n uint16
	Count
	time Time // where that is asked for
}

// nearBits is how many nodes and edges of a table are found without a search: 1<<nearBits.
const nearBits = 12

// slot returns which of them an address has.
func slot(addr uint64) uint64 { return addr * 0x9e3779b97f4a7c15 >> (64 - nearBits) }

func newTable() *Table {
	return &Table{
		near: make([]*node, 1<<nearBits), ways: make([]way, 1<<nearBits), nodes: map[*decoder.Block]*node{},
		doubts: map[edgeEnds]uint64{}, stray: map[strayEdge]*Count{},
		runs: map[Run]*Count{}, fresh: make([]lately, 1<<nearBits),
	}
}

// node returns the node of b.
func (t *Table) node(b *decoder.Block) *node {
	at := &t.near[slot(b.Addr)]
	if x := *at; x != nil && x.block == b {
		return x
	}
	x := t.nodes[b]
	if x == nil {
		x = &node{block: b, seen: t.now}
		t.nodes[b] = x
	}
	*at = x
	return x
}

// edgeTo returns the edge from x to b.
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
	at := &t.ways[slot(x.block.Addr^b.Addr<<1)]
	if at.from == x && at.to.block == b {
		return at.edge
	}
	r := x.rarely()
	for _, e := range r.more {
		if e.to.block == b {
			*at = way{x, e}
			return e
		}
	}
	e := &edge{to: t.node(b)}
	r.more = append(r.more, e)
	*at = way{x, e}
	return e
}

// rarely returns what else x has, to be changed.
func (x *node) rarely() *rare {
	if x.rare == nil {
		x.rare = new(rare)
	}
	return x.rare
}

// part returns the executions of x's first n instructions. It stays where it is.
func (x *node) part(n uint16) *partly {
	r := x.rarely()
	for _, p := range r.parts {
		if p.n == n {
			return p
		}
	}
	p := &partly{n: n}
	r.parts = append(r.parts, p)
	return p
}

// timeOf returns the time of executions of x's first n instructions.
func (x *node) timeOf(n uint16) *Time {
	if n == x.block.N {
		return &x.rarely().time
	}
	return &x.part(n).time
}

// edges gives the edges that leave x.
func (x *node) edges(yield func(*edge) bool) {
	for i := range x.out {
		if e := &x.out[i]; e.to != nil && !yield(e) {
			return
		}
	}
	if x.rare != nil {
		for _, e := range x.more {
			if !yield(e) {
				return
			}
		}
	}
}

// Range is instructions in a row with how often they were executed: the first Insns of Block.
type Range struct {
	Block *decoder.Block
	Insns int // instructions
	Count
	Seen uint64 // about when Block was first executed, ns
	Time Time   // of these executions, where the Counter was asked for it; 0: none is known
}

// Last returns the address of the last instruction of r.
func (r *Range) Last() uint64 { return r.End() - uint64(r.Block.Lens[r.Insns-1]) }

// End returns the address behind the last instruction of r.
func (r *Range) End() uint64 {
	a := r.Block.Addr
	for _, l := range r.Block.Lens[:r.Insns] {
		a += uint64(l)
	}
	return a
}

// Whole reports whether r is all of its block.
func (r *Range) Whole() bool { return r.Insns == int(r.Block.N) }

// Ranges returns what was executed, by address space, address, version and length.
func (t *Table) Ranges() (list []Range) {
	t.settle()
	for _, x := range t.nodes {
		var r rare
		if x.rare != nil {
			r = *x.rare
		}
		if x.n > 0 || r.ambiguous > 0 {
			list = append(list, Range{Block: x.block, Insns: int(x.block.N), Count: Count{x.n, r.ambiguous}, Seen: x.seen, Time: r.time})
		}
		for _, p := range r.parts {
			list = append(list, Range{Block: x.block, Insns: int(p.n), Count: p.Count, Seen: x.seen, Time: p.time})
		}
	}
	slices.SortFunc(list, func(a, b Range) int {
		return cmp.Or(compareBlocks(a.Block, b.Block), cmp.Compare(a.Insns, b.Insns), cmp.Compare(a.Block.Class, b.Block.Class),
			slices.Compare(a.Block.Lens, b.Block.Lens), cmp.Compare(a.Time, b.Time))
	})
	return joined(list)
}

// joined puts ranges of equal code together, whose blocks were made apart. list is in order.
func joined(list []Range) []Range {
	n := 0
	for i := range list {
		r := &list[i]
		if n > 0 {
			if x := &list[n-1]; compareBlocks(x.Block, r.Block) == 0 && x.Insns == r.Insns && x.Block.Class == r.Block.Class && slices.Equal(x.Block.Lens, r.Block.Lens) {
				x.plus(r.Count)
				x.Seen, x.Time = min(x.Seen, r.Seen), x.Time+r.Time
				continue
			}
		}
		list[n] = *r
		n++
	}
	return list[:n]
}

// compareBlocks orders blocks by address space, address, version and end.
func compareBlocks(a, b *decoder.Block) int {
	return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Span.From, b.Span.From), cmp.Compare(a.End, b.End))
}

// Edge is how often the flow went from an instruction to an address: by a branch, or
// straight on behind one.
type Edge struct {
	From *decoder.Block // a block that the instruction is the last of
	To   uint64
	Count
	Seen uint64 // about when From was first executed, ns
}

// Taken reports whether a branch was taken: otherwise the flow went straight on.
func (e *Edge) Taken() bool { return e.To != e.From.End || always.Has(e.From.Class) }

// always is the classes that never lead straight on.
var always = isa.Set(isa.Jump, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarJump, isa.FarReturn, isa.JumpAbs)

// edgeKey says what is one edge.
type edgeKey struct {
	space    uint32
	from, to uint64
	class    isa.Class
}

// Edges returns the edges, by where they leave and where they lead.
func (t *Table) Edges() (list []Edge) {
	t.settle()
	at := map[edgeKey]int{}
	add := func(x *node, to uint64, c Count) {
		if c == (Count{}) || !leads(x.block, to) {
			return
		}
		k := edgeKey{x.block.Space, x.block.LastIP(), to, x.block.Class}
		i, ok := at[k]
		if !ok {
			i, at[k] = len(list), len(list)
			list = append(list, Edge{From: x.block, To: to, Seen: x.seen})
		}
		e := &list[i]
		if e.plus(c); compareBlocks(x.block, e.From) < 0 { // always the same one
			e.From = x.block
		}
		e.Seen = min(e.Seen, x.seen)
	}
	for _, x := range t.nodes {
		for e := range x.edges {
			add(x, e.to.block.Addr, Count{e.n, t.doubts[edgeEnds{x, e.to}]})
		}
	}
	for k, c := range t.stray {
		add(k.from, k.to, *c)
	}
	slices.SortFunc(list, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From.Space, b.From.Space), cmp.Compare(a.From.LastIP(), b.From.LastIP()),
			cmp.Compare(a.To, b.To), cmp.Compare(a.From.Class, b.From.Class))
	})
	return list
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

// Sum returns the sum of tables. It may be one of them, so it is only read.
func Sum(list []*Table) *Table {
	if len(list) == 1 {
		return list[0]
	}
	all := newTable()
	for _, t := range list {
		all.Add(t)
	}
	return all
}

// Add adds what o counted to t.
func (t *Table) Add(o *Table) {
	o.settle()
	for b, x := range o.nodes {
		t.now = x.seen
		y := t.node(b)
		y.seen = min(y.seen, x.seen)
		y.n += x.n
		for e := range x.edges {
			t.edgeTo(y, e.to.block).n += e.n
		}
		if x.rare == nil {
			continue
		}
		r := y.rarely()
		r.ambiguous, r.time = r.ambiguous+x.ambiguous, r.time+x.time
		for _, p := range x.parts {
			q := y.part(p.n)
			q.plus(p.Count)
			q.time += p.time
		}
	}
	for k, c := range o.runs {
		t.run(k).plus(*c)
	}
	for k, n := range o.doubts {
		t.doubts[edgeEnds{t.node(k.from.block), t.node(k.to.block)}] += n
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
