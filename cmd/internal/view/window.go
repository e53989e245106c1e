package view

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

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

// inside reports whether a call that has ended lies in the time that q asks for, or reaches
// into it.
func inside(q *decoder.Query, c *calls.Call) bool {
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

// How many places of a stream are decoded at most for its first picture, and for how long.
const (
	maxSamples = 256
	sampleTime = 3 * time.Second
)

// sample is what one place of a stream says of the trace around it.
type sample struct {
	off, end     int64  // bytes: the segment
	at           uint64 // on the axis
	sure, unsure uint64 // instructions
}

// sampled decodes a little trace at places all over a window, and sends what that says of
// the whole, again and again as it comes to know more.
func (v *server) sampled(r *request, from, until uint64, send func(*density) error) error {
	if until == 0 {
		until = v.rec.Until
	}
	streams := v.s.Streams()
	list := make([][]sample, len(streams))
	h := newHistogram(v, from, until, (until-from)/1000+1, 1001)
	tell := func() error {
		h.Restart()
		for i := range list {
			h.estimate(i, list[i], streams[i].Size)
		}
		d := h.density(from, until)
		d.Of = "samples"
		return send(d)
	}
	began := time.Now()
	last := began
	for k := range maxSamples {
		if k > 16 && time.Since(began) > sampleTime {
			break
		}
		at := bits.Reverse8(uint8(k)) // all over it from the beginning on
		for i, st := range streams {
			lo, hi := v.offsetOf(st, from), v.offsetOf(st, until)
			x, ok, err := v.sampleAt(r, st, lo+int64(float64(hi-lo)*float64(at)/maxSamples))
			if err != nil {
				return err
			}
			n, had := slices.BinarySearchFunc(list[i], x.off, func(s sample, off int64) int { return cmp.Compare(s.off, off) })
			if ok && !had {
				list[i] = slices.Insert(list[i], n, x)
			}
		}
		if now := time.Now(); now.Sub(last) > tick {
			if last = now; tell() != nil {
				return r.Context().Err()
			}
		}
	}
	return tell()
}

// offsetOf returns where the trace of st comes to a place of the axis, bytes.
func (v *server) offsetOf(st *decoder.Stream, at uint64) int64 {
	if !v.rec.Timed {
		return min(int64(at), st.Size)
	}
	lo, hi := int64(0), st.Size
	for lo < hi {
		mid := lo + (hi-lo)/2
		if g, ok := st.After(mid); !ok || g.Off >= hi || v.rec.rel(g.Time.Lo) >= at {
			hi = mid
		} else {
			lo = max(mid, g.Off) + 1
		}
	}
	return lo
}

// sampleAt decodes the segment of st that begins at off or behind it.
func (v *server) sampleAt(r *request, st *decoder.Stream, off int64) (x sample, ok bool, err error) {
	g, ok := st.After(off)
	if !ok || v.rec.Timed && g.Time.Lo == 0 {
		return x, false, nil
	}
	x = sample{off: g.Off, end: g.End, at: uint64(g.Off)}
	if v.rec.Timed {
		x.at = v.rec.rel(g.Time.Lo)
	}
	q := decoder.Query{Streams: []int{st.Index}, FromOff: g.Off, UntilOff: g.Off + 1, Jobs: 1, NoLearn: true}
	err = v.alone(r, func() error {
		return v.s.Flow(r.Context(), q, sinkFunc(func(b *decoder.Batch) error {
			for i := range b.Ranges {
				if x.unsure += uint64(b.Ranges[i].N); settled(&b.Ranges[i]) {
					x.sure, x.unsure = x.sure+uint64(b.Ranges[i].N), x.unsure-uint64(b.Ranges[i].N)
				}
			}
			if x.sure+x.unsure > 1<<20 { // enough to know how dense it is
				x.end = max(x.off+1, b.Stamps[len(b.Stamps)-1].Off)
				return decoder.ErrStop
			}
			return nil
		}))
	})
	return x, true, err
}

// settled reports whether it is sure that a range was executed, and with which code.
func settled(r *decoder.BatchRange) bool {
	return r.Verdict != decoder.Ambiguous && r.Verdict != decoder.Unconfirmed && !r.Either()
}

// estimate counts what a stream of size bytes executed, if what lies between two samples is
// as dense as the first of the two.
func (h *histogram) estimate(stream int, list []sample, size int64) {
	for i := range list {
		x := &list[i]
		end, until := size, max(h.until, x.at)
		if i+1 < len(list) {
			end, until = list[i+1].off, max(list[i+1].at, x.at)
		} else if !h.v.rec.Timed {
			end = min(size, int64(h.until))
		}
		more := float64(end-x.off) / float64(max(1, x.end-x.off))
		all := running{sure: uint64(float64(x.sure) * more), unsure: uint64(float64(x.unsure) * more)}
		l := h.lanes[laneKey{stream, 0}]
		l.total += all.sure + all.unsure
		h.spread(l, x.at, until, &all)
	}
}
