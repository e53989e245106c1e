package rows

import "github.com/ptdecode/ptdecode/decoder/internal/flow"

// Passes reports whether the filters let a range of b pass, by its first address. It is
// for who counts ranges and needs no rows, with a Maker at the level block.
func (m *Maker) Passes(b *flow.Batch, x *flow.Range) bool {
	l, ok := m.streams[b.Stream].(*instructions)
	if !ok {
		return true
	}
	r := rangeRow(l.st, b, x)
	r.Kind, r.N = KindBlock, int(x.N)
	return m.wants(&r)
}
