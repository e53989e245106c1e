package counts

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
)

// Clock divides the time of one stream. What passes between two times that the trace states is
// divided evenly among the instructions between them, also if tracing was off in between. What
// surely passed while it was off is nobody's, and so is what passed around a gap. See
// docs/rationale.md. Its zero value is ready.
type Clock struct {
	since uint64 // the last time, ns; 0: it is not known
	lost  bool   // a gap came since: nothing is divided
	until uint64 // tracing went off no later, ns; 0: it is on, or that is not known
	insns uint64 // executed since
	list  []share
}

// Time is a time in parts of 1/65,536 ns. A sum of them does not depend on their order.
type Time uint64

// Nanoseconds returns t in ns, as precise as sums of many parts are.
func (t Time) Nanoseconds() float64 { return float64((t+128)>>8) / 256 }

// maxShares bounds what waits for the next time that the trace states.
const maxShares = 1 << 20

// share is what was executed of one thing.
type share struct {
	time *Time  // of that thing
	n    uint16 // instructions
}

// Ran says that n instructions were executed, of what takes the time.
func (k *Clock) Ran(time *Time, n uint16) {
	if k.since == 0 || k.lost {
		return
	}
	k.until = 0
	k.insns += uint64(n)
	if last := len(k.list) - 1; last >= 0 && k.list[last].time == time && k.list[last].n <= math.MaxUint16-n {
		k.list[last].n += n
	} else if len(k.list) < maxShares {
		k.list = append(k.list, share{time, n})
	} else { // the trace states no time for long
		k.empties()
		k.lost = true
	}
}

// Reach says that it is t, ns. 0 says nothing. Where the clock was set back, it begins anew.
func (k *Clock) Reach(t uint64) {
	if t == 0 || t == k.since {
		return
	}
	if k.insns > 0 && t > k.since {
		end := t
		if k.until != 0 {
			end = min(t, k.until)
		}
		each := Time(((end-k.since)<<16 + k.insns/2) / k.insns)
		for _, s := range k.list {
			*s.time += each * Time(s.n)
		}
	}
	k.since, k.lost = t, false
	k.empties()
}

// empties forgets what was executed.
func (k *Clock) empties() { k.insns, k.list = 0, k.list[:0] }

// Note takes what lies between ranges: where nothing is known to be executed, and where
// execution goes on.
func (k *Clock) Note(n *decoder.Note) {
	switch t := n.Event.Time; n.Kind {
	case decoder.NoteGap:
		k.Reach(n.Gap.Time.Lo)
		k.empties()
		k.lost, k.until = true, 0
	case decoder.NoteTrackOff:
		k.Reach(t.Lo)
		if k.until = t.Hi; t.Hi == math.MaxUint64 || t.Hi <= k.since {
			k.until = 0
		}
	case decoder.NoteTrackOn:
		k.Reach(t.Lo)
		k.until = 0
	}
}

// End says that the flow of st ends, which an event at an offset led to, bytes. If the trace
// goes on there, its next sync point states the time.
func (k *Clock) End(st *decoder.Stream, off int64) {
	if g, ok := st.After(off + 1); ok && !g.Starts {
		k.Reach(g.Time.Lo)
	}
}
