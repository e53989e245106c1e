package view

import (
	"cmp"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// histogram counts what ran, by time: a decoder.Sink. A bucket is width long. Where it is to
// hold all that comes, pairs of buckets become one when there are too many.
type histogram struct {
	v       *server
	from    uint64 // ns behind the base, or bytes, of the first bucket
	until   uint64 // 0: no end
	width   uint64 // ns of a bucket, or bytes
	most    int    // buckets
	lanes   map[laneKey]*laneCounts
	now     []running // by stream
	last    uint64    // ns behind the base: the latest that was seen
	limited bool      // threads beyond maxLanes were left out
}

// laneKey names a lane: a stream's, or a thread's.
type laneKey struct {
	stream int // -1: a thread's
	tid    int32
}

// laneCounts is the buckets of a lane.
type laneCounts struct {
	comm         string
	total        uint64   // instructions, also of moments that may lie outside
	sure, unsure []uint64 // instructions, by bucket
	marks        map[int]*mark
}

// mark is what is to be seen in a bucket however small it is.
type mark struct {
	traps, gaps int
	trap, gap   uint64 // of the first, ns behind the base
	gapEnd      uint64 // of the gap that ends last
}

// running is what a stream executes at one moment.
type running struct {
	began        bool
	time         event.Time
	sure, unsure uint64 // instructions
}

// maxLanes is how many threads have lanes.
const maxLanes = 400

func newHistogram(v *server, from, until, width uint64, most int) *histogram {
	h := &histogram{v: v, from: from, until: until, width: max(1, width), most: most}
	h.Restart()
	return h
}

// Restart begins anew (decoder.Restarter).
func (h *histogram) Restart() bool {
	h.lanes, h.now = map[laneKey]*laneCounts{}, make([]running, len(h.v.s.Streams()))
	h.last, h.limited = 0, false
	for i := range h.now {
		h.lane(laneKey{i, 0}, "")
	}
	return true
}

// lane returns the lane of k, nil where there are too many.
func (h *histogram) lane(k laneKey, comm string) *laneCounts {
	l := h.lanes[k]
	if l == nil {
		if k.stream < 0 && len(h.lanes) >= maxLanes+len(h.now) {
			h.limited = true
			return nil
		}
		l = &laneCounts{comm: comm, marks: map[int]*mark{}}
		h.lanes[k] = l
	}
	return l
}

// Flow counts b.
func (h *histogram) Flow(b *decoder.Batch) error {
	now := &h.now[b.Stream]
	for i := range b.Ranges {
		r := &b.Ranges[i]
		s := &b.Stamps[r.Stamp]
		t := s.Time
		if !h.v.rec.Timed {
			t = event.Time{Lo: uint64(s.Off), Hi: math.MaxUint64}
		}
		if !now.began || t.Lo != now.time.Lo {
			h.flush(b.Stream, t.Lo)
			*now = running{began: true, time: t}
		}
		if settled(r) {
			now.sure += uint64(r.N)
		} else {
			now.unsure += uint64(r.N)
		}
	}
	for i := range b.Notes {
		switch n := &b.Notes[i]; n.Kind {
		case decoder.NoteTrap:
			h.mark(b.Stream, h.place(n.Event.Time.Lo, n.Event.Off), func(m *mark, t uint64) {
				if m.traps++; m.traps == 1 {
					m.trap = t
				}
			})
		case decoder.NoteGap:
			end := h.place(n.Gap.Time.Lo, n.Gap.Off)
			if !h.v.rec.Timed {
				end = uint64(n.Gap.End)
			} else if n.Gap.Time.Hi != math.MaxUint64 {
				end = max(end, h.v.rec.rel(n.Gap.Time.Hi))
			}
			h.mark(b.Stream, h.place(n.Gap.Time.Lo, n.Gap.Off), func(m *mark, t uint64) {
				if m.gaps++; m.gaps == 1 {
					m.gap = t
				}
				m.gapEnd = max(m.gapEnd, end)
			})
		}
	}
	return nil
}

// place returns where on the axis a moment, or an offset, lies.
func (h *histogram) place(ns uint64, off int64) uint64 {
	if h.v.rec.Timed {
		return h.v.rec.rel(ns)
	}
	return uint64(max(off, 0))
}

// inside reports whether t lies in what is asked for.
func (h *histogram) inside(t uint64) bool {
	return t >= h.from && (h.until == 0 || t <= h.until)
}

// mark has set change the mark at t of a stream's lane.
func (h *histogram) mark(stream int, t uint64, set func(m *mark, t uint64)) {
	if !h.inside(t) {
		return
	}
	l, i := h.lanes[laneKey{stream, 0}], h.bucket(t)
	if l.marks[i] == nil {
		l.marks[i] = &mark{}
	}
	set(l.marks[i], t)
}

// bucket returns the number of the bucket of t, behind from. It makes room for it.
func (h *histogram) bucket(t uint64) int {
	for (t-h.from)/h.width >= uint64(h.most) {
		if h.until != 0 {
			return h.most - 1
		}
		h.widen()
	}
	h.last = max(h.last, t)
	return int((t - h.from) / h.width)
}

// widen makes one bucket of each two.
func (h *histogram) widen() {
	h.width *= 2
	for _, l := range h.lanes {
		l.sure, l.unsure = paired(l.sure), paired(l.unsure)
		marks := map[int]*mark{}
		for i, m := range l.marks {
			if o := marks[i/2]; o != nil {
				m = merged(o, m)
			}
			marks[i/2] = m
		}
		l.marks = marks
	}
}

// merged is the marks of two buckets as one.
func merged(a, b *mark) *mark {
	first := func(n, k int, x, y uint64) uint64 {
		if n == 0 || k != 0 && y < x {
			return y
		}
		return x
	}
	return &mark{
		traps: a.traps + b.traps, trap: first(a.traps, b.traps, a.trap, b.trap),
		gaps: a.gaps + b.gaps, gap: first(a.gaps, b.gaps, a.gap, b.gap), gapEnd: max(a.gapEnd, b.gapEnd),
	}
}

// paired adds up pairs of counts.
func paired(c []uint64) []uint64 {
	for i := range (len(c) + 1) / 2 {
		n := c[2*i]
		if 2*i+1 < len(c) {
			n += c[2*i+1]
		}
		c[i] = n
	}
	return c[:(len(c)+1)/2]
}

// flush counts what a stream executed up to a moment, spread evenly over the time that
// the trace leaves open.
func (h *histogram) flush(stream int, until uint64) {
	r := &h.now[stream]
	if r.sure+r.unsure == 0 {
		return
	}
	tid, comm, known := int32(-1), "", false
	if h.v.rec.Timed {
		tid, comm, known = h.v.s.Running(stream, r.time.Likely())
	}
	lo := h.v.rec.rel(r.time.Lo)
	hi := max(lo, h.v.rec.rel(min(until, r.time.Hi)))
	if !h.v.rec.Timed {
		lo, hi = r.time.Lo, max(r.time.Lo, until)
	}
	h.lanes[laneKey{stream, 0}].total += r.sure + r.unsure
	h.spread(h.lanes[laneKey{stream, 0}], lo, hi, r)
	if known && tid >= 0 {
		if l := h.lane(laneKey{-1, tid}, comm); l != nil {
			l.total += r.sure + r.unsure
			h.spread(l, lo, hi, r)
		}
	}
	r.sure, r.unsure = 0, 0
}

// spread adds what ran between two moments to the buckets of l between them.
func (h *histogram) spread(l *laneCounts, lo, hi uint64, r *running) {
	from, until := max(lo, h.from), hi
	if h.until != 0 {
		until = min(hi, h.until)
	}
	if from > until {
		return
	}
	h.bucket(until) // widens first, where it must
	first, last := h.bucket(from), h.bucket(until)
	for len(l.sure) <= last {
		l.sure, l.unsure = append(l.sure, 0), append(l.unsure, 0)
	}
	n := uint64((hi-lo)/h.width) + 1 // buckets that all of it takes
	left := [2]uint64{r.sure, r.unsure}
	for i := first; i <= last; i++ {
		a, b := r.sure/n, r.unsure/n
		if i == last && hi == until && lo == from {
			a, b = left[0], left[1]
		}
		l.sure[i] += a
		l.unsure[i] += b
		left[0] -= min(a, left[0])
		left[1] -= min(b, left[1])
	}
}

// density is a histogram as the page is given it.
type density struct {
	From    uint64        `json:"from"`         // of the first bucket
	Width   uint64        `json:"width"`        // of a bucket
	N       int           `json:"n"`            // buckets
	Last    uint64        `json:"last"`         // the latest moment that was seen
	Total   uint64        `json:"instructions"` // as summary counts them
	Done    bool          `json:"done"`
	Part    float64       `json:"part"` // of the trace that was decoded, 0 to 1
	Lanes   []laneDensity `json:"lanes"`
	Limited bool          `json:"limited,omitempty"` // some threads have no lane
	Of      string        `json:"of"`                // "instructions"; "samples": about as many, from places all over the window
	Command string        `json:"command"`
}

// laneDensity is a lane as the page is given it.
type laneDensity struct {
	Stream *int        `json:"stream,omitempty"`
	TID    *int32      `json:"tid,omitempty"`
	Comm   string      `json:"comm,omitempty"`
	Total  uint64      `json:"instructions"`
	Sure   []uint64    `json:"sure"`
	Unsure [][2]uint64 `json:"unsure"` // bucket, instructions
	Traps  [][3]uint64 `json:"traps"`  // bucket, how many, when the first was
	Gaps   [][4]uint64 `json:"gaps"`   // bucket, how many, from, until
}

// density returns what h holds between two moments; until 0: all.
func (h *histogram) density(from, until uint64) *density {
	lo, hi := 0, h.most
	if from > h.from {
		lo = int(min(uint64(h.most), (from-h.from)/h.width))
	}
	if until != 0 {
		hi = int(min(uint64(h.most), (until-min(h.from, until))/h.width+1))
	}
	d := &density{From: h.from + uint64(lo)*h.width, Width: h.width, Last: h.last, Limited: h.limited, Lanes: []laneDensity{}, Of: "instructions"}
	for k, l := range h.lanes {
		x := laneDensity{Comm: clean(l.comm), Sure: []uint64{}, Unsure: [][2]uint64{}, Traps: [][3]uint64{}, Gaps: [][4]uint64{}}
		if k.stream >= 0 {
			x.Stream = &k.stream
		} else {
			x.TID = &k.tid
		}
		for i := lo; i < min(hi, len(l.sure)); i++ {
			x.Sure = append(x.Sure, l.sure[i])
			x.Total += l.sure[i] + l.unsure[i]
			if u := l.unsure[i]; u > 0 {
				x.Unsure = append(x.Unsure, [2]uint64{uint64(i - lo), u})
			}
		}
		if h.until != 0 {
			x.Total = l.total
		}
		d.N = max(d.N, len(x.Sure))
		if k.stream >= 0 {
			d.Total += x.Total
		}
		for i, m := range l.marks {
			if i < lo || i >= hi {
				continue
			}
			if m.traps > 0 {
				x.Traps = append(x.Traps, [3]uint64{uint64(i - lo), uint64(m.traps), m.trap})
			}
			if m.gaps > 0 {
				x.Gaps = append(x.Gaps, [4]uint64{uint64(i - lo), uint64(m.gaps), m.gap, m.gapEnd})
			}
		}
		slices.SortFunc(x.Traps, func(a, b [3]uint64) int { return cmp.Compare(a[0], b[0]) })
		slices.SortFunc(x.Gaps, func(a, b [4]uint64) int { return cmp.Compare(a[0], b[0]) })
		d.Lanes = append(d.Lanes, x)
	}
	slices.SortFunc(d.Lanes, func(a, b laneDensity) int {
		switch {
		case a.Stream != nil && b.Stream != nil:
			return cmp.Compare(*a.Stream, *b.Stream)
		case a.Stream != nil:
			return -1
		case b.Stream != nil:
			return 1
		}
		return cmp.Compare(*a.TID, *b.TID)
	})
	return d
}

// end counts what still waits.
func (h *histogram) end() {
	for i := range h.now {
		until := h.now[i].time.Lo
		if h.now[i].time.Hi != math.MaxUint64 {
			until = h.now[i].time.Hi
		}
		h.flush(i, until)
	}
}
