package decoder

import (
	"cmp"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
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
	if len(st.segs) == 0 {
		return
	}
	slices.SortStableFunc(st.Losses, func(a, b StreamLoss) int { return cmp.Compare(a.Off, b.Off) })
	for _, l := range st.Losses {
		// The segment that the loss lies in, or at whose end it lies.
		i, _ := slices.BinarySearchFunc(st.segs, l.Off, func(s event.Segment, off int64) int { return cmp.Compare(s.Off, off) })
		i--
		if i >= 0 && l.Off <= st.segs[i].End {
			st.segs[i].End = l.Off
			st.cut(i)
		}
		// Segments that begin where the data has holes.
		n := i + 1
		for n < len(st.segs) && st.segs[n].Off < l.End {
			n++
		}
		st.segs = slices.Delete(st.segs, i+1, n)
		g := event.Gap{Reason: event.Lost, Stream: st.Index, Off: l.Off, End: max(l.Off, l.End), Time: event.Always, What: l.Why}
		if i+1 < len(st.segs) {
			g.End = max(g.End, st.segs[i+1].Off)
		} else {
			g.End = max(g.End, min(st.Size, math.MaxInt64))
		}
		if l.Time != 0 {
			g.Time = event.Time{Lo: l.Time, Hi: l.Time}
		}
		st.holes = append(st.holes, hole{i + 1, g})
	}
	for i := range st.segs {
		st.segs[i].Index = i
		st.segs[i].Last = i == len(st.segs)-1
	}
}

// cut marks that no bytes behind segment i belong to it, not even the sync
// point that would close it.
func (st *Stream) cut(i int) {
	if st.cuts == nil {
		st.cuts = map[int64]bool{}
	}
	st.cuts[st.segs[i].Off] = true
}

// tellHoles gives out the gaps that lie before segment i; after the last, also
// those behind it.
func (st *Stream) tellHoles(i int, out flow.Sink) error {
	if len(st.holes) == 0 {
		return nil
	}
	b := flow.Batch{Stream: st.Index}
	for _, h := range st.holes {
		if h.before == i {
			b.Notes = append(b.Notes, flow.Note{Kind: flow.NoteGap, Poke: -1, IP: h.gap.IP, Gap: h.gap})
		}
	}
	if len(b.Notes) == 0 {
		return nil
	}
	return out.Flow(&b)
}
