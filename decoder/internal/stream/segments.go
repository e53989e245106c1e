package stream

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// defaultHold is what the segments that a stream has found may take in memory where
// nothing is said, bytes.
const defaultHold = 1 << 20

// Begin makes the stream ready to be decoded: it finds the first sync point. All
// of the stream had been written by written, ns; 0: not known. hold is how much
// the segments that were found may take in memory, bytes; 0: 1 MiB. Beyond it, the
// oldest are forgotten and found again when they are asked for.
func (st *Stream) Begin(written uint64, hold int64) {
	slices.SortStableFunc(st.Losses, func(a, b Loss) int { return cmp.Compare(a.Off, b.Off) })
	if hold <= 0 {
		hold = defaultHold
	}
	d := &finding{f: newFinder(st), written: written, most: hold, untimed: st.Protocol.Stamps != nil}
	d.any = nearest{f: d.f, reach: everywhere}
	d.timed = nearest{f: d.f, reach: timeReach, timed: true}
	for _, l := range st.Losses {
		end := l.End
		if n := len(d.ends); n > 0 {
			end = max(end, d.ends[n-1])
		}
		d.ends = append(d.ends, end)
	}
	st.find = d
	st.Head = st.Size
	if s, ok := d.any.after(0); ok {
		st.Head = s.Off
	}
}

// Empty reports whether the stream has no segment.
func (st *Stream) Empty() bool {
	_, ok := st.After(0)
	return !ok
}

// After returns the first segment that begins at off or behind it.
func (st *Stream) After(off int64) (g event.Segment, ok bool) {
	st.find.mu.Lock()
	defer st.find.mu.Unlock()
	return st.find.segmentFrom(off)
}

// Before returns the last segment that begins before off.
func (st *Stream) Before(off int64) (g event.Segment, ok bool) {
	st.find.mu.Lock()
	defer st.find.mu.Unlock()
	return st.find.segmentBefore(off)
}

// Cursor goes through a stream's segments, a page at a time.
type Cursor struct {
	st   *Stream
	segs []event.Segment // of the page: those not given yet
	off  int64           // where the next page is looked for, bytes
	back bool
}

// Cursor returns a Cursor over all segments: from the first to the last, or back.
func (st *Stream) Cursor(back bool) *Cursor {
	c := &Cursor{st: st, back: back}
	if back {
		c.off = st.Size
	}
	return c
}

// CursorFrom returns a Cursor of st from off on; the first segments that it gives may begin
// before.
func CursorFrom(st *Stream, off int64) *Cursor { return &Cursor{st: st, off: off} }

// CursorBefore returns a Cursor of st from off backwards; the first segments that it gives may
// begin at off or behind it.
func CursorBefore(st *Stream, off int64) *Cursor {
	return &Cursor{st: st, off: min(off, st.Size), back: true}
}

// Next returns the next segment.
func (c *Cursor) Next() (g event.Segment, ok bool) {
	if len(c.segs) == 0 && !c.turn() {
		return g, false
	}
	if c.back {
		last := len(c.segs) - 1
		g, c.segs = c.segs[last], c.segs[:last]
		return g, true
	}
	g, c.segs = c.segs[0], c.segs[1:]
	return g, true
}

// turn goes to the next page that has segments.
func (c *Cursor) turn() bool {
	d := c.st.find
	d.mu.Lock()
	defer d.mu.Unlock()
	var g event.Segment
	var ok bool
	if c.back {
		g, ok = d.segmentBefore(c.off)
	} else {
		g, ok = d.segmentFrom(c.off)
	}
	if !ok {
		return false
	}
	k := g.Off / pageBytes
	c.segs = d.page(k).segs
	if c.off = (k + 1) * pageBytes; c.back {
		c.off = k * pageBytes
	}
	return true
}

// Segments gives the stream's segments in order.
func (st *Stream) Segments() iter.Seq[event.Segment] {
	return func(yield func(event.Segment) bool) {
		c := st.Cursor(false)
		for g, ok := c.Next(); ok && yield(g); g, ok = c.Next() {
		}
	}
}

// hostReach is how much of a stream is searched for a sync point that states the
// host, bytes.
const hostReach = 16 << 20

// Host reports whether some sync point of the first 16 MiB states that it is not
// inside of a virtual machine.
func (st *Stream) Host() bool {
	if st.Guest != 0 {
		return false // the stream is of one machine
	}
	d := st.find
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.host == hostUnknown {
		d.host = hostNo
		until := min(st.Size, st.Head+hostReach)
		for s, ok := d.f.next(st.Head, until); ok; s, ok = d.f.next(s.Off+1, until) {
			if s.Host {
				d.host = hostYes
				break
			}
		}
	}
	return d.host == hostYes
}

// Bytes returns how much trace list has.
func Bytes(list []*Stream) (n int64) {
	for _, st := range list {
		n += st.Size - st.Head
	}
	return n
}
