package export

import (
	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// stacked counts what the host executed in which stack of calls, by CPU and thread.
type stacked struct {
	calls.Tree
	job    *job
	passes *rows.Maker // nil: everything counts

	batch *decoder.Batch // at hand
	at    int            // its range that comes next
	notes int            // and its note
	stamp uint32         // of the range before

	clocks []counts.Clock // by stream
	offs   []int64        // likewise: where the trace led to what ran last, bytes
	others counts.Time    // of what the filter does not let pass
	fresh  []int32        // stacks of calls that began, and executed nothing yet

	groups []counts.Group
	byName map[counts.Group]int32
	last   []int32 // by stream: the group that ran last

	stacks []stack // from 1 on; 0: it is not known
	number map[stackOf]int32

	cells  map[cellKey]*cell
	recent []*cell // by a hash
	began  map[beganKey]uint64
}

// stackOf is what makes a stack: a call, and the stack that it was made in.
type stackOf struct {
	outer    int32  // the stack of its caller
	function int    // calls.Call.Function
	site     uint64 // the instruction of the caller that led to it; 0: not known
}

// stack is the same with the function's name.
type stack struct {
	stackOf
	addr uint64 // of the function's first instruction
	sym  string
	file string
}

// cellKey is what was executed, in which stack and by whom: the first insns of block.
type cellKey struct {
	stack, group int32
	block        *decoder.Block
	insns        uint16
}

// cell is how often that was.
type cell struct {
	cellKey
	counts.Count
	time   counts.Time // that it took
	unsure counts.Time // likewise, where that is ambiguous
	seen   uint64      // about when it was first executed, ns
}

// beganKey is calls in one stack, of one group.
type beganKey struct{ stack, group int32 }

// recentBits is how many cells are found without a search: 1<<recentBits.
const recentBits = 12

// noStamp is the index of no stamp.
const noStamp = ^uint32(0)

// newStacked returns what counts the flow of j.
func newStacked(j *job) *stacked {
	k := &stacked{job: j, passes: counts.Passing(j.session, j.filter)}
	k.Tree = calls.Tree{Session: j.session, OnBegin: k.begins, OnRan: k.ran, OnRestart: k.empties}
	k.empties()
	return k
}

// empties forgets all.
func (k *stacked) empties() bool {
	n := len(k.job.session.Streams())
	k.clocks, k.offs, k.fresh, k.last = make([]counts.Clock, n), make([]int64, n), nil, make([]int32, n)
	k.groups, k.byName = nil, map[counts.Group]int32{}
	k.stacks, k.number = make([]stack, 1), map[stackOf]int32{}
	k.cells, k.recent, k.began = map[cellKey]*cell{}, make([]*cell, 1<<recentBits), map[beganKey]uint64{}
	for i := range k.last {
		k.last[i] = -1
	}
	return true
}

// Flow counts b.
func (k *stacked) Flow(b *decoder.Batch) error {
	if b.Part != 0 || k.job.session.Streams()[b.Stream].Guest != 0 {
		return nil
	}
	k.batch, k.at, k.notes, k.stamp = b, 0, 0, noStamp
	err := k.Tree.Flow(b)
	k.noted(len(b.Ranges))
	return err
}

// noted takes the notes in front of the range with index to.
func (k *stacked) noted(to int) {
	for ; k.notes < len(k.batch.Notes) && k.batch.Notes[k.notes].At <= to; k.notes++ {
		k.clocks[k.batch.Stream].Note(&k.batch.Notes[k.notes])
	}
}

// begins notes the stack of a call.
func (k *stacked) begins(c *calls.Call) {
	c.Tag = 0
	if n := k.stackOf(c); c.How != calls.Unseen && c.How != calls.Resumed {
		k.fresh = append(k.fresh, n)
	}
}

// stackOf returns the number of the stack of c.
func (k *stacked) stackOf(c *calls.Call) int32 {
	if c == nil || c.Tag != 0 {
		return k.tagged(c)
	}
	if c.Caller != nil && (&rows.Place{Sym: c.Sym}).CallsOn() { // as folded: a trampoline is part of its caller
		n := k.stackOf(c.Caller)
		c.Tag = uint64(n)
		return n
	}
	x := stackOf{outer: k.stackOf(c.Caller), function: c.Function}
	if c.Caller != nil && c.How != calls.Jumped { // what jumped has ended, in its caller's place
		x.site = c.From
	}
	n, ok := k.number[x]
	if !ok {
		n = int32(len(k.stacks))
		k.number[x] = n
		k.stacks = append(k.stacks, stack{stackOf: x, addr: c.Addr, sym: c.Sym, file: c.File})
	}
	c.Tag = uint64(n)
	return n
}

// tagged returns the number of a stack that is known; 0 for that of nil.
func (k *stacked) tagged(c *calls.Call) int32 {
	if c == nil {
		return 0
	}
	return int32(c.Tag)
}

// group returns the number of who executes c's instructions at a time, ns.
func (k *stacked) group(c *calls.Call, now uint64) int32 {
	i := k.batch.Stream
	g := counts.Group{Stream: i, TID: -1}
	if c != nil {
		g.TID, g.Comm = c.TID, c.Comm
	} else if tid, comm, _, ok := k.job.session.Running(i, now); ok {
		g.TID, g.Comm = tid, comm
	}
	if n := k.last[i]; n >= 0 && k.groups[n] == g {
		return n
	}
	n, ok := k.byName[g]
	if !ok {
		n = int32(len(k.groups))
		k.groups, k.byName[g] = append(k.groups, g), n
	}
	k.last[i] = n
	return n
}

// ran counts a range that ran in c.
func (k *stacked) ran(c *calls.Call, r *decoder.BatchRange) {
	if k.noted(k.at); r.Stamp != k.stamp {
		k.stamp = r.Stamp
		at := &k.batch.Stamps[r.Stamp]
		k.clocks[k.batch.Stream].Reach(at.Time.Lo)
		k.offs[k.batch.Stream] = at.Off
	}
	k.at++
	if k.passes != nil && !k.passes.Passes(k.batch, r) {
		k.fresh = k.fresh[:0]
		k.clocks[k.batch.Stream].Ran(&k.others, r.N) // else what passes would take its time
		return
	}
	now := k.batch.Stamps[r.Stamp].Time.Likely()
	g := k.group(c, now)
	for _, n := range k.fresh {
		if r.Verdict != decoder.Ambiguous || k.job.ambiguous {
			k.began[beganKey{n, g}]++
		}
	}
	k.fresh = k.fresh[:0]
	x := k.cell(cellKey{k.stackOf(c), g, r.Block, r.N}, now)
	if r.Verdict == decoder.Ambiguous {
		x.Ambiguous++
		k.clocks[k.batch.Stream].Ran(&x.unsure, r.N)
	} else {
		x.N++
		k.clocks[k.batch.Stream].Ran(&x.time, r.N)
	}
}

// cell returns the cell of a key; now is the time, ns.
func (k *stacked) cell(at cellKey, now uint64) *cell {
	h := (at.block.Addr ^ uint64(at.stack)<<20) * 0x9e3779b97f4a7c15 >> (64 - recentBits)
	if x := k.recent[h]; x != nil && x.cellKey == at {
		return x
	}
	x := k.cells[at]
	if x == nil {
		x = &cell{cellKey: at, seen: now}
		k.cells[at] = x
	}
	k.recent[h] = x
	return x
}

// Close ends the calls in progress, and the clocks.
func (k *stacked) Close() error {
	k.Tree.Close()
	for i, st := range k.job.session.Streams() {
		k.clocks[i].End(st, k.offs[i])
	}
	return nil
}
