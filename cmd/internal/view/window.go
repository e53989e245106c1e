package view

import (
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// within returns the query of what was executed between two places of the axis, as other
// verbs have it with --time; until 0: of all.
func (v *server) within(from, until uint64) (decoder.Query, error) {
	q := decoder.Query{Bounds: true}
	switch {
	case until == 0:
	case v.rec.Timed:
		f, err := (&filter.Flags{Time: v.rec.span(from, until)}).Resolve(v.s)
		if err != nil {
			return q, err
		}
		f.Query(&q)
	default:
		q.FromOff, q.UntilOff = int64(from), int64(max(until, 1))
		q.Sift = func(to decoder.Sink) decoder.Sink { return &items.Between{To: to, From: q.FromOff, Until: q.UntilOff} }
	}
	return q, nil
}

// withinCalls is within for those who follow calls: a call that lies in the window, or reaches
// into it, counts as a whole.
func (v *server) withinCalls(from, until uint64) (decoder.Query, error) {
	q, err := v.within(from, until)
	if q.Merged = true; v.rec.Timed {
		q.Sift = nil
	}
	return q, err
}

// calls reads a window, and returns what withinCalls does of it.
func (r *request) calls(v *server) (q decoder.Query, from, until uint64, err error) {
	if from, until, err = r.window(v.rec); err == nil {
		q, err = v.withinCalls(from, until)
	}
	return q, from, until, err
}

// reaches reports whether a call that has ended lies in the time that q asks for, or reaches
// into it.
func reaches(q *decoder.Query, c *calls.Call) bool {
	return c.End.Hi >= q.From && (q.Until == 0 || c.Begin.Lo <= q.Until)
}
