package stream

import (
	"cmp"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// answers is what was found out about segments last: an answer that holds for
// those that begin in [from, to]. It holds few; a stream is gone through in order.
type answers[T comparable] struct {
	list [128]struct {
		from, to int64
		what     T
	}
	n int // how many were put in
}

// get returns the answer for the segment at off.
func (a *answers[T]) get(off int64) (what T, ok bool) {
	for i := range min(a.n, len(a.list)) {
		if x := &a.list[i]; x.from <= off && off <= x.to {
			return x.what, true
		}
	}
	return what, false
}

// put takes the answer for the segments that begin in [from, to].
func (a *answers[T]) put(from, to int64, what T) {
	x := &a.list[a.n%len(a.list)]
	x.from, x.to, x.what = from, to, what
	a.n++
}

// ask returns what segment g states, or the nearest from it on that states
// something: step goes on to the next, and read reads one. T's zero value says that
// none does.
func (a *answers[T]) ask(g event.Segment, step func(event.Segment) (event.Segment, bool), read func(event.Segment) T) (what T) {
	if known, ok := a.get(g.Off); ok {
		return known
	}
	var nothing T
	from, to := g.Off, g.Off
	for ok := true; ok; g, ok = step(g) {
		from, to = min(from, g.Off), max(to, g.Off)
		var known bool
		if what, known = a.get(g.Off); known {
			break
		}
		if what = read(g); what != nothing {
			break
		}
	}
	a.put(from, to, what)
	return what
}

// asked is what was asked of a stream that takes a look at the bytes of segments.
type asked struct {
	mu     sync.Mutex
	modes  answers[isa.Mode] // stated last in the segment, or before it
	firsts answers[uint64]   // see protocol.stamps: of the segment or the next that has one
	lasts  answers[uint64]   // of the segment or the nearest before it that has one
}

// ModeBefore returns the exec mode that the trace stated last before the segment at
// off; the protocol's own if it never did. It is needed where tracing was off at a
// sync point: the TIP.PGE after it may leave the mode out (Intel SDM, volume 3C,
// section "MODE Packets").
func (st *Stream) ModeBefore(off int64) isa.Mode {
	p := st.Protocol
	if p.LastMode == nil {
		return p.Mode
	}
	st.asked.mu.Lock()
	defer st.asked.mu.Unlock()
	g, ok := st.Before(off)
	if !ok {
		return p.Mode
	}
	mode := st.asked.modes.ask(g, st.earlier, func(g event.Segment) isa.Mode { return p.LastMode(st.Data.Bytes(g.Off, g.End-g.Off)) })
	return cmp.Or(mode, p.Mode)
}

// TimeOf returns when what is in segment g happened, as far as the segments
// around it say.
func (st *Stream) TimeOf(g event.Segment) event.Time {
	t := g.Time
	if st.Protocol.Stamps == nil {
		return t
	}
	st.asked.mu.Lock()
	defer st.asked.mu.Unlock()
	var lo, hi uint64
	if before, ok := st.Before(g.Off); ok {
		lo = st.lastStamp(before)
	}
	if after, ok := st.After(g.Off + 1); ok {
		hi = st.firstStamp(after)
	}
	if first, last := st.firstStamp(g), st.lastStamp(g); first != 0 && first < lo || hi != 0 && hi < max(lo, last) {
		return t // the clock was set back
	}
	if t.Lo = max(t.Lo, lo); hi != 0 {
		t.Hi = min(t.Hi, hi)
	}
	t.Hi = max(t.Lo, t.Hi)
	return t
}

// earlier returns the segment before g, and later the one behind it.
func (st *Stream) earlier(g event.Segment) (event.Segment, bool) { return st.Before(g.Off) }
func (st *Stream) later(g event.Segment) (event.Segment, bool)   { return st.After(g.Off + 1) }

// lastStamp returns the newest timestamp in segment g, or in the nearest before
// it that has one, ns; 0: there is none.
func (st *Stream) lastStamp(g event.Segment) uint64 {
	return st.asked.lasts.ask(g, st.earlier, func(g event.Segment) uint64 {
		_, last := st.stamps(&g, true)
		return last
	})
}

// firstStamp returns the first timestamp in segment g, or in the nearest behind
// it that has one, ns; 0: there is none.
func (st *Stream) firstStamp(g event.Segment) uint64 {
	return st.asked.firsts.ask(g, st.later, func(g event.Segment) uint64 {
		first, _ := st.stamps(&g, false)
		return first
	})
}

// stamps is protocol.stamps of segment g.
func (st *Stream) stamps(g *event.Segment, all bool) (first, last uint64) {
	return st.Protocol.Stamps(st, st.Data.Bytes(g.Off, g.End-g.Off), all)
}
