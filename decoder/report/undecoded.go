package report

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Undecoded returns the gaps for what lies before all that can be decoded. These are the bytes before the first sync
// point, and what the recorder dropped where there is no sync point.
func Undecoded(st *decoder.Stream) (list []event.Gap) {
	head := st.Head
	if st.Empty() && len(st.Losses) > 0 {
		head = min(head, max(st.Losses[0].Off, 0)) // what follows is lost
	}
	if head > 0 {
		list = append(list, event.Gap{Reason: event.NoSync, Stream: st.Index, End: head, Time: event.Always, What: "bytes before the first sync point"})
	}
	for i, l := range st.Losses {
		if !st.Empty() {
			break // they come in their places
		}
		g := event.Gap{Reason: event.Lost, Stream: st.Index, Off: l.Off, End: max(l.Off, st.Size), Time: event.Always, What: l.Why}
		if i+1 < len(st.Losses) {
			g.End = max(l.Off, st.Losses[i+1].Off)
		}
		if l.Time != 0 {
			g.Time = event.Time{Lo: l.Time, Hi: l.Time}
		}
		list = append(list, g)
	}
	return list
}
