package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// queue is the events of a segment that are pulled and that some thread has not
// used yet. An event keeps its index in the segment, also when those before it are
// dropped.
type queue struct {
	src     Source
	buf     []event.Event
	base    int           // index of buf[0] in the segment
	drained bool          // src has no more
	bytes   Bytewise      // src, if the walk may know its bytes again
	past    past          // the events directly before base, if they were passed over
	told    []event.Event // scratch of usedEvent
	older   dropped       // what lies before all that usedEvent can tell
	vain    int           // how often in a row nothing was known of the bytes ahead
	brief   bool          // few events are pulled at once: Config.Brief
}

// vainMost is how often in a row a walk looks for what it knows in vain, before it has
// events pulled as if there were nothing.
const vainMost = 8

// past is the bytes of events that were passed over as a phrase, and when and where they
// were sent.
type past struct {
	buf   []byte
	off   int64
	at    event.Time
	last  uint64 // what addresses in them are relative to
	known bool   // there are such bytes
	first int    // the first event that was passed over
	turns bool   // they are not all targets
}

// dropped is what waitedBehind, behindNotTaken and statedBehind tell of the first event that
// usedEvent can tell, each where it asks for what lies before.
type dropped struct {
	at       int
	held     event.Event // outcomes that a target may have waited behind
	is       bool        // there are such outcomes
	ok       bool        // it is known
	notTaken bool
	ip       uint64
	states   bool
}

// start begins the segment that src gives. If known is set, the walk may know its bytes
// again.
func (q *queue) start(src Source, known bool) {
	q.src, q.buf, q.base, q.drained = src, q.buf[:0], 0, false
	q.bytes, q.past, q.told, q.older = nil, past{}, q.told[:0], dropped{}
	q.vain = 0
	if known {
		q.bytes, _ = src.(Bytewise)
	}
}

// spent reports whether the events that are pulled are those before i, and there may be
// more.
func (q *queue) spent(i int) bool { return i-q.base >= len(q.buf) && !q.drained }

// passed says that the events before i were passed over, p among them.
func (q *queue) passed(i int, p past) {
	var o dropped
	if !p.turns { // all that are passed over are targets: of those only waitedBehind asks for more
		o.keepWaited(q, p.first)
	}
	q.older = o
	q.base, q.buf = i, q.buf[:0]
	q.past, q.told = p, q.told[:0]
}

// at returns event i of the segment, pulling as needed; nil past the end.
// The pointer is good until the next call that pulls.
func (q *queue) at(i int) *event.Event {
	if i-q.base < len(q.buf) {
		return &q.buf[i-q.base]
	}
	return q.later(i)
}

// pulled is at, but nil where event i is not pulled yet and may be passed over instead.
func (q *queue) pulled(i int) *event.Event {
	if q.bytes != nil && i-q.base >= len(q.buf) {
		return nil
	}
	return q.at(i)
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
	more := queueEvents
	if q.brief {
		more = briefEvents
	}
	if cap(q.buf)-n < more {
		grown := make([]event.Event, n, 2*cap(q.buf)+queueEvents)
		copy(grown, q.buf)
		q.buf = grown
	}
	room := q.buf[:n+more]
	got := 0
	if q.bytes != nil && q.vain < vainMost {
		ok := false
		got, ok = q.bytes.Some(room[n:])
		q.drained = !ok
	} else {
		got = q.fill(room[n:])
		q.drained = got < len(room)-n
	}
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
		q.keepOlder(q.base + used)
		n := copy(q.buf, q.buf[min(used, len(q.buf)):])
		q.buf = q.buf[:n]
		q.base += used
		q.past, q.told = past{}, q.told[:0]
	}
}

// usedEvent returns event i, which was used, nil where it is not held any more.
func (q *queue) usedEvent(i int) *event.Event {
	if i >= q.base {
		if i-q.base >= len(q.buf) {
			return nil
		}
		return &q.buf[i-q.base]
	}
	if q.past.known {
		q.tellPast()
	}
	if k := len(q.told) - (q.base - i); k >= 0 {
		return &q.told[k]
	}
	return nil
}

// tellPast decodes what was passed over.
func (q *queue) tellPast() {
	var after [phraseEvents]int
	var lasts [phraseEvents]uint64
	p := &q.past
	for from, last := 0, p.last; from < len(p.buf); {
		n := len(q.told)
		q.told = slices.Grow(q.told, phraseEvents)[:n+phraseEvents]
		// What lies behind the bytes said where the last event ends.
		k, _ := q.bytes.Tell(q.told[n:], after[:], lasts[:], p.buf[from:min(from+phraseBytes, cap(p.buf))], last)
		for i := range k {
			if e := &q.told[n+i]; from+int(e.Off) < len(p.buf) {
				e.Off, e.End, e.Time = e.Off+p.off+int64(from), e.End+p.off+int64(from), p.at
			} else {
				k = i
				break
			}
		}
		q.told = q.told[:n+k]
		if k == 0 {
			break
		}
		from, last = from+after[k-1], lasts[k-1]
	}
	p.known = false
}

// keepOlder keeps what lies before event i, if the kind of that event makes it needed: those
// before it are dropped. So what a flow knows of the past depends on nothing but the trace.
func (q *queue) keepOlder(i int) {
	var o dropped
	if e := q.usedEvent(i); e != nil {
		if mayWait(e) {
			o.keepWaited(q, i)
		}
		if !mayLead(e) {
			o.notTaken = q.behindNotTaken(i)
		}
		if !mayPlace(e) {
			o.ip, o.states = q.statedBehind(i)
		}
	}
	q.older = o
}

// keepWaited keeps what event i of q may have waited behind.
func (o *dropped) keepWaited(q *queue, i int) {
	at, e, ok := q.waitedBehind(i)
	if o.at, o.is, o.ok = at, e != nil, ok; e != nil {
		o.held = *e
	}
}

// waitedBehind returns the outcomes event that target i may have waited behind, and
// its index: only targets, and payloads, of which not each need end the wait, lie
// between. e is nil if there is none. Where that is dropped, ok is false.
func (q *queue) waitedBehind(i int) (at int, e *event.Event, ok bool) {
	for i--; ; i-- {
		e := q.usedEvent(i)
		if e == nil {
			break
		}
		switch {
		case mayWait(e):
		case e.Kind == event.Outcomes:
			return i, e, true
		default:
			return 0, nil, true
		}
	}
	if q.older.is {
		return q.older.at, &q.older.held, q.older.ok
	}
	return 0, nil, q.older.ok
}

// mayWait reports whether a target behind e may wait for outcomes from before e.
func mayWait(e *event.Event) bool { return e.Kind == event.Target || e.Kind == event.Payload }

// early reports whether target i is seldom sent while outcomes of before it are left: the
// packet with these is not full, and no other packet forced it out. Outcomes follow that
// would have filled it (Intel SDM, volume 3C, section "Deferred TIPs"). Up to them come
// targets more, which may have waited too, or which forced it out.
func (q *queue) early(i int) (early bool, more int) {
	_, o, _ := q.waitedBehind(i)
	if o == nil || o.Last == 0 || o.Last == shortFull || o.Last >= maxWaiting {
		return false, 0
	}
	for i++; ; i++ {
		if next := q.at(i); next == nil || next.Kind != event.Target {
			return next != nil && next.Kind == event.Outcomes && next.N > 0, more
		}
		more++
	}
}

// behindNotTaken reports whether the latest that led the flow on before event i is
// the outcome of a branch that was not taken. It need not be held any more.
func (q *queue) behindNotTaken(i int) bool {
	for i--; ; i-- {
		e := q.usedEvent(i)
		if e == nil {
			return q.older.notTaken
		}
		if mayLead(e) {
			return notTaken(e)
		}
	}
}

// mayLead reports whether e may lead a flow on.
func mayLead(e *event.Event) bool { return e.Kind != event.Status && mayPlace(e) }

// mayPlace reports whether e may lead a flow on, or says where it is.
func mayPlace(e *event.Event) bool { return e.Kind != event.Payload && e.Kind != event.Context }

// statedBehind returns the address that the latest before event i stated which led the flow on,
// or said where it is. ok is false if that stated none. It need not be held any more.
func (q *queue) statedBehind(i int) (ip uint64, ok bool) {
	for i--; ; i-- {
		e := q.usedEvent(i)
		if e == nil {
			return q.older.ip, q.older.states
		}
		if mayPlace(e) {
			return e.IP, e.HasIP()
		}
	}
}
