package stream

import "github.com/ptdecode/ptdecode/decoder/event"

// Length returns how many bytes a decoder of segment g needs: its own, and behind them
// those that may close it. Where it ends at a loss none behind it belong to it.
func (st *Stream) Length(g *event.Segment) int64 {
	i := lossBehind(st.Losses, g.End-1)
	if i < len(st.Losses) && st.Losses[i].Off == g.End {
		return g.End - g.Off
	}
	return g.End - g.Off + st.Protocol.Margin
}

// GapsBefore returns the gaps that losses leave between segment g and the one
// before it. Where no record says when that was, it was between their times.
func (st *Stream) GapsBefore(g *event.Segment) []event.Gap {
	n := lossBehind(st.Losses, g.Off)
	if n == 0 {
		return nil
	}
	from, when := int64(-1), event.Time{Hi: g.Time.Lo}
	if before, ok := st.Before(g.Off); ok {
		from, when.Lo = before.Off, before.Time.Lo
	}
	return st.gaps(lossBehind(st.Losses, from), n, when)
}

// GapsBehind returns the gaps that losses leave behind segment g, the last one. Where no
// record says when that was, it was not before g.
func (st *Stream) GapsBehind(g *event.Segment) []event.Gap {
	return st.gaps(lossBehind(st.Losses, g.Off), len(st.Losses), g.Time)
}

// gaps returns the gaps that losses from to n leave: at when, if they do not say when they were.
func (st *Stream) gaps(from, n int, when event.Time) (list []event.Gap) {
	if when.Hi == 0 {
		when.Hi = event.Always.Hi
	}
	d := st.find
	for i := from; i < n; i++ {
		l := &st.Losses[i]
		g := event.Gap{Reason: event.Lost, Stream: st.Index, Off: l.Off, End: max(l.Off, l.End), Time: when, What: l.Why}
		d.mu.Lock()
		if s, ok := d.any.after(max(l.Off, d.ends[i])); ok {
			g.End = max(g.End, s.Off)
		} else {
			g.End = max(g.End, st.Size)
		}
		d.mu.Unlock()
		if l.Time != 0 {
			g.Time = event.Time{Lo: l.Time, Hi: l.Time}
		}
		list = append(list, g)
	}
	return list
}
