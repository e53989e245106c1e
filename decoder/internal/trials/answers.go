package trials

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/kcore"
)

// Answers is what parts of a recording told of contradictions, each under one code or another. A part that
// read none of the code at which two codes differ tells the same under both, so it is decoded once.
type Answers struct {
	of     map[Part][]answer
	apart  map[[2]*Code]apartness
	visits int // that are kept
}

// Part is a part of a recording: a stream, and where in it the part begins, bytes.
type Part struct {
	Stream int
	Begin  int64
}

// Code is the code of a decoding of all of the recording: what was learned of it, and the places of which each
// part says whether it read code there.
type Code struct {
	Watch   []flow.Place
	Learned []kcore.Learned
}

// answer is what a part told under a code.
type answer struct {
	code   *Code
	read   uint64 // of code.Watch
	visits []learn.Visit
}

// Bounds of what is kept: contradictions of all parts, about 8 KiB each, and codes of a part.
const (
	maxVisits = 1 << 10
	maxCodes  = 8
)

// Keep keeps what p told under c, and what of c.Watch it read.
func (k *Answers) Keep(c *Code, p Part, read uint64, visits []learn.Visit) {
	if len(c.Watch) == 0 || k.visits+len(visits) > maxVisits {
		return
	}
	if k.of == nil {
		k.of = map[Part][]answer{}
	}
	if list := k.of[p]; len(list) < maxCodes {
		k.of[p] = append(list, answer{c, read, visits})
		k.visits += len(visits)
	}
}

// Known returns what p tells under c. ok is false if it has to be decoded.
func (k *Answers) Known(c *Code, p Part) (visits []learn.Visit, ok bool) {
	list := k.of[p]
	i := slices.IndexFunc(list, func(x answer) bool { return k.differ(x.code, c).without(x.read) })
	if i < 0 {
		return nil, false
	}
	return list[i].visits, true
}

// apartness is where the codes of two decodings differ.
type apartness struct {
	places uint64 // of the first one's Watch
	more   bool   // elsewhere, or in what records tell
}

// without reports whether who read no other places than these read none that differs.
func (a apartness) without(read uint64) bool { return !a.more && a.places&read == 0 }

// differ says where b is other code than a.
func (k *Answers) differ(a, b *Code) apartness {
	key := [2]*Code{a, b}
	x, ok := k.apart[key]
	if !ok {
		x = apartIn(a.Watch, a.Learned, b.Learned)
		if k.apart == nil {
			k.apart = map[[2]*Code]apartness{}
		}
		k.apart[key] = x
	}
	return x
}

// apartIn says at which of some places code with a learned differs from that with b learned.
func apartIn(watch []flow.Place, a, b []kcore.Learned) (x apartness) {
	const unknown = -1
	laid := map[uint64][2]int{} // by address: what lies there with a, and with b
	for i, list := range [2][]kcore.Learned{a, b} {
		other := [2][]kcore.Learned{b, a}[i]
		for _, l := range list {
			if l.Was != nil && !slices.ContainsFunc(other, func(o kcore.Learned) bool { return learn.Same(l, o) }) {
				return apartness{more: true} // it counts among the changes that records tell of
			}
			for n, c := range l.Code {
				at := l.Addr + uint64(n)
				was, ok := laid[at]
				if !ok {
					if was = [2]int{unknown, unknown}; len(l.Had) == len(l.Code) {
						was = [2]int{int(l.Had[n]), int(l.Had[n])}
					}
				}
				was[i] = int(c)
				laid[at] = was
			}
		}
	}
	for at, is := range laid {
		if is[0] == is[1] && is[0] != unknown {
			continue
		}
		i := slices.IndexFunc(watch, func(p flow.Place) bool { return at-p.Addr < p.End-p.Addr })
		if i < 0 {
			return apartness{more: true}
		}
		x.places |= 1 << i
	}
	return x
}

// Watched returns the places at which what d holds, and its rivals, are other code than there was.
func Watched(d *learn.Decider) []flow.Place {
	var all []flow.Place
	for _, list := range append([][]learn.Held{d.Held}, d.Rivals...) {
		for i := range list {
			all = append(all, flow.Place{Addr: list[i].Addr, End: list[i].Addr + uint64(len(list[i].Code))})
		}
	}
	return flow.Merged(all)
}
