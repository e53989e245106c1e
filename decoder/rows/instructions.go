package rows

import "github.com/ptdecode/ptdecode/decoder/flow"

// instructions lists a stream at the levels insn and block.
type instructions struct{ stream }

// ran makes the rows of a range.
func (l *instructions) ran(b *flow.Batch, x *flow.Range) error {
	row := l.row(b, x)
	if l.m.o.Level == LevelInsn {
		return l.each(row, x)
	}
	row.Kind, row.N, row.HasAddr, row.Addr = KindBlock, int(x.N), true, End(x)
	if x.N == x.Block.N {
		row.Class = x.Block.Class
	}
	return l.m.add(&row)
}

// each makes a row of each instruction of x, all but their own facts being
// those of row.
func (l *instructions) each(row Row, x *flow.Range) error {
	k := x.Block
	row.N = 1
	if !l.m.o.Backward() {
		a := k.Addr
		for i := range int(x.N) {
			if err := l.insn(row, k, i, a); err != nil {
				return err
			}
			a += uint64(k.Lens[i])
		}
		return nil
	}
	a := End(x)
	for i := int(x.N) - 1; i >= 0; i-- {
		a -= uint64(k.Lens[i])
		if err := l.insn(row, k, i, a); err != nil {
			return err
		}
	}
	return nil
}

// insn makes the row of instruction i of k, which lies at a.
func (l *instructions) insn(row Row, k *flow.Block, i int, a uint64) error {
	row.IP, row.Len = a, k.Lens[i]
	if i == int(k.N)-1 {
		row.Class = k.Class
	}
	return l.m.add(&row)
}

// note makes the row of a note.
func (l *instructions) note(n *flow.Note) error { return l.other(n) }

// end has nothing to do: no row waits.
func (l *instructions) end() error { return nil }
