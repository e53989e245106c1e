package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// queue is the events of a segment that are pulled and that some thread has not
// used yet. An event keeps its index in the segment, also when those before it are
// dropped.
type queue struct {
	src     Source
	buf     []event.Event
	base    int  // index of buf[0] in the segment
	drained bool // src has no more
}

// start begins the segment that src gives.
func (q *queue) start(src Source) {
	q.src, q.buf, q.base, q.drained = src, q.buf[:0], 0, false
}

// at returns event i of the segment, pulling as needed; nil past the end.
// The pointer is good until the next call that pulls.
func (q *queue) at(i int) *event.Event {
	if i-q.base < len(q.buf) {
		return &q.buf[i-q.base]
	}
	return q.later(i)
}

// later is at where it is not pulled yet.
func (q *queue) later(i int) *event.Event {
	for i-q.base >= len(q.buf) {
		if q.drained {
			return nil
		}
		q.pull()
	}
	return &q.buf[i-q.base]
}

// pull appends events to the queue.
func (q *queue) pull() {
	n := len(q.buf)
	if cap(q.buf)-n < queueEvents {
		grown := make([]event.Event, n, 2*cap(q.buf)+queueEvents)
		copy(grown, q.buf)
		q.buf = grown
	}
	room := q.buf[:n+queueEvents]
	got := q.fill(room[n:])
	q.drained = got < len(room)-n
	q.buf = room[:n+got]
}

// fill pulls as many events as dst holds, fewer at the segment's end.
func (q *queue) fill(dst []event.Event) int {
	if f, ok := q.src.(Filler); ok {
		return f.Fill(dst)
	}
	for i := range dst {
		if !q.src.Next(&dst[i]) {
			return i
		}
	}
	return len(dst)
}

// trim drops the events before next, which no thread uses any more, if there are at
// least so many and they are half of what is held.
func (q *queue) trim(next, least int) {
	// One event back is kept: a flow with outcomes in hand refers to it.
	if used := next - 1 - q.base; used >= least && used >= len(q.buf)/2 {
		n := copy(q.buf, q.buf[min(used, len(q.buf)):])
		q.buf = q.buf[:n]
		q.base += used
	}
}

// waitedBehind returns the outcomes event that target i may have waited behind, and
// its index: only targets, and payloads, of which not each need end the wait, lie
// between. e is nil if there is none. Where that is dropped, ok is false.
func (q *queue) waitedBehind(i int) (at int, e *event.Event, ok bool) {
	for i--; i >= q.base; i-- {
		switch e := &q.buf[i-q.base]; e.Kind {
		case event.Target, event.Payload:
		case event.Outcomes:
			return i, e, true
		default:
			return 0, nil, true
		}
	}
	return 0, nil, false
}

// early reports whether target i is seldom sent while outcomes of before it are left: the
// packet with these is not full, and no other packet forced it out. Outcomes follow that
// would have filled it (Intel SDM, volume 3C, section "Deferred TIPs").
func (q *queue) early(i int) bool {
	_, o, _ := q.waitedBehind(i)
	if o == nil || o.Last == 0 || o.Last == shortFull || o.Last >= maxWaiting {
		return false
	}
	next := q.at(i + 1)
	return next != nil && next.Kind == event.Outcomes && next.N > 0
}

// behindNotTaken reports whether the latest that led the flow on before event i is
// the outcome of a branch that was not taken. Where that is dropped, it is not known.
func (q *queue) behindNotTaken(i int) bool {
	for i--; i >= q.base; i-- {
		switch e := &q.buf[i-q.base]; e.Kind {
		case event.Payload, event.Context, event.Status:
		default:
			return notTaken(e)
		}
	}
	return false
}
