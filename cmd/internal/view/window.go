package view

import (
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
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
		q.Sift = func(to decoder.Sink) decoder.Sink { return &offsets{to: to, from: q.FromOff, until: q.UntilOff} }
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

// reaches reports whether a call that has ended lies in the time that q asks for, or reaches
// into it.
func reaches(q *decoder.Query, c *calls.Call) bool {
	return c.End.Hi >= q.From && (q.Until == 0 || c.Begin.Lo <= q.Until)
}

// offsets hands on what lies between two offsets of the trace, bytes.
type offsets struct {
	to          decoder.Sink
	from, until int64
	out         decoder.Batch
}

// Restart begins anew (decoder.Restarter).
func (o *offsets) Restart() bool {
	r, ok := o.to.(decoder.Restarter)
	return ok && r.Restart()
}

// Flow hands on what lies between.
func (o *offsets) Flow(b *decoder.Batch) error {
	between := func(off int64) bool { return off >= o.from && off <= o.until }
	o.out.Reset()
	o.out.Stream, o.out.Stamps = b.Stream, append(o.out.Stamps, b.Stamps...)
	for i, n := 0, 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			x := b.Notes[n]
			if off := noteOff(&x); between(off) {
				x.At = len(o.out.Ranges)
				o.out.Notes = append(o.out.Notes, x)
			}
		}
		if i < len(b.Ranges) && between(b.Stamps[b.Ranges[i].Stamp].Off) {
			o.out.Ranges = append(o.out.Ranges, b.Ranges[i])
		}
	}
	if len(o.out.Ranges)+len(o.out.Notes) == 0 {
		return nil
	}
	return o.to.Flow(&o.out)
}

// noteOff returns where in the trace a note lies, bytes.
func noteOff(n *decoder.Note) int64 {
	if n.Kind == decoder.NoteGap {
		return n.Gap.Off
	}
	return n.Event.Off
}
