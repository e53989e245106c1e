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
	l.scratch = rangeRow(l.st, b, x)
	row := &l.scratch
	if l.m.o.Level == LevelInsn {
		return l.each(x)
	}
	row.blockOf(x)
	return l.m.add(row)
}

// blockOf makes r the row of x at the level block.
func (r *Row) blockOf(x *flow.Range) {
	r.Kind, r.N, r.HasAddr, r.Addr = KindBlock, int(x.N), true, x.End()
	if x.N == x.Block.N {
		r.Class = x.Block.Class
	}
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
	l.scratch.IP = a
	l.scratch.insnOf(k, i)
	return l.m.add(&l.scratch)
}

// insnOf gives r what is known of instruction i of k.
func (r *Row) insnOf(k *flow.Block, i int) {
	r.Len, r.Class = k.Lens[i], isa.Other
	if i == int(k.N)-1 {
		r.Class = k.Class
	}
}

// note makes the row of a note.
func (l *instructions) note(n *flow.Note) error { return l.other(n) }

// end has nothing to do: no row waits.
func (l *instructions) end() error { return nil }
