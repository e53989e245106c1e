package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// How far back the code may have been wrong where the trace contradicts it.
//
// Where the trace states a target, the flow is where it says, whatever led there. Two
// things can still be wrong: the return stack, with what was called before, and which
// outcomes lie before the target, where the trace unit holds targets back. So the doubt
// goes back over a few stated addresses, and does not count those between a call and
// the return to it.

// doubted is what may be wrong: the ranges since the flow was last confirmed, which lie
// in several batches.
type doubted struct {
	pieces []stretch
	links  []int32 // by range: what follows it, one of the values below or the index of the call to which it returns
	open   []called
	told   bool // each return is stated
}

// stretch is a part of a batch.
type stretch struct {
	*Batch
	from, to extent
}

// called is a call: the index of its range, and its return address.
type called struct {
	at  int32
	end uint64
}

// What follows a range, where it is no return to a call.
const (
	followed int32 = -1 // what code and outcomes say
	stated   int32 = -2 // an address that the trace states
)

// statedBack is how many stated addresses the doubt goes back.
const statedBack = 4

// start returns the index of the first range that may be wrong.
func (d *doubted) start() int {
	d.link()
	must, seen := len(d.links), 0
	for i := len(d.links) - 1; i >= 0; i-- {
		switch c := d.links[i]; {
		case c >= 0:
			must = min(must, int(c))
		case c == stated && i < must:
			if seen++; seen == statedBack {
				return i + 1
			}
		}
	}
	return 0
}

// link finds out what follows each range.
func (d *doubted) link() {
	d.links, d.open = d.links[:0], d.open[:0]
	back := uint64(0) // where the range before returns to, if the trace did not state it; 0: it does not return
	for _, p := range d.pieces {
		notes := p.Notes[p.from.notes:p.to.notes]
		for i := p.from.ranges; i < p.to.ranges; i++ {
			r := &p.Ranges[i]
			lands := false
			for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
				lands = lands || notes[0].lands()
			}
			if last := len(d.links) - 1; last >= 0 && (lands && back == 0 || !lands && back != 0 && r.Block.Addr != back) {
				d.links[last] = stated
			}
			var link int32
			link, back = d.leave(r)
			d.links = append(d.links, link)
		}
	}
}

// leave returns what follows r, the next range. If it returns, back is its return address.
func (d *doubted) leave(r *Range) (link int32, back uint64) {
	l := r.Block.lead
	switch {
	case r.N < r.Block.N:
		return followed, 0
	case l&returns != 0 && d.told:
		return stated, 0
	case l&returns != 0:
		if k := len(d.open); k > 0 {
			c := d.open[k-1]
			d.open = d.open[:k-1]
			return c.at, c.end
		}
		return followed, 0
	case l&calls != 0:
		d.open = append(d.open, called{int32(len(d.links)), r.Block.End})
	}
	if p := l & place; p == toStated || p == toFar {
		return stated, 0
	}
	return followed, 0
}

// lands reports whether the flow goes on behind n where the trace states it.
func (n *Note) lands() bool {
	return n.Kind == NoteTrackOn || n.Kind == NoteTrap || n.Kind == NoteGap || n.Kind == NoteEvent && n.Event.Kind == event.Async
}
