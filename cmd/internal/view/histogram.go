package view

import (
	"cmp"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
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
	reasons map[event.Reason]*gapReason
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

// kind is what marks of a lane are of.
type kind int

const (
	ofTraps kind = iota
	ofGaps
	ofLearned // instructions whose code was learned
	ofDoubts  // instructions that are ambiguous or unconfirmed
	kinds
)

// mark is what is to be seen in a bucket however small it is.
type mark [kinds]struct {
	n     uint64
	first uint64 // where the first begins, on the axis
	end   uint64 // and where the last one ends
}

// running is what a stream executes at one moment.
type running struct {
	began        bool
	time         event.Time
	sure, unsure uint64  // instructions
	doubts       uint64  // of unsure: those that are ambiguous or unconfirmed
	gap          *uint64 // where one begins whose end no record tells: it lasts until the next instruction
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
	h.last, h.limited, h.reasons = 0, false, map[event.Reason]*gapReason{}
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
	learned, _ := machines.Of(h.v.s, h.v.s.Streams()[b.Stream].Guest).Learned()
	for i := range b.Ranges {
		r := &b.Ranges[i]
		s := &b.Stamps[r.Stamp]
		t := s.Time
		if !h.v.rec.Timed {
			t = event.Time{Lo: uint64(s.Off), Hi: math.MaxUint64}
		}
		if !now.began || t.Lo != now.time.Lo {
			h.flush(b.Stream, t.Lo)
			h.closeGap(b.Stream, h.place(t.Lo, s.Off))
			*now = running{began: true, time: t}
		}
		if items.LearnedRange(learned, r) {
			at := h.place(t.Lo, s.Off)
			h.mark(b.Stream, ofLearned, uint64(r.N), at, at)
		}
		if settled(r) {
			now.sure += uint64(r.N)
		} else {
			now.unsure += uint64(r.N)
		}
		if doubtful(r.Verdict) {
			now.doubts += uint64(r.N)
		}
	}
	for i := range b.Notes {
		switch n := &b.Notes[i]; n.Kind {
		case decoder.NoteTrap:
			at := h.place(n.Event.Time.Lo, n.Event.Off)
			h.mark(b.Stream, ofTraps, 1, at, at)
		case decoder.NoteGap:
			h.reason(&n.Gap)
			at := h.place(max(n.Gap.Time.Lo, now.time.Lo), n.Gap.Off)
			switch {
			case !h.v.rec.Timed:
				h.mark(b.Stream, ofGaps, 1, at, uint64(n.Gap.End))
			case n.Gap.Time.Hi != math.MaxUint64:
				h.mark(b.Stream, ofGaps, 1, at, max(at, h.v.rec.rel(n.Gap.Time.Hi)))
			default:
				h.closeGap(b.Stream, at)
				now.gap = &at
			}
		}
	}
	return nil
}

// reason counts the reason of a gap.
func (h *histogram) reason(g *event.Gap) {
	x := h.reasons[g.Reason]
	if x == nil {
		x = &gapReason{Reason: g.Reason.String(), Hint: report.GapHint(h.v.s, g)}
		h.reasons[g.Reason] = x
	}
	x.N++
}

// closeGap counts the gap whose end no record tells, if a stream is in one: it ends here.
func (h *histogram) closeGap(stream int, end uint64) {
	r := &h.now[stream]
	if r.gap == nil {
		return
	}
	h.mark(stream, ofGaps, 1, *r.gap, max(*r.gap, end))
	r.gap = nil
}

// place returns where on the axis a moment, or an offset, lies.
func (h *histogram) place(ns uint64, off int64) uint64 {
	if h.v.rec.Timed {
		return h.v.rec.rel(ns)
	}
	return uint64(max(off, 0))
}

// mark counts n of a kind in a stream's lane, from a place to another.
func (h *histogram) mark(stream int, k kind, n, from, end uint64) {
	if end < h.from || h.until != 0 && from > h.until {
		return
	}
	l, i := h.lanes[laneKey{stream, 0}], h.bucket(max(from, h.from))
	m := l.marks[i]
	if m == nil {
		m = &mark{}
		l.marks[i] = m
	}
	if m[k].n += n; m[k].n == n {
		m[k].first = from
	}
	m[k].end = max(m[k].end, end)
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
	m := *a
	for k := range m {
		if x, y := &m[k], &b[k]; x.n == 0 || y.n != 0 && y.first < x.first {
			x.first = y.first
		}
		m[k].n += b[k].n
		m[k].end = max(m[k].end, b[k].end)
	}
	return &m
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
		tid, comm, _, known = h.v.s.Running(stream, r.time.Stated())
	}
	lo := h.v.rec.rel(r.time.Lo)
	hi := max(lo, h.v.rec.rel(min(until, r.time.Hi)))
	if !h.v.rec.Timed {
		lo, hi = r.time.Lo, max(r.time.Lo, until)
	}
	if r.doubts > 0 {
		h.mark(stream, ofDoubts, r.doubts, lo, hi)
	}
	h.lanes[laneKey{stream, 0}].total += r.sure + r.unsure
	h.spread(h.lanes[laneKey{stream, 0}], lo, hi, r)
	if known && tid >= 0 {
		if l := h.lane(laneKey{-1, tid}, comm); l != nil {
			l.total += r.sure + r.unsure
			h.spread(l, lo, hi, r)
		}
	}
	r.sure, r.unsure, r.doubts = 0, 0, 0
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
	before := share(r, from-lo, hi-lo+1)
	for i := first; i <= last; i++ {
		end := until - lo + 1
		if i < last {
			end = h.from + uint64(i+1)*h.width - lo
		}
		upTo := share(r, end, hi-lo+1)
		l.sure[i] += upTo[0] - before[0]
		l.unsure[i] += upTo[1] - before[1]
		before = upTo
	}
}

// share returns what of r ran in the first part of a stretch, sure and unsure.
func share(r *running, part, all uint64) [2]uint64 {
	if part == all {
		return [2]uint64{r.sure, r.unsure}
	}
	of := float64(part) / float64(all)
	return [2]uint64{uint64(of * float64(r.sure)), uint64(of * float64(r.unsure))}
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
	Reasons []gapReason   `json:"gap_reasons"`       // of the gaps, the most frequent first
	Of      string        `json:"of"`                // "instructions"; "samples": about as many, from places all over the window
	Command string        `json:"command"`
}

// gapReason is how many gaps have a reason, and what to do about it.
type gapReason struct {
	Reason string `json:"reason"`
	N      uint64 `json:"n"`
	Hint   string `json:"hint,omitempty"`
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
	// Learned is bucket, how many instructions whose code was learned, from, until.
	Learned [][4]uint64 `json:"learned"`
	// Doubts is bucket, how many instructions that are ambiguous or unconfirmed, the moment of the first of
	// them, and until when they ran.
	Doubts [][4]uint64 `json:"doubts"`
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
	d := &density{From: h.from + uint64(lo)*h.width, Width: h.width, Last: h.last, Limited: h.limited, Lanes: []laneDensity{}, Reasons: []gapReason{}, Of: "instructions"}
	if from <= h.from && (until == 0 || h.until != 0) { // else some lie outside
		for _, x := range h.reasons {
			d.Reasons = append(d.Reasons, *x)
		}
		slices.SortFunc(d.Reasons, func(a, b gapReason) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Reason, b.Reason)) })
	}
	for k, l := range h.lanes {
		x := laneDensity{Comm: clean(l.comm), Sure: []uint64{}, Unsure: [][2]uint64{}, Traps: [][3]uint64{}, Gaps: [][4]uint64{}, Learned: [][4]uint64{}, Doubts: [][4]uint64{}}
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
			if t := &m[ofTraps]; t.n > 0 {
				x.Traps = append(x.Traps, [3]uint64{uint64(i - lo), t.n, t.first})
			}
			for k, to := range map[kind]*[][4]uint64{ofGaps: &x.Gaps, ofLearned: &x.Learned, ofDoubts: &x.Doubts} {
				if t := &m[k]; t.n > 0 {
					*to = append(*to, [4]uint64{uint64(i - lo), t.n, t.first, t.end})
				}
			}
		}
		slices.SortFunc(x.Traps, func(a, b [3]uint64) int { return cmp.Compare(a[0], b[0]) })
		for _, list := range [][][4]uint64{x.Gaps, x.Learned, x.Doubts} {
			slices.SortFunc(list, func(a, b [4]uint64) int { return cmp.Compare(a[0], b[0]) })
		}
		d.Lanes = append(d.Lanes, x)
	}
	slices.SortFunc(d.Lanes, byLane)
	return d
}

// byLane orders lanes: streams, then threads.
func byLane(a, b laneDensity) int {
	switch {
	case a.Stream != nil && b.Stream != nil:
		return cmp.Compare(*a.Stream, *b.Stream)
	case a.Stream != nil:
		return -1
	case b.Stream != nil:
		return 1
	}
	return cmp.Compare(*a.TID, *b.TID)
}

// end counts what still waits.
func (h *histogram) end() {
	for i := range h.now {
		until := h.now[i].time.Lo
		if h.now[i].time.Hi != math.MaxUint64 {
			until = h.now[i].time.Hi
		}
		h.flush(i, until)
		h.closeGap(i, max(h.v.rec.Until, h.last))
	}
}
