package counts

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Clock shares out the time of one stream. What passes between two times that the trace
// tells is shared among the instructions between them. Its zero value is ready.
type Clock struct {
	runs  bool
	since uint64 // ns
	insns uint64 // executed since
	list  []share
}

// Time is a time in parts of 1/65,536 ns. A sum of them does not depend on their order.
type Time uint64

// Nanoseconds returns t in ns, as precise as sums of many parts are.
func (t Time) Nanoseconds() float64 { return float64((t+128)>>8) / 256 }

// share is what was executed of one thing.
type share struct {
	time *Time  // of that thing
	n    uint16 // instructions
}

// Ran says that n instructions were executed, of what takes the time.
func (k *Clock) Ran(time *Time, n uint16) {
	k.list = append(k.list, share{time, n})
	k.insns += uint64(n)
}

// Reach says that it is t, ns.
func (k *Clock) Reach(t uint64) {
	if t == 0 || k.runs && t <= k.since {
		return
	}
	if k.runs && k.insns > 0 {
		each := Time(((t-k.since)<<16 + k.insns/2) / k.insns)
		for _, s := range k.list {
			*s.time += each * Time(s.n)
		}
	}
	k.runs, k.since, k.insns, k.list = true, t, 0, k.list[:0]
}

// Note takes what lies between ranges: where nothing is known to be executed, and where
// execution goes on.
func (k *Clock) Note(n *decoder.Note) {
	var t event.Time
	switch n.Kind {
	case decoder.NoteGap:
		t = n.Gap.Time
	case decoder.NoteTrackOff, decoder.NoteTrackOn:
		t = n.Event.Time
	default:
		return
	}
	k.Reach(t.Lo)
	k.runs, k.insns, k.list = false, 0, k.list[:0]
	if n.Kind == decoder.NoteTrackOn && t.Lo != 0 {
		k.runs, k.since = true, t.Lo
	}
}
