package decoder

import (
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// segment plans the stream's segments: from each sync point to the next. All
// of the stream had been written by end, ns; 0: not known.
func (st *Stream) segment(end uint64) {
	data := st.data
	if f, ok := st.data.(*fileStream); ok {
		data = &pieces{f: f}
	}
	segs, head := st.of().plan(st, data)
	st.segs, st.Head = segs, head
	st.host = slices.ContainsFunc(segs, func(g event.Segment) bool { return g.Host })
	defer st.cutAtLosses()
	if end == 0 {
		return
	}
	for i := len(segs) - 1; i >= 0 && segs[i].Time.Hi > end; i-- {
		segs[i].Time.Hi = max(end, segs[i].Time.Lo)
	}
}

// pieces reads a file in large pieces; what it gives is lent until the next call.
type pieces struct {
	f   *fileStream
	buf []byte
	off int64 // of buf
}

// pieceBytes is how much of a file is read at once.
const pieceBytes = 256 << 10

// Bytes returns n bytes from off on.
func (p *pieces) Bytes(off, n int64) []byte {
	if off < p.off || off+n > p.off+int64(len(p.buf)) {
		p.buf, p.off = p.f.Into(p.buf, off, max(n, pieceBytes)), off
	}
	at := min(off-p.off, int64(len(p.buf)))
	return p.buf[at:min(at+n, int64(len(p.buf)))]
}

// modeBefore returns the exec mode that the trace stated last before segment i;
// the protocol's own if it never did. It is needed where tracing was off at a sync point:
// the TIP.PGE after it may leave the mode out (Intel SDM, volume 3C, section
// "MODE Packets").
func (st *Stream) modeBefore(i int) isa.Mode {
	p := st.of()
	if p.lastMode == nil {
		return p.mode
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.modes == nil {
		st.modes = map[int]isa.Mode{}
	}
	for i--; i >= 0; i-- {
		m, known := st.modes[i]
		if !known {
			g := &st.segs[i]
			m = p.lastMode(st.data.Bytes(g.Off, g.End-g.Off))
			st.modes[i] = m
		}
		if m != isa.ModeUnknown {
			return m
		}
	}
	return p.mode
}

// timeOf returns when what is in segment i happened, as far as the segments
// around it say.
func (st *Stream) timeOf(i int) event.Time {
	t := st.segs[i].Time
	if st.of().stamps == nil {
		return t
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.lasts == nil {
		st.firsts, st.lasts = map[int]uint64{}, map[int]uint64{}
	}
	lo, hi := st.lastStamp(i-1), st.firstStamp(i+1)
	if first, last := st.firstStamp(i), st.lastStamp(i); first != 0 && first < lo || hi != 0 && hi < max(lo, last) {
		return t // the clock was set back
	}
	if t.Lo = max(t.Lo, lo); hi != 0 {
		t.Hi = min(t.Hi, hi)
	}
	t.Hi = max(t.Lo, t.Hi)
	return t
}

// lastStamp returns the newest timestamp in segment i, or in the nearest before
// it that has one, ns; 0: there is none.
func (st *Stream) lastStamp(i int) (last uint64) {
	k, known := i, false
	for ; k >= 0 && last == 0 && !known; k-- {
		if last, known = st.lasts[k]; !known {
			_, last = st.stamps(k, true)
		}
	}
	for k++; k <= i; k++ {
		st.lasts[k] = last
	}
	return last
}

// firstStamp returns the first timestamp in segment i, or in the nearest behind
// it that has one, ns; 0: there is none.
func (st *Stream) firstStamp(i int) (first uint64) {
	k, known := i, false
	for ; k < len(st.segs) && first == 0 && !known; k++ {
		if first, known = st.firsts[k]; !known {
			first, _ = st.stamps(k, false)
		}
	}
	for k--; k >= i; k-- {
		st.firsts[k] = first
	}
	return first
}

// stamps is protocol.stamps of segment k.
func (st *Stream) stamps(k int, all bool) (first, last uint64) {
	g := &st.segs[k]
	return st.of().stamps(st, st.data.Bytes(g.Off, g.End-g.Off), all)
}

// plan cuts what q asks for into jobs, in the order in which they are delivered.
func (s *Session) plan(q Query) []*job {
	size := q.SegmentBytes
	if size <= 0 {
		size = 8 << 10
	}
	var jobs []*job
	for _, st := range s.streams {
		if q.Streams != nil && !slices.Contains(q.Streams, st.Index) {
			continue
		}
		var j *job
		for i := range st.segs {
			g := &st.segs[i]
			if (q.From > 0 && g.Time.Hi < q.From) || (q.Until > 0 && g.Time.Lo > q.Until) {
				j = nil
				continue
			}
			if j == nil || g.End-j.segs[0].Off > size {
				j = &job{stream: st, bounds: q.Bounds}
				jobs = append(jobs, j)
			}
			j.segs = append(j.segs, *g)
		}
	}
	// A clock may step back, a stream's own order may not.
	for i, j := range jobs {
		if j.at = j.segs[0].Time.Lo; i > 0 && jobs[i-1].stream == j.stream {
			j.at = max(j.at, jobs[i-1].at)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Compare(a.at, b.at) })
	if q.Reverse {
		slices.Reverse(jobs)
	}
	return jobs
}
