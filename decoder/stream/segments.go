package stream

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// FindSegments finds the stream's segments: from each sync point to the next. All
// of the stream had been written by end, ns; 0: not known.
func (st *Stream) FindSegments(end uint64) {
	data := st.Data
	if f, ok := st.Data.(*File); ok {
		data = &pieces{f: f}
	}
	segs, head := st.of().plan(st, data)
	st.Segs, st.Head = segs, head
	st.Host = slices.ContainsFunc(segs, func(g event.Segment) bool { return g.Host })
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
	f   *File
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

// ModeBefore returns the exec mode that the trace stated last before segment i;
// the protocol's own if it never did. It is needed where tracing was off at a sync point:
// the TIP.PGE after it may leave the mode out (Intel SDM, volume 3C, section
// "MODE Packets").
func (st *Stream) ModeBefore(i int) isa.Mode {
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
			g := &st.Segs[i]
			m = p.lastMode(st.Data.Bytes(g.Off, g.End-g.Off))
			st.modes[i] = m
		}
		if m != isa.ModeUnknown {
			return m
		}
	}
	return p.mode
}

// TimeOf returns when what is in segment i happened, as far as the segments
// around it say.
func (st *Stream) TimeOf(i int) event.Time {
	t := st.Segs[i].Time
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
	for ; k < len(st.Segs) && first == 0 && !known; k++ {
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
	g := &st.Segs[k]
	return st.of().stamps(st, st.Data.Bytes(g.Off, g.End-g.Off), all)
}
