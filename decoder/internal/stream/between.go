package stream

import "github.com/ptdecode/ptdecode/decoder/event"

// Segments gives segments one after another: a Cursor, or a part of it.
type Segments interface {
	Next() (event.Segment, bool)
}

// between gives the segments of a stretch of a stream.
type between struct {
	cur         *Cursor
	from, until int64 // segments that end up to from, or begin at until or later, are left out, bytes
	back        bool
}

// Between returns what gives the segments of st that end behind from and begin before until,
// bytes: from the first to the last, or back.
func (st *Stream) Between(from, until int64, back bool) Segments {
	x := &between{from: from, until: until, back: back}
	switch {
	case from <= st.Head && until >= st.Size:
		return st.Cursor(back)
	case back:
		x.cur = CursorBefore(st, until)
	default:
		x.cur = CursorFrom(st, from)
		if g, ok := st.Before(from + 1); ok && g.End > from {
			x.cur = CursorFrom(st, g.Off)
		}
	}
	return x
}

// Next returns the next segment.
func (x *between) Next() (event.Segment, bool) {
	for {
		g, ok := x.cur.Next()
		before, behind := g.End <= x.from, g.Off >= x.until
		switch {
		case !ok, behind && !x.back, before && x.back:
			return g, false // nor is any further on wanted
		case !before && !behind:
			return g, true
		}
	}
}
