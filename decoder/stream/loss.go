package stream

import (
	"cmp"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// hole is a loss in its place between segments.
type hole struct {
	before int // index of the segment that it lies before
	gap    event.Gap
}

// cutAtLosses ends segments where bytes are missing: what follows the loss in
// the same segment does not continue it, and is passed over up to the next
// sync point. Each loss becomes a gap.
func (st *Stream) cutAtLosses() {
	if len(st.Segs) == 0 {
		return
	}
	slices.SortStableFunc(st.Losses, func(a, b Loss) int { return cmp.Compare(a.Off, b.Off) })
	for _, l := range st.Losses {
		// The segment that the loss lies in, or at whose end it lies.
		i, _ := slices.BinarySearchFunc(st.Segs, l.Off, func(s event.Segment, off int64) int { return cmp.Compare(s.Off, off) })
		i--
		if i >= 0 && l.Off <= st.Segs[i].End {
			st.Segs[i].End = l.Off
			st.cut(i)
		}
		// Segments that begin where the data has holes.
		n := i + 1
		for n < len(st.Segs) && st.Segs[n].Off < l.End {
			n++
		}
		st.Segs = slices.Delete(st.Segs, i+1, n)
		g := event.Gap{Reason: event.Lost, Stream: st.Index, Off: l.Off, End: max(l.Off, l.End), Time: event.Always, What: l.Why}
		if i+1 < len(st.Segs) {
			g.End = max(g.End, st.Segs[i+1].Off)
		} else {
			g.End = max(g.End, min(st.Size, math.MaxInt64))
		}
		if l.Time != 0 {
			g.Time = event.Time{Lo: l.Time, Hi: l.Time}
		}
		st.holes = append(st.holes, hole{i + 1, g})
	}
	for i := range st.Segs {
		st.Segs[i].Index = i
		st.Segs[i].Last = i == len(st.Segs)-1
	}
}

// cut marks that no bytes behind segment i belong to it, not even the sync
// point that would close it.
func (st *Stream) cut(i int) {
	if st.cuts == nil {
		st.cuts = map[int64]bool{}
	}
	st.cuts[st.Segs[i].Off] = true
}

// CutShort reports whether no bytes behind the segment that begins at off belong
// to it: it ends at a loss.
func (st *Stream) CutShort(off int64) bool { return st.cuts[off] }

// GapsBefore returns the gaps that lie before segment i; behind the last, of
// index Segments, those at the stream's end.
func (st *Stream) GapsBefore(i int) (list []event.Gap) {
	for _, h := range st.holes {
		if h.before == i {
			list = append(list, h.gap)
		}
	}
	return list
}
