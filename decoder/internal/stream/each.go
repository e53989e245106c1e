package stream

import (
	"iter"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Events gives all events of st, each lent until the next one; near asks for near upper
// bounds on their times.
func Events(st *Stream, near bool) iter.Seq[*event.Event] {
	return func(yield func(*event.Event) bool) {
		d := st.Decoder(near)
		var e event.Event
		for g := range st.Segments() {
			g.Buf = st.Data.Bytes(g.Off, st.Length(&g))
			d.Reset(g)
			for d.Next(&e) {
				if !yield(&e) {
					return
				}
			}
		}
	}
}
