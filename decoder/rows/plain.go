package rows

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// segment is a stretch of flow that waits in the queue in place of its rows.
type segment struct {
	st   *Stream
	b    flow.Batch
	n    int // ranges that have rows
	rows int
}

// plainly reports whether stretches may go to Options.Plain.
func (o *Options) plainly() bool {
	level := o.Level == LevelInsn || o.Level == LevelBlock || o.Level == LevelBranch
	return o.Plain != nil && level && !o.Filters() && !o.Backward() && o.Shard.Of == 0
}

// stretch takes ranges of b from the i-th on, of which the last lies before end: no note lies
// between them. It returns the index of the last one that it took.
func (m *Maker) stretch(s listing, b *flow.Batch, i, end int) (last int, err error) {
	switch l := s.(type) {
	case *instructions:
		n := 0
		for k := i; k < end; k++ {
			x := &b.Ranges[k]
			m.Count.Add(int(x.N), x.Verdict)
			n += int(x.N)
		}
		if m.o.Level == LevelBlock {
			n = end - i
		}
		m.Count.Rows += uint64(n)
		return end - 1, m.o.Plain(l.st, &flow.Batch{Stream: b.Stream, Ranges: b.Ranges[i:end], Stamps: b.Stamps}, end-i)
	case *branches:
		return l.stretchOf(b, i, end)
	}
	return i, s.ran(b, &b.Ranges[i])
}

// stretchOf is Maker.stretch.
func (l *branches) stretchOf(b *flow.Batch, i, end int) (last int, err error) {
	if err := l.ran(b, &b.Ranges[i]); err != nil || len(l.frames)+len(l.held) > 0 {
		return i, err
	}
	n := 0
	for k := i; k+1 < end; k++ {
		if leadsOff(&b.Ranges[k], b.Ranges[k+1].Block.Addr) {
			n++
		}
	}
	q := &l.m.queue
	if q.waiting()+n >= maxQueue {
		return i, nil
	}
	if n > 0 {
		g := segment{l.st, flow.Batch{Stream: b.Stream, Ranges: b.Ranges[i:end], Stamps: b.Stamps}, end - i - 1, n}
		if q.waiting() > 0 {
			g.own()
			q.append(queued{state: placeRow, seg: &g})
			q.more += n - 1
		} else if err := l.m.handOn(&g); err != nil {
			return i, err
		}
	}
	for k := i + 1; k < end; k++ {
		l.m.Count.Add(int(b.Ranges[k].N), b.Ranges[k].Verdict)
	}
	x := &b.Ranges[end-1]
	if l.waits = endsInBranch(x); l.waits {
		l.batch, l.from, l.target, l.behind = b, x, x.Block.Target, x.Block.End
	}
	return end - 1, nil
}

// own makes g's batch one that is not lent.
func (g *segment) own() {
	from := g.b
	g.b = flow.Batch{Stream: from.Stream, Ranges: slices.Clone(from.Ranges)}
	stamp := ^uint32(0)
	for i := range g.b.Ranges {
		x := &g.b.Ranges[i]
		if x.Stamp != stamp {
			stamp = x.Stamp
			g.b.Stamps = append(g.b.Stamps, from.Stamps[stamp])
		}
		x.Stamp = uint32(len(g.b.Stamps) - 1)
	}
}

// handOn counts the rows of g and hands it on.
func (m *Maker) handOn(g *segment) error {
	m.Count.Rows += uint64(g.rows)
	return m.o.Plain(g.st, &g.b, g.n)
}

// leadsOff reports whether the flow, which goes on at next, left x by a branch: what
// folder.taken makes a row of.
func leadsOff(x *flow.Range, next uint64) bool {
	k := x.Block
	if !endsInBranch(x) || next == k.End && k.Target != k.End && maySkip(k.Mode, k.Class) {
		return false
	}
	return k.Class != isa.Cond || next == k.Target && next != k.End
}

// Rows gives yield the rows of range i of b, which Options.Plain was given: each is lent.
func (n *Names) Rows(level Level, st *Stream, b *flow.Batch, i int, yield func(*Row)) {
	x, r := &b.Ranges[i], &n.scratch
	k := x.Block
	switch level {
	case LevelBranch:
		next := b.Ranges[i+1].Block.Addr
		if !leadsOff(x, next) {
			return
		}
		if k.Class == isa.Jump || k.Class == isa.Call {
			next = k.Target
		}
		*r = branchRow(st, b, x)
		r.HasAddr, r.Addr, r.Transfer = true, next, n.transferOf(r)
	case LevelBlock:
		*r = rangeRow(st, b, x)
		r.blockOf(x)
	default:
		*r = rangeRow(st, b, x)
		r.N = 1
		for j := range int(x.N) {
			r.insnOf(k, j)
			yield(r)
			r.IP += uint64(k.Lens[j])
		}
		return
	}
	yield(r)
}

// Lasting reports whether what addr is called, an address of r, is so at all times.
func (n *Names) Lasting(r *Row, addr uint64) bool {
	n.find(r, addr)
	s := &n.steady[slotOf(addr)]
	return s.filled && s.addr == addr && s.guest == r.Stream.Guest && (s.space == 0 || s.space == r.Space)
}

// LastingDisasm reports whether Disasm answers the same for r at all times.
func (n *Names) LastingDisasm(r *Row) bool {
	n.Disasm(r)
	_, ok := n.insns[n.insnKey(r)]
	return ok
}
