package rows

import "github.com/ptdecode/ptdecode/decoder/internal/flow"

// Passes reports whether the filters let a range of b pass, as a row of the level block does. It is
// for who counts ranges and needs no rows, with a Maker at that level.
func (m *Maker) Passes(b *flow.Batch, x *flow.Range) bool {
	l, ok := m.streams[b.Stream].(*instructions)
	if !ok {
		return true
	}
	r := rangeRow(l.st, b, x)
	r.blockOf(x)
	return m.wants(&r)
}
