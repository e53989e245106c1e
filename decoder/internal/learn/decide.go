package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Try decodes the segment of v with ideas laid over the code. What came before the visit lies where the next trial may
// put its own.
type Try func(v *Visit, over []Idea) Outcome

// Held is an idea that held at visits.
type Held struct {
	Idea
	Others [][]byte     // what does the same on the visits that were tried
	At     []event.Time // when it held
	Not    []event.Time // when it did not, and what the code had there did
	// Change bounds when Was became Code, or, with Back, Code became Was; nil: Code lay
	// there throughout.
	Change *event.Time
	Back   bool
	unsure bool   // all of the recording has to say that it may be believed
	mute   bool   // no visit speaks for it
	Either bool   // what is among Others does not do the same: see kcore.Learned
	from   *Visit // at which it was found
}

// Decider finds the ideas that hold.
type Decider struct {
	Ideas func(v *Visit) []Idea
	Try   Try
	Code  func(dst []byte, addr uint64) int // as Generator.Code; nil: none is known
	Held  []Held                            // in the order in which they were found
	Tries int                               // made
	// Rivals is ideas that hold at a visit equally well, of which one alone may lie there, for
	// some visits. A decoding of all of the recording may tell them apart.
	Rivals [][]Held
	// Mute is ideas that no visit speaks for, and that all of the recording fits. They stay possible besides
	// the code as it is: it may be right, and other code missing.
	Mute []Held

	dropped map[uint64]bool    // sites of which nothing holds at all visits
	known   map[string]Outcome // what was tried
	short   bool               // some idea was not tried, as too many had been: what is found from then on is not believed
}

// Dropped reports whether what held at addr did not hold at all visits.
func (d *Decider) Dropped(addr uint64) bool { return d.dropped[addr] }

// First returns the time of the first visit at which h held, ns.
func (h *Held) First() uint64 { return bounds(h.At).Lo }

// Once reports whether one visit alone speaks for h, and neither a table nor an image.
func (h *Held) Once() bool { return h.Rank != rankKnown && len(h.At) <= 1 }

// Bounds of the work: visits that ideas are sought for, tries in all, other visits
// that the ideas of one are tried at, and those of which nothing is learned.
const (
	maxVisits  = 64
	maxTries   = 8192
	maxOthers  = 6
	maxFailed  = 2   // of the visits that ended at one address
	maxChecked = 8   // visits at which what was just found is tried
	maxSearch  = 256 // ideas that are tried at a visit, where one holds and returns went astray
)

// Decide finds ideas by which the contradictions at visits go away. What it found
// before stays laid over the code.
func (d *Decider) Decide(visits []*Visit) {
	sought := 0
	checked := 0
	var found []*Held          // now
	failed := map[uint64]int{} // by where visits ended: of how many nothing was learned
	for i := 0; i < len(visits) && sought < maxVisits && d.Tries < maxTries && !d.short; i++ {
		v := visits[i]
		if slices.ContainsFunc(found, func(h *Held) bool { return v.passes(h.Addr) }) {
			// A pass over all visits will tell whether it holds here.
			if checked++; checked > maxChecked {
				continue
			}
			if o := d.try(v, nil); o.stands() {
				d.heldAt(v)
				continue
			}
		}
		if failed[v.IP] == maxFailed {
			continue
		}
		// What holds may explain v though the flow came by its site long before. Then what else
		// fits here is a chance.
		if len(d.Held) > 0 {
			if o := d.try(v, nil); o.stands() {
				continue
			}
		}
		sought++
		if h, ok := d.choose(v, d.search(v), visits); ok {
			h.from = v
			d.Held = append(d.Held, h)
			found = append(found, &h)
		} else {
			failed[v.IP]++
		}
	}
	d.prune()
}

// prune gives up what is not needed where it was found, as something that was found later
// explains it too: a flow that went wrong goes wrong again further on.
func (d *Decider) prune() {
	all := d.Held
	for i := 0; i < len(all) && len(all) > 1; {
		h := all[i]
		d.Held = slices.Concat(all[:i], all[i+1:])
		if h.from != nil && h.Change == nil && !h.Either {
			if o := d.try(h.from, nil); o.stands() {
				all = d.Held
				continue
			}
		}
		i++
	}
	d.Held = all
}

// try tries an idea at v, besides those that hold.
func (d *Decider) try(v *Visit, x *Idea) Outcome {
	d.Tries++
	over := make([]Idea, 0, len(d.Held)+1)
	for i := range d.Held {
		if d.Held[i].Change == nil && (x == nil || x.Addr != d.Held[i].Addr) {
			over = append(over, d.Held[i].Idea)
		}
	}
	if x != nil {
		over = append(over, *x)
	}
	key := fmt.Sprint(v.Stream, v.Off, v.IP)
	for i := range over {
		key += fmt.Sprintf(" %x %x", over[i].Addr, over[i].Code)
	}
	o, ok := d.known[key]
	if !ok {
		if o = d.Try(v, over); !o.holds() {
			o.Flow = nil
			if x != nil {
				o.Before = nil
			}
		}
		o.Before = slices.Clone(o.Before)
		if d.known == nil {
			d.known = map[string]Outcome{}
		}
		d.known[key] = o
	}
	d.short = d.short || o.Untried
	return o
}

// heldAt notes that what holds explains v, too.
func (d *Decider) heldAt(v *Visit) {
	for i := range d.Held {
		if h := &d.Held[i]; v.passes(h.Addr) {
			h.At = append(h.At, d.shown(&h.Idea, []*Visit{v})...)
		}
	}
}

// shown returns when visits show that x lay at its site. At one of two images that differ, it
// does not stand with what the other has there: both may come to the same packets. The
// trace may contradict that at a later time only, when the flow comes by the site again.
func (d *Decider) shown(x *Idea, visits []*Visit) (at []event.Time) {
	for _, v := range visits {
		t := v.Time
		if x.Other != nil {
			other := *x
			other.Code = x.Other
			o := d.try(v, &other)
			if o.stands() || o.Untried || !v.Meets(x.Addr, 1) {
				continue
			}
			t.Hi = max(t.Hi, o.Until)
		}
		at = append(at, t)
	}
	return at
}

// tried is an idea with what it came to at visits.
type tried struct {
	Idea
	out     Outcome // at the first
	at      []*Visit
	held    int    // visits at which it held
	speak   int    // of these, those that speak for it (Visit.speaks)
	seen    []seen // there
	astray  int    // returns that went astray there
	skipped int    // of these, those behind a call that was not the last one
}

// holdsAt notes that x holds at v.
func (x *tried) holdsAt(v *Visit, o *Outcome) {
	x.held, x.seen = x.held+1, append(x.seen, seen{v, o.Flow})
	if v.speaks(&x.Idea, o) {
		x.speak++
	}
}

// near is how far behind an idea that holds others are tried, instructions, besides as
// many as it lies back itself.
const near = 64

// search returns the ideas that hold at v with the fewest returns gone astray: of these,
// those of the least rank that lie nearest. One of many is never believed, since chance
// finds such too often, so none is tried. Where one is not contradicted and too little
// follows to say that it holds, v tells nothing of ideas that are farther fetched.
func (d *Decider) search(v *Visit) (good []tried) {
	good, weak := d.seek(v, d.Ideas(v), 0)
	if len(good) == 0 && !weak {
		// What was known to be right may have been put right by a stated target only.
		more := *v
		more.Path = slices.Clone(v.Path)
		before := d.try(v, nil).Before
		for i := len(before) - 1; i >= 0; i-- {
			more.Path = append(more.Path, before[i])
		}
		good, _ = d.seek(v, d.Ideas(&more), len(v.Path))
	}
	good = fewest(good, func(x *tried) int { return x.astray })
	return fewest(good, func(x *tried) int { return x.Rank })
}

// seek returns the ideas that hold at v, of those that lie so far back at least. weak is
// set if one may, and v tells nothing of others.
func (d *Decider) seek(v *Visit, ideas []Idea, back int) (good []tried, weak bool) {
	least, left := math.MaxInt, maxSearch
	for i := range ideas {
		x := &ideas[i]
		enough := func(g tried) bool {
			if g.astray == 0 || left <= 0 {
				return x.Rank > g.Rank || x.Back > 2*g.Back+near
			}
			return g.Rank <= rankLikely && x.Rank > rankLikely
		}
		if x.Rank == rankAny || d.short || x.Rank > least || slices.ContainsFunc(good, enough) {
			break
		}
		if d.Tries >= maxTries {
			d.short = true
			break
		}
		if x.Back < back || d.dropped[x.Addr] || slices.ContainsFunc(d.Held, func(h Held) bool { return x.Addr-h.Addr < uint64(len(h.Code)) }) {
			continue
		}
		left--
		o := d.try(v, x)
		switch {
		case o.holds():
			good = append(good, tried{Idea: *x, out: o, at: []*Visit{v}, astray: o.Calls.Astray, skipped: o.Calls.Skipped})
			good[len(good)-1].holdsAt(v, &o)
		case o.stands():
			least = min(least, x.Rank)
		}
	}
	return good, least < math.MaxInt
}

// fewest returns those of list of which there is the least.
func fewest(list []tried, of func(x *tried) int) []tried {
	least := math.MaxInt
	for i := range list {
		least = min(least, of(&list[i]))
	}
	return slices.DeleteFunc(list, func(x tried) bool { return of(&x) > least })
}

// choose returns the idea of good that holds at v and at most of the others that come by
// its site, with the fewest returns gone astray. ok is false where several remain that do
// not do the same, or one that is far fetched (sure), or some idea was not tried.
func (d *Decider) choose(v *Visit, good []tried, others []*Visit) (h Held, ok bool) {
	if len(good) == 0 {
		return h, false
	}
	used := 0
	for _, w := range others {
		if w.is(v) {
			continue
		}
		if used == maxOthers || len(good) == 1 && used >= 2 {
			break
		}
		if !slices.ContainsFunc(good, func(x tried) bool { return w.passes(x.Addr) }) {
			continue
		}
		used++
		for i := range good {
			if x := &good[i]; w.passes(x.Addr) {
				if o := d.try(w, &x.Idea); o.stands() {
					x.at, x.astray = append(x.at, w), x.astray+o.Calls.Astray
					x.skipped += o.Calls.Skipped
					if o.holds() {
						x.holdsAt(w, &o)
					}
				}
			}
		}
	}
	good = fewest(good, func(x *tried) int { return -len(x.at) })
	good = fewest(good, func(x *tried) int { return x.astray })
	groups := byTurns(good)
	if len(groups) == 1 {
		h, ok = d.one(good)
	}
	if !ok {
		d.rivals(v, groups)
	}
	return h, ok && !d.short
}

// one returns the ideas of good as one. ok is false where they do not do the same, or
// may not be believed.
func (d *Decider) one(good []tried) (h Held, ok bool) {
	h = Held{Idea: good[0].Idea, At: d.shown(&good[0].Idea, good[0].at), Others: good[0].Alike}
	for i := 1; i < len(good); i++ {
		if x := &good[i]; x.Addr != h.Addr || !x.Straight || !h.Straight || !alike(good[0].out.Flow, x.out.Flow) {
			return d.join(good)
		}
		h.Others = append(append(slices.Clip(h.Others), good[i].Code), good[i].Alike...)
	}
	return h, good[0].sure() && len(h.At) > 0
}

// sure reports whether x may be believed, if it is the only one. For what nothing names
// several visits must speak, or one, and all returns went where they must. It cannot lie there if
// returns skip calls that it led to: stated targets put right what it led astray.
func (x *tried) sure() bool {
	return x.Rank == rankKnown || x.skipped == 0 && (x.speak > 1 || x.speak > 0 && x.astray == 0)
}

// mute reports whether x may lie there, though no visit speaks for it.
func (x *tried) mute() bool { return x.Rank != rankKnown && x.skipped == 0 && x.speak == 0 }
