package trials

import (
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
)

// Approach is what trials at one visit have in common: the events of its segment, and footings on the way there.
// A trial of an idea begins at the last footing before which no code was read that the idea changes.
type Approach struct {
	source flow.Source // of the segment's events, from its begin on
	done   func()      // is called when source is read no more

	events   []*[eventsKept]event.Event // that it gave
	n        int                        // of them
	over     bool                       // it has no more
	footings []*Footing
}

// eventsKept is how many events memory is taken for at once.
const eventsKept = 1 << 7

// Approaches keeps the approaches of a few visits: trials come to one after the other, and sometimes go back.
type Approaches struct{ of map[goal]*Approach }

// goal is which visit an approach leads to.
type goal struct {
	stream     int
	begin, off int64 // of its path, and of what contradicts, bytes
	ip         uint64
}

// mostApproaches is how many approaches are kept.
const mostApproaches = 16

// To returns the approach to v. If there is none yet, source gives the events of its segment, up to when done is
// called.
func (k *Approaches) To(v *learn.Visit, source func() (events flow.Source, done func())) *Approach {
	p := goal{v.Stream, v.Begin, v.Off, v.IP}
	a := k.of[p]
	if a == nil {
		if len(k.of) == mostApproaches {
			k.Leave()
		}
		a = new(Approach)
		a.source, a.done = source()
		if k.of == nil {
			k.of = map[goal]*Approach{}
		}
		k.of[p] = a
	}
	return a
}

// Leave forgets all of them.
func (k *Approaches) Leave() {
	for _, a := range k.of {
		a.done()
	}
	k.of = nil
}

// Footing is a place on the way to a visit, with all that a trial came to before.
type Footing struct {
	*flow.Mark
	out  learn.Outcome
	over learn.Over       // ideas of the trial
	Seen map[uint64]int32 // what its follower saw
}

// mostFootings is how many footings an approach has at most. A mark is left every so many'th part of the way.
const mostFootings = 12

// apart is how many bytes of trace lie between two footings at least.
const apart = 1 << 7

// Begin returns the footing that a trial with ideas begins at; nil: the segment's begin.
func (a *Approach) Begin(over learn.Over) *Footing {
	for _, f := range slices.Backward(a.footings) {
		if f.holds(over) {
			return f
		}
	}
	return nil
}

// holds reports whether a trial with ideas would come to f, too.
func (f *Footing) holds(over learn.Over) bool {
	same := func(list learn.Over) func(x learn.Idea) bool {
		return func(x learn.Idea) bool {
			return slices.ContainsFunc(list, func(y learn.Idea) bool { return x.Addr == y.Addr && string(x.Code) == string(y.Code) }) ||
				!f.Reads.Has(x.Addr, x.Addr+uint64(len(x.Code)))
		}
	}
	other := func(list, in learn.Over) bool {
		is := same(in)
		return slices.ContainsFunc(list, func(x learn.Idea) bool { return !is(x) })
	}
	return !other(f.over, over) && !other(over, f.over)
}

// Marks has trial t, with ideas, leave footings in a. It begins at an offset, and what its follower sees is in seen.
func (a *Approach) Marks(t *Trial, over learn.Over, begin int64, seen map[uint64]int32) *flow.Marks {
	if n := len(a.footings); n > 0 {
		begin = max(begin, a.footings[n-1].Off)
	}
	every := max(apart, (t.V.Begin-begin)/(mostFootings*2/3))
	k := &flow.Marks{Every: every, From: begin + every, Until: t.V.Begin}
	k.Left = func(m *flow.Mark) {
		a.footings = append(a.footings, &Footing{m, t.Out.Clone(), over, maps.Clone(seen)})
	}
	k.Wanted = func(r *flow.Reads) bool {
		if len(a.footings) == mostFootings {
			return false
		}
		if len(over) == 0 {
			return true
		}
		x := &over[len(over)-1] // others begin where this one's last idea has not been met
		return !r.Has(x.Addr, x.Addr+uint64(len(x.Code)))
	}
	return k
}

// Resume has t be where a trial was at f.
func (t *Trial) Resume(f *Footing) { t.Out = f.out.Use(t.Out) }

// From returns the events of the segment from number i on.
func (a *Approach) From(i int) flow.Source { return &listed{a, i} }

// listed gives events of an approach.
type listed struct {
	of *Approach
	at int
}

// Fill gives the next events (flow.Filler).
func (l *listed) Fill(q []event.Event) int {
	a := l.of
	for a.n < l.at+len(q) && !a.over {
		if a.n == len(a.events)*eventsKept {
			a.events = append(a.events, new([eventsKept]event.Event))
		}
		if a.over = !a.source.Next(&a.events[a.n/eventsKept][a.n%eventsKept]); !a.over {
			a.n++
		}
	}
	n := 0
	for n < len(q) && l.at < a.n {
		from := l.at % eventsKept
		k := copy(q[n:], a.events[l.at/eventsKept][from:min(eventsKept, from+a.n-l.at)])
		n, l.at = n+k, l.at+k
	}
	return n
}

// Next gives the next event (flow.Source).
func (l *listed) Next(e *event.Event) bool {
	var one [1]event.Event
	n := l.Fill(one[:])
	*e = one[0]
	return n == 1
}
