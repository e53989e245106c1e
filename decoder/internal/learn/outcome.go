package learn

import "slices"

// Outcome is what decoding the segment of a visit came to, with other code.
type Outcome struct {
	// Beyond is how many instructions followed behind the visit until the trace
	// contradicted again; Ended: it never did up to the segment's end.
	Beyond int
	Ended  bool
	Open   int      // instructions behind those, that no event confirmed up to the segment's end; 0 where Ended is false
	Flow   []uint64 // addresses of instructions in order from Visit.Begin on; no more than a bound
	Before []uint64 // addresses of instructions before those, the last of them in order; no more than a bound
	Calls  Calls    // of the segment
	Until  uint64   // when the trace contradicted again at the latest, ns
	// Untried says that nothing was decoded, as too much had been: the rest says nothing.
	Untried bool
}

// What an idea must come to at a visit: so many instructions behind it that events
// confirmed, with no contradiction, fewer where the segment ends before. Of the wrong
// claims that contradictions end, 99 in 100 are shorter than 61 instructions.
const (
	enough      = 512
	enoughAtEnd = 64
)

// A trial ends where this many instructions behind the visit were confirmed.
const maxBeyond = 1 << 10

// Clone returns a copy of o, which goes its own way.
func (o *Outcome) Clone() Outcome {
	x := *o
	x.Flow, x.Before, x.Calls.open = slices.Clone(o.Flow), slices.Clone(o.Before), slices.Clone(o.Calls.open)
	return x
}

// Lend returns the memory of o to be used again (Use). Where o holds, who reads the flow has a copy. What came before is o's
// up to then.
func (o *Outcome) Lend() (scratch Outcome) {
	scratch = Outcome{Flow: o.Flow[:0], Before: o.Before[:0], Calls: Calls{open: o.Calls.open[:0]}}
	if o.Calls.open = nil; o.holds() {
		o.Flow = slices.Clone(o.Flow)
	} else {
		o.Flow = nil
	}
	return scratch
}

// Use returns a copy of o in scratch memory.
func (o *Outcome) Use(scratch Outcome) Outcome {
	x := *o
	x.Flow, x.Before = append(scratch.Flow[:0], o.Flow...), append(scratch.Before[:0], o.Before...)
	x.Calls.open = append(scratch.Calls.open[:0], o.Calls.open...)
	return x
}

// Full reports whether o says all that is wanted.
func (o *Outcome) Full() bool { return o.Beyond >= maxBeyond }

// Of the flow, so many instructions are kept; of that before the visit, so many or twice as
// many. What an idea gets wrong leads no farther behind the visit than maxLed.
const (
	maxFlow   = 1 << 11
	maxBefore = 128
	maxLed    = 64
)

// Follow takes instructions of the flow with these lengths in bytes, the first at addr.
// They lead to the event at off. What comes where o is full counts for nothing: how much of it
// comes hangs on how much is told at once.
func (o *Outcome) Follow(v *Visit, off int64, addr uint64, lens []uint8) {
	if o.Full() {
		return
	}
	if off < v.Begin {
		if n := len(o.Before); n >= 2*maxBefore {
			o.Before = o.Before[:copy(o.Before, o.Before[maxBefore:])]
		}
		o.Before = appendInsns(o.Before, addr, lens)
	} else if n := maxFlow - len(o.Flow); n > 0 {
		o.Flow = appendInsns(o.Flow, addr, lens[:min(n, len(lens))])
	}
	if off > v.Off {
		if o.Beyond += len(lens); o.Beyond > maxLed {
			o.Calls.Settle()
		}
	}
}

// appendInsns appends the addresses of instructions with these lengths, the first at addr.
func appendInsns(list []uint64, addr uint64, lens []uint8) []uint64 {
	n := len(list)
	list = slices.Grow(list, len(lens))[:n+len(lens)]
	for i, l := range lens {
		list[n+i] = addr
		addr += uint64(l)
	}
	return list
}

// holds reports whether the trace bears the idea out.
func (o *Outcome) holds() bool {
	return o.Beyond >= enough || o.Ended && o.Beyond+o.Open >= enoughAtEnd
}

// stands reports whether the trace does not contradict the idea. Where little follows
// the visit, that says little for it.
func (o *Outcome) stands() bool { return o.Ended || o.Beyond >= enough }
