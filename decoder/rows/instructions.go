package rows

import (
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// instructions lists a stream at the levels insn and block.
type instructions struct {
	stream
	scratch Row // what is handed on, one after the other
}

// ran makes the rows of a range.
func (l *instructions) ran(b *flow.Batch, x *flow.Range) error {
	l.scratch = l.rangeRow(b, x)
	row := &l.scratch
	if l.m.o.Level == LevelInsn {
		return l.each(x)
	}
	row.Kind, row.N, row.HasAddr, row.Addr = KindBlock, int(x.N), true, x.End()
	if x.N == x.Block.N {
		row.Class = x.Block.Class
	}
	return l.m.add(row)
}

// each makes a row of each instruction of x. All but its own facts are the
// range's.
func (l *instructions) each(x *flow.Range) error {
	k := x.Block
	l.scratch.N = 1
	if !l.m.o.Backward() {
		a := k.Addr
		for i := range int(x.N) {
			if err := l.insn(k, i, a); err != nil {
				return err
			}
			a += uint64(k.Lens[i])
		}
		return nil
	}
	a := x.End()
	for i := int(x.N) - 1; i >= 0; i-- {
		a -= uint64(k.Lens[i])
		if err := l.insn(k, i, a); err != nil {
			return err
		}
	}
	return nil
}

// insn makes the row of instruction i of k, which lies at a.
func (l *instructions) insn(k *flow.Block, i int, a uint64) error {
	l.scratch.IP, l.scratch.Len, l.scratch.Class = a, k.Lens[i], isa.Other
	if i == int(k.N)-1 {
		l.scratch.Class = k.Class
	}
	return l.m.add(&l.scratch)
}

// note makes the row of a note.
func (l *instructions) note(n *flow.Note) error { return l.other(n) }

// end has nothing to do: no row waits.
func (l *instructions) end() error { return nil }
