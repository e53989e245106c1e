package rows

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// segment is a stretch of flow that waits in the queue in place of its rows.
type segment struct {
	st    *Stream
	b     flow.Batch
	n     int // ranges that have rows
	rows  int
	calls []plainCall // in place of b
}

// plainly reports whether stretches may go to Options.Plain.
func (o *Options) plainly() bool {
	level := o.Level == LevelInsn || o.Level == LevelBlock || o.Level == LevelBranch || o.Level == LevelCall && o.Calls != nil
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
		if l.tree != nil {
			return l.callsOf(b, i, end)
		}
		return l.stretchOf(b, i, end)
	}
	return i, s.ran(b, &b.Ranges[i])
}

// stretchOf is Maker.stretch.
func (l *branches) stretchOf(b *flow.Batch, i, end int) (last int, err error) {
	if err := l.ran(b, &b.Ranges[i]); err != nil || len(l.frames)+len(l.held) > 0 {
		return i, err
	}
	known := knownOf(b, end)
	n := 0
	for k := i; k < known; k++ {
		if leadsOff(&b.Ranges[k], b.After(k).Addr) {
			n++
		}
	}
	q := &l.m.queue
	if q.waiting()+n >= maxQueue {
		return i, nil
	}
	if n > 0 {
		part := flow.Batch{Stream: b.Stream, Ranges: b.Ranges[i:end], Stamps: b.Stamps}
		if known == end {
			part.Onward = b.Onward
		}
		if err := l.m.pass(segment{st: l.st, b: part, n: known - i, rows: n}); err != nil {
			return i, err
		}
	}
	for k := i + 1; k < end; k++ {
		l.m.Count.Add(int(b.Ranges[k].N), b.Ranges[k].Verdict)
	}
	l.waitFor(b, known, end)
	return end - 1, nil
}

// knownOf returns up to which range of b before end it is known where the flow went on: to
// the next one. No note lies before end.
func knownOf(b *flow.Batch, end int) int {
	if end == len(b.Ranges) && b.Onward != nil {
		return end
	}
	return end - 1
}

// waitFor has the branch of the last range of b before end wait, unless it is known where
// that led.
func (l *branches) waitFor(b *flow.Batch, known, end int) {
	x := &b.Ranges[end-1]
	if l.waits = known < end && endsInBranch(x); l.waits {
		l.batch, l.from, l.target, l.behind = b, x, x.Block.Target, x.Block.End
	}
}

// pass hands g on, or puts it behind the rows that wait.
func (m *Maker) pass(g segment) error {
	q := &m.queue
	if q.waiting() == 0 {
		m.segment = g
		return m.handOn(&m.segment)
	}
	own := new(segment)
	*own = g
	own.own()
	q.append(queued{state: placeRow, seg: own})
	q.more += g.rows - 1
	return nil
}

// own makes g's batch one that is not lent.
func (g *segment) own() {
	if g.calls != nil {
		g.calls = slices.Clone(g.calls)
		return
	}
	from := g.b
	g.b = flow.Batch{Stream: from.Stream, Ranges: slices.Clone(from.Ranges), Onward: from.Onward}
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
	for i := range g.calls {
		if err := m.call(g.st, &g.calls[i]); err != nil {
			return err
		}
	}
	if g.calls != nil {
		return nil
	}
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
		next := b.After(i).Addr
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
