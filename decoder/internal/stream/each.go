package stream

import (
	"iter"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// fill gives g its bytes.
func (st *Stream) fill(g *event.Segment) {
	n := g.End - g.Off
	if !st.CutShort(g) {
		n += st.Protocol.Margin
	}
	g.Buf = st.Data.Bytes(g.Off, n)
}

// Events gives all events of st, each lent until the next one.
func Events(st *Stream) iter.Seq[*event.Event] {
	return func(yield func(*event.Event) bool) {
		d := st.Decoder(true)
		var e event.Event
		for g := range st.Segments() {
			st.fill(&g)
			d.Reset(g)
			for d.Next(&e) {
				if !yield(&e) {
					return
				}
			}
		}
	}
}
