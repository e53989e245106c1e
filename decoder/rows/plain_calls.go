package rows

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// plainCall is a call as Options.Calls is given it.
type plainCall struct {
	row     *Row
	time    event.Time
	verdict flow.Verdict
	depth   int
}

// call hands c on.
func (m *Maker) call(st *Stream, c *plainCall) error {
	return m.o.Calls(st, c.row, c.time, c.verdict, c.depth)
}

// callsOf is Maker.stretch at the level call. It ends at a branch that must be a row.
func (l *branches) callsOf(b *flow.Batch, i, end int) (last int, err error) {
	if err := l.ran(b, &b.Ranges[i]); err != nil || len(l.frames)+len(l.held) > 0 {
		return i, err
	}
	m, tree := l.m, l.tree
	t := tree.keeps(m, l.st)
	if t == nil || m.queue.waiting()+end-i >= maxQueue {
		return i, nil
	}
	known := knownOf(b, end)
	list := m.calls[:0]
	stop := end
	for k := i; k < end; k++ {
		x := &b.Ranges[k]
		if k > i {
			m.Count.Add(int(x.N), x.Verdict)
		}
		if x.Block.Class == isa.Cond || k >= known || !endsInBranch(x) {
			continue // a conditional branch does nothing to the tree
		}
		s := tree.stepOf(m, l.st, b, x, b.After(k).Addr, l.led)
		if t.asRow(s) {
			stop, known = k+1, k
			break
		}
		l.led = s.leads
		if depth, listed := t.take(s); listed {
			list = append(list, plainCall{s.row, b.Stamps[x.Stamp].Time, x.Verdict, depth})
		}
	}
	m.calls = list
	if l.waitFor(b, known, stop); len(list) > 0 {
		err = m.pass(segment{st: l.st, rows: len(list), calls: list})
	}
	return stop - 1, err
}

// keeps returns the calls of the thread that runs in the stream st now. It is nil where nothing
// ran yet. It is also nil where symbols do not say where the kernel goes over to another thread.
func (c *callTree) keeps(m *Maker, st *Stream) *taskCalls {
	cpu := c.cpus[st.Index]
	if cpu == nil || st.Machine != nil || st.Guest != 0 || !m.names.switches(&Row{Stream: st}) {
		return nil
	}
	return cpu.now
}
