package stream

import "github.com/ptdecode/ptdecode/decoder/event"

// Time bounds the stream: from the first time that its trace states to the last.
// It is event.Always where the first 16 MiB state none.
func (st *Stream) Time() event.Time {
	d := st.find
	d.spanned.Do(func() {
		d.span = event.Always
		if first := firstTime(st); first != 0 {
			d.span = event.Time{Lo: first, Hi: max(first, lastTime(st))}
		}
	})
	return d.span
}

// Bounds of where StatesTime looks beside sync points: in segments that begin among the first so many bytes, and are as long.
const (
	statesReach = 64 << 10
	statesMost  = 1 << 20
)

// StatesTime reports whether the trace of st states a time, as far as its beginning shows: also where no sync point does.
func StatesTime(st *Stream) bool {
	if st.Time() != event.Always || st.Protocol.Stamps != nil {
		return st.Time() != event.Always
	}
	for g := range st.Segments() {
		if g.Off-st.Head > statesReach || g.End-g.Off > statesMost {
			break
		}
		if within(st, &g) != 0 {
			return true
		}
	}
	return false
}

// firstTime returns the first time that the trace states, ns; 0: its beginning states none. Of
// Intel PT, sync points alone count.
func firstTime(st *Stream) (t uint64) {
	for g := range st.Segments() {
		if t = g.Time.Lo; st.Protocol.Stamps != nil {
			t, _ = st.stamps(&g, false)
		}
		if t != 0 || g.Off-st.Head > timeReach {
			break
		}
	}
	return t
}

// lastTime returns the last time that the trace states, ns; 0: its end states none. Of Intel PT,
// what lies behind the last sync point with a time counts.
func lastTime(st *Stream) (t uint64) {
	c := st.Cursor(true)
	for g, ok := c.Next(); ok && t == 0 && st.Size-g.Off <= timeReach; g, ok = c.Next() {
		if st.Protocol.Stamps != nil {
			_, t = st.stamps(&g, true)
			continue
		}
		if t = g.Time.Lo; t != 0 {
			t = max(t, within(st, &g))
		}
	}
	return t
}

// within returns the last time that events in segment g have, ns.
func within(st *Stream, g *event.Segment) (t uint64) {
	var e event.Event
	d := st.Decoder(false)
	g.Buf = st.Data.Bytes(g.Off, st.Length(g))
	for d.Reset(*g); d.Next(&e); {
		t = max(t, e.Time.Lo)
	}
	return t
}
