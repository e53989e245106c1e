package stream

import "github.com/ptdecode/ptdecode/decoder/event"

// Seam is a cut through the flow of all streams: what lies before time comes before it, ns.
// Of what lies at that time, so does the flow of the first streams of a run, and that of
// stream number At before Off.
type Seam struct {
	Time uint64 // ns
	At   int    // index in Seams.Streams
	Off  int64  // bytes; -1: all of that stream's flow at that time comes behind
}

// Seams finds seams. All who ask for the same find the same, without looking at all of the trace.
type Seams struct {
	Streams []*Stream
	Of      Timing
}

// Timing tells when what is in a segment happened.
type Timing func(*Stream, event.Segment) event.Time

// StatedTime is what a segment itself tells of that: jobs are in its order where flow is not merged.
func StatedTime(_ *Stream, g event.Segment) event.Time { return g.Time }

// HappenedAt is when what is in segment g happened.
func HappenedAt(st *Stream, g event.Segment) event.Time {
	if st.Protocol.Stamps != nil {
		return st.TimeOf(g)
	}
	return g.Time
}

// SeekTime returns where the first segment of st begins that is not before t, ns; where its
// trace ends if there is none. It lies between lo and hi, bytes.
func SeekTime(st *Stream, lo, hi int64, t uint64, of Timing) int64 {
	for lo < hi {
		mid := lo + (hi-lo)/2
		if g, ok := st.After(mid); !ok || g.Off >= hi || of(st, g).Lo >= t {
			hi = mid
		} else {
			lo = max(mid, g.Off) + 1
		}
	}
	if g, ok := st.After(lo); ok {
		return g.Off
	}
	return st.Size
}

// At returns the seam with about so many bytes of trace before it.
func (c *Seams) At(bytes int64) Seam {
	if bytes <= 0 {
		return Seam{Off: -1}
	}
	lo, hi := make([]int64, len(c.Streams)), make([]int64, len(c.Streams))
	from, until := uint64(0), uint64(1)
	for i, st := range c.Streams {
		lo[i], hi[i] = SeekTime(st, 0, st.Size, 0, c.Of), st.Size
		if g, ok := st.Before(st.Size); ok {
			until = max(until, c.Of(st, g).Lo+1)
		}
	}
	// All that lies before from is no more than bytes, all that lies before until is more.
	rest := bytes
	mid := make([]int64, len(c.Streams))
	for from+1 < until {
		t := from + (until-from)/2
		sum := int64(0)
		for i, st := range c.Streams {
			mid[i] = SeekTime(st, lo[i], hi[i], t, c.Of)
			sum += mid[i] - min(mid[i], st.Head)
		}
		if sum <= bytes {
			from, rest = t, bytes-sum
			copy(lo, mid)
		} else {
			until = t
			copy(hi, mid)
		}
	}
	for i, st := range c.Streams {
		n := hi[i] - lo[i]
		if rest >= n {
			rest -= n
			continue
		}
		off := hi[i]
		if g, ok := st.After(lo[i] + rest); ok {
			off = min(off, g.Off)
		}
		switch off {
		case lo[i]:
			return Seam{from, i, -1}
		case hi[i]:
			return Seam{from, i + 1, -1}
		}
		if from != 0 {
			return Seam{from, i + 1, -1} // time may go on inside of these segments
		}
		return Seam{from, i, off}
	}
	return Seam{from, len(c.Streams), -1}
}
