package view

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/ptdecode/ptdecode/decoder"
)

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

// sampler looks at a large recording here and there.
type sampler struct{ *server }

// sampled decodes a little trace at places all over a window, and sends what that says of
// the whole, again and again as it comes to know more.
func (v sampler) sampled(r *request, from, until uint64, send func(*density) error) error {
	if until == 0 {
		until = v.rec.Until
	}
	streams := v.s.Streams()
	list := make([][]sample, len(streams))
	h := newHistogram(v.server, from, until, (until-from)/1000+1, 1001)
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
func (v sampler) offsetOf(st *decoder.Stream, at uint64) int64 {
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
func (v sampler) sampleAt(r *request, st *decoder.Stream, off int64) (x sample, ok bool, err error) {
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
