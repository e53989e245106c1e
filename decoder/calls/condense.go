package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// condenser takes detours out of flow before it is merged: calls that return in the same stretch of a
// stream, with nothing in them but what brief calls do. One worker has it, with tables of its own.
// What rests on other streams, or on calls from before the stretch, is left to the Tree. So whatever
// it does not know leaves the calls in progress as they are, and nothing is ever undone.
type condenser struct {
	*cpu         // of the stream: tables, names, and inside; the flow of it is not followed
	whole []bool // by stream: nothing is taken out

	out  *decoder.Batch       // what is left
	over *condensed           // of out
	list []decoder.BatchRange // behind a range that is a detour the stamp of the next one says where to go on
	rest int                  // of list: what lies before is gone

	frames   [maxFrames]frame // calls in progress, the outermost first
	n        int
	old      int     // so many of them began before list
	replaced []ended // calls in frames that jumped to another function
	since    instant // of the range before, where that has another stamp
	await    awaited
	branch   *decoder.Block // at the end of which the flow left
	returner *decoder.Block // as in cpu
	instant  instant        // of the range at hand
	stamp    uint32         // of the range at hand
	safe     uint64         // no thread goes or comes behind instant.before and before that, ns
	met      []*function    // those of which folded counts
	moved    bool           // quickly came to another function
}

// instant is when a range ran, as far as detours ask.
type instant struct {
	stamp  uint32 // in out
	off    int64  // place in the stream, bytes
	stated uint64 // by the trace, ns
	before uint64 // what was stated at the place before, ns
	unsure bool   // another thread may come
}

// maxFrames is how many calls of a detour lie one in another: a power of two.
const maxFrames = 64

// Condenser returns a function that makes flow smaller for a Tree with Fold: it takes out
// the calls that need only be counted. decoder.Session.Flow calls it, in its workers. It
// appends what is left of b to out; a b of nil says that out is handed on. Each such function
// is for one goroutine. nil says that t must be given all of the flow.
func (t *Tree) Condenser() func(out, b *decoder.Batch) {
	if !t.Fold || t.OnBegin != nil || t.OnRan != nil || t.From != 0 || t.Until != 0 {
		return nil
	}
	if t.cpus == nil {
		t.begin()
	}
	own := &Tree{Session: t.Session, places: make([]place, placesFirst), found: map[functionAt]*function{}}
	d := &condenser{}
	for i := range t.cpus {
		c := &t.cpus[i]
		own.cpus = append(own.cpus, cpu{Tree: own, st: c.st, machine: c.machine, switches: c.switches})
		d.whole = append(d.whole, c.cycles != nil || c.machine != t.Session)
	}
	d.cpu = &own.cpus[0]
	return d.condense
}

// condense appends what is left of b to out. Where b is nil, out ends.
func (d *condenser) condense(out, b *decoder.Batch) {
	if b == nil {
		d.hands(out)
		return
	}
	if d.out != out {
		d.takesUp(out, b.Stream)
	}
	base := uint32(len(out.Stamps))
	out.Stamps = append(out.Stamps, b.Stamps...)
	if base > 0 && len(b.Stamps) > 0 && b.Stamps[0].Time.Lo == 0 && (len(b.Ranges) == 0 || b.Ranges[0].Stamp > 0) {
		out.Stamps[base] = out.Stamps[base-1] // a segment's first, that nothing has: so times count up
	}
	d.stamp = noStamp
	from := 0
	for i := range b.Notes {
		n := &b.Notes[i]
		if !d.whole[b.Stream] && (n.Kind == decoder.NoteCut || n.Kind == decoder.NoteEvent && n.Event.Kind != event.Async) {
			continue // it leads nowhere: see Flow
		}
		d.follow(b.Ranges[from:n.At], base)
		from = n.At
		d.leave()
		out.Notes = append(out.Notes, *n)
		out.Notes[len(out.Notes)-1].At = len(out.Ranges)
	}
	d.follow(b.Ranges[from:], base)
	flow.Condense(out, d.over, d.over.filled())
}

// takesUp begins with out, of a stream of which nothing is known.
func (d *condenser) takesUp(out *decoder.Batch, stream int) {
	_, spare := flow.CondensedOf(out)
	o, _ := spare.(*condensed)
	if o == nil {
		o = &condensed{detours: make([]detour, 0, 256), timed: make([]ended, 0, 1024), folded: make([]foldedOf, 0, 256)} // mostly it is enough
	}
	*o = condensed{detours: o.detours[:0], timed: o.timed[:0], folded: o.folded[:0]}
	d.out, d.over, d.cpu = out, o, &d.cpus[stream]
	out.Stream = stream
	d.instant, d.safe = instant{off: -1, unsure: true}, 0
	d.leave()
}

// hands ends out: what was taken out goes with it.
func (d *condenser) hands(out *decoder.Batch) {
	if d.out != out {
		return
	}
	for _, f := range d.met {
		d.over.folded = append(d.over.folded, foldedOf{f, f.folded})
		f.folded = folded{}
	}
	d.met = d.met[:0]
	flow.Condense(out, d.over, d.over.size())
	d.out, d.over = nil, nil
	d.leave()
}

// leave leaves the calls in progress as they are.
func (d *condenser) leave() {
	d.n, d.old, d.await, d.replaced = 0, 0, nothing, d.replaced[:0]
	d.at0()
}

// passes takes the moment of ranges that have the stamp s, with an index in out, as cpu.moment does.
func (d *condenser) passes(s *decoder.Stamp, index uint32) {
	d.since = d.instant
	m := &d.instant
	m.stamp = index
	if s.Off != m.off {
		m.off, m.before = s.Off, m.stated
	}
	t := s.Time.Lo
	back := t < m.stated
	if m.stated = t; m.before >= d.safe {
		d.safe = d.switchBehind(m.before)
	}
	if m.unsure = t >= d.safe || t == 0; m.unsure || back {
		d.leave()
	}
}

// switchBehind returns the first time behind another one at which the Tree may see that another thread
// runs, ns (tenureOf). MaxUint64: none.
func (d *condenser) switchBehind(ns uint64) uint64 {
	slack := uint64(switchSlack)
	if d.switches == "" {
		slack = 0
	}
	const nobody = -1 << 31 // no thread's number
	for at := ns - min(ns, slack); ; {
		next, _, ok := d.Session.NextRunning(d.st.Index, at, nobody)
		if !ok {
			return everything
		}
		if at = next; at+slack > ns {
			return at + slack
		}
	}
}

// follow takes ranges between which no note lies that counts, and appends what is left of them to out.
// base is added to their stamps.
func (d *condenser) follow(list []decoder.BatchRange, base uint32) {
	stamps, whole := d.out.Stamps[base:], d.whole[d.st.Index]
	d.list, d.rest, d.old = list, 0, d.n
	for i := 0; i < len(list); {
		x := &list[i]
		k := x.Block
		was := &d.instant // of the range before
		if x.Stamp != d.stamp {
			d.stamp, was = x.Stamp, &d.since
			d.passes(&stamps[x.Stamp], x.Stamp+base)
		}
		if d.await != nothing {
			d.comesTo(k, i, was)
			d.await = nothing
		} else if d.n > 0 && (k.Addr-d.lo-1 >= d.inner || k.End-d.lo > d.size) && k != d.returner {
			d.jumpsTo(k, i, was)
		}
		if x.Verdict != decoder.Certain {
			d.leave()
		}
		if d.n > 0 {
			ends := false
			if i, ends = d.quickly(i); !ends {
				continue
			}
			x, k = &list[i], list[i].Block
			d.frames[d.n-1].insns += uint64(x.N)
		} else if whole || !ending.Has(k.Class%32) || x.Verdict != decoder.Certain {
			i++
			continue
		}
		i++
		switch {
		case x.N == k.N && (k.Class == isa.Call || k.Class == isa.CallInd):
			d.await = callee
		case x.N == k.N && k.Class == isa.Return:
			d.await = caller
		default:
			d.leave()
			continue
		}
		d.branch = k
	}
	d.keeps(base)
}

// keeps appends what is left of list to out.
func (d *condenser) keeps(base uint32) {
	next := d.old // of frames
	for from := d.rest; from < len(d.list); {
		to := from
		for to < len(d.list) && !flow.IsDetour(&d.list[to]) {
			to++
		}
		then := len(d.list)
		if to < then {
			to, then = to+1, int(d.list[to+1].Stamp)
		}
		at := len(d.out.Ranges)
		d.out.Ranges = append(d.out.Ranges, d.list[from:to]...)
		for left, i := d.out.Ranges[at:], 0; i < len(left); i++ {
			left[i].Stamp += base
		}
		for ; next < d.n && d.frames[next].at < to; next++ {
			d.frames[next].at += at - from
		}
		from = then
	}
	d.list = nil
}
