package kcore

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// siteTimes is when a site's text was witnessed: by its pokes and the image.
type siteTimes struct {
	Range
	at []uint64 // ns, ascending
}

// times returns when the site was witnessed; taken is the image's epoch.
func (s *site) times(taken event.Epoch) siteTimes {
	st := siteTimes{}
	lo, hi := s.cells[0].off, s.cells[len(s.cells)-1].end
	st.Range = Range{s.base + uint64(lo), uint64(hi - lo)}
	for i := range s.pieces {
		st.at = append(st.at, s.pieces[i].p.Time)
	}
	if n := len(s.pieces); s.wrong != nil && !s.differ && s.at == n && int(taken) > s.pieces[n-1].poke {
		st.at = append(st.at, math.MaxUint64) // the image came last and fits
	}
	return st
}

// mergeTimes sorts intervals and joins those that touch.
func mergeTimes(ts []event.Time) []event.Time {
	ts = slices.Clone(ts)
	slices.SortFunc(ts, func(a, b event.Time) int { return cmp.Compare(a.Lo, b.Lo) })
	var out []event.Time
	for _, t := range ts {
		if k := len(out) - 1; k >= 0 && t.Lo <= out[k].Hi {
			out[k].Hi = max(out[k].Hi, t.Hi)
			continue
		}
		out = append(out, t)
	}
	return out
}

// Doubtful reports whether records were lost such that one of the poked sites
// among the n bytes at addr may have been other than Fetch says, at some
// moment of tm. A loss makes a site doubtful while it lasts and from then on
// if neither a later poke nor a later image vouches for what was there before.
// Where one contradicts it, Fetch itself knows nothing of the time between.
func (t *Text) Doubtful(addr uint64, n int, tm event.Time) bool {
	if len(t.lost) == 0 || n <= 0 {
		return false
	}
	last := addr + uint64(n-1)
	i := sort.Search(len(t.sites), func(i int) bool { return t.sites[i].last() >= addr })
	for ; i < len(t.sites) && t.sites[i].Addr <= last; i++ {
		at := t.sites[i].at
		for _, l := range t.lost {
			until := l.Hi
			if at[len(at)-1] <= l.Hi {
				until = math.MaxUint64
			}
			if tm.Hi >= l.Lo && tm.Lo <= until {
				return true
			}
		}
	}
	return false
}
