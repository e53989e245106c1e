package learn

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// Outcome is what decoding the segment of a visit came to, with other code.
type Outcome struct {
	// Beyond is how many instructions followed behind the visit until the trace
	// contradicted again; Ended: it never did up to the segment's end.
	Beyond int
	Ended  bool
	Open   int      // instructions behind those, that no event confirmed up to the segment's end
	Flow   []uint64 // addresses of instructions in order from Visit.Begin on; no more than a bound
	Before []uint64 // addresses of instructions before those, the last of them in order; no more than a bound
	Calls  Calls    // of the segment
	Until  uint64   // when the trace contradicted again at the latest, ns
}

// What an idea must come to at a visit: so many instructions behind it that events
// confirmed, with no contradiction, fewer where the segment ends before. Of the wrong
// claims that contradictions end, 99 in 100 are shorter than 61 instructions.
const (
	enough      = 512
	enoughAtEnd = 64
)

// Of the flow, so many instructions are kept; of that before the visit, so many or twice as
// many. What an idea gets wrong leads no farther behind the visit than maxLed.
const (
	maxFlow   = 1 << 11
	maxBefore = 128
	maxLed    = 64
)

// Follow takes instructions of the flow with these lengths in bytes, the first at addr.
// They lead to the event at off.
func (o *Outcome) Follow(v *Visit, off int64, addr uint64, lens []uint8) {
	to := &o.Flow
	if off < v.Begin {
		to = &o.Before
		if len(*to) >= 2*maxBefore {
			*to = append((*to)[:0], (*to)[maxBefore:]...)
		}
	}
	for _, l := range lens {
		if off < v.Begin || len(*to) < maxFlow {
			*to = append(*to, addr)
		}
		addr += uint64(l)
	}
	if off > v.Off {
		if o.Beyond += len(lens); o.Beyond > maxLed {
			o.Calls.Settle()
		}
	}
}

// holds reports whether the trace bears the idea out.
func (o *Outcome) holds() bool {
	return o.Beyond >= enough || o.Ended && o.Beyond+o.Open >= enoughAtEnd
}

// stands reports whether the trace does not contradict the idea. Where little follows
// the visit, that says little for it.
func (o *Outcome) stands() bool { return o.Ended || o.Beyond >= enough }

// Try decodes the segment of v with ideas laid over the code.
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
	from   *Visit // at which it was found
}

// Decider finds the ideas that hold.
type Decider struct {
	Ideas func(v *Visit) []Idea
	Try   Try
	Code  func(dst []byte, addr uint64) int // as Generator.Code; nil: none is known
	Held  []Held                            // in the order in which they were found
	Tries int                               // made
	// Rivals is ideas that hold at a visit equally well, of which one alone may lie there. A
	// decoding of all of the recording may tell them apart.
	Rivals []Held

	dropped map[uint64]bool    // sites of which nothing holds at all visits
	known   map[string]Outcome // what was tried
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
	maxFailed  = 2 // of the visits that ended at one address
	maxChecked = 8 // visits at which what was just found is tried
	maxRivals  = 3
	maxSearch  = 256 // ideas that are tried at a visit, where one holds and returns went astray
)

// Decide finds ideas by which the contradictions at visits go away. What it found
// before stays laid over the code.
func (d *Decider) Decide(visits []*Visit) {
	sought := 0
	checked := 0
	var found []*Held          // now
	failed := map[uint64]int{} // by where visits ended: of how many nothing was learned
	for i := 0; i < len(visits) && sought < maxVisits && d.Tries < maxTries; i++ {
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
		if h.from != nil && h.Change == nil {
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
		if d.known == nil {
			d.known = map[string]Outcome{}
		}
		d.known[key] = o
	}
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
			if o.stands() || !v.Meets(x.Addr, 1) {
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
	seen    []seen // there
	astray  int    // returns that went astray there
	skipped int    // of these, those behind a call that was not the last one
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
		if x.Rank == rankAny || d.Tries >= maxTries || x.Rank > least || slices.ContainsFunc(good, enough) {
			break
		}
		if x.Back < back || d.dropped[x.Addr] || slices.ContainsFunc(d.Held, func(h Held) bool { return x.Addr-h.Addr < uint64(len(h.Code)) }) {
			continue
		}
		left--
		o := d.try(v, x)
		switch {
		case o.holds():
			good = append(good, tried{*x, o, []*Visit{v}, 1, []seen{{v, o.Flow}}, o.Calls.Astray, o.Calls.Skipped})
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
// not do the same, or one that is far fetched (sure).
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
						x.held, x.seen = x.held+1, append(x.seen, seen{w, o.Flow})
					}
				}
			}
		}
	}
	good = fewest(good, func(x *tried) int { return -len(x.at) })
	good = fewest(good, func(x *tried) int { return x.astray })
	if len(good) > 1 && len(good) <= maxRivals {
		d.Rivals = d.Rivals[:0]
		for i := range good {
			if x := &good[i]; x.sure() {
				d.Rivals = append(d.Rivals, Held{Idea: x.Idea, At: d.shown(&x.Idea, x.at), Others: x.Alike, from: v})
			}
		}
	}
	h = Held{Idea: good[0].Idea, At: d.shown(&good[0].Idea, good[0].at), Others: good[0].Alike}
	for i := 1; i < len(good); i++ {
		if x := &good[i]; x.Addr != h.Addr || !x.Straight || !h.Straight || x.branchesApart(&h.Idea) || !alike(good[0].out.Flow, x.out.Flow) {
			return d.join(good)
		}
		h.Others = append(append(slices.Clip(h.Others), good[i].Code), good[i].Alike...)
	}
	return h, good[0].sure() && len(h.At) > 0
}

// Settle holds that of the rivals with which the fewest contradictions are left in all of
// the recording, of the met that there were; left counts them. Where several leave as few,
// none is held.
func (d *Decider) Settle(met int, left func(one []Held) (int, error)) error {
	least, best := met, -1
	for i := range d.Rivals {
		n, err := left(d.Rivals[i : i+1])
		if err != nil {
			return err
		}
		if n < least {
			least, best = n, i
		} else if n == least {
			best = -1
		}
	}
	if best >= 0 {
		d.Held = append(d.Held, d.Rivals[best])
	}
	return nil
}

// sure reports whether x may be believed, if it is the only one. What nothing names must
// have held at several visits, or all returns went where they must. It cannot lie there if
// returns skip calls that it led to: stated targets put right what it led astray.
func (x *tried) sure() bool {
	return x.Rank == rankKnown || x.skipped == 0 && (x.held > 1 || x.astray == 0)
}

// Against notes which of what holds is contradicted at visits that a decoding of all of
// the recording came to. There, the contradiction goes away with what the code had before.
// What is so at some time only, before or after all visits at which the idea held,
// changed once in between. All else is given up. changed is set if anything was.
func (d *Decider) Against(visits []*Visit) (changed bool) {
	for _, v := range visits {
		for i := range d.Held {
			h := &d.Held[i]
			if !v.passes(h.Addr) || d.Tries >= maxTries {
				continue
			}
			if h.Change != nil || h.Other != nil {
				h.Not = append(h.Not, v.Time)
				continue
			}
			back := h.Idea
			back.Code, back.Was = h.Was, h.Code
			if o := d.try(v, &back); o.holds() {
				h.Not = append(h.Not, v.Time)
			}
		}
	}
	kept := d.Held[:0]
	for _, h := range d.Held {
		if len(h.Not) > 0 {
			changed = true
			if h.Other != nil && !h.whenever() || h.Other == nil && (h.Change != nil || !h.parts()) {
				if d.dropped == nil {
					d.dropped = map[uint64]bool{}
				}
				d.dropped[h.Addr] = true
				continue
			}
			h.Not = nil // the change accounts for them
		}
		kept = append(kept, h)
	}
	d.Held = kept
	return changed
}

// between puts the change that two images show behind the visits at which the earlier
// code held, or before those of the later code.
func (h *Held) between() {
	h.Was, h.Back = h.Other, !h.Late
	if h.Late {
		h.Change = &event.Time{Hi: earliest(h.At)}
	} else {
		h.Change = &event.Time{Lo: latest(h.At), Hi: math.MaxUint64}
	}
}

// whenever has such a change lie at any time. ok is false where it did so before.
func (h *Held) whenever() (ok bool) {
	all := event.Time{Hi: math.MaxUint64}
	if h.Change == nil {
		h.between()
	}
	if *h.Change == all {
		return false
	}
	*h.Change = all
	return true
}

// parts finds when the code changed; ok is false where it did more than once.
func (h *Held) parts() (ok bool) {
	in, out := bounds(h.At), bounds(h.Not)
	switch {
	case out.Hi <= in.Lo:
		h.Change = &event.Time{Lo: latest(h.Not), Hi: earliest(h.At)}
	case in.Hi <= out.Lo:
		h.Change, h.Back = &event.Time{Lo: latest(h.At), Hi: earliest(h.Not)}, true
	default:
		return false
	}
	return true
}

// latest returns the time before which not all of list lie, ns: a visit may lie anywhere
// within its bounds.
func latest(list []event.Time) (t uint64) {
	for _, x := range list {
		t = max(t, x.Lo)
	}
	return t
}

// earliest returns the time behind which not all of list lie, ns.
func earliest(list []event.Time) uint64 {
	t := uint64(math.MaxUint64)
	for _, x := range list {
		t = min(t, x.Hi)
	}
	return t
}

// bounds returns the first and the last of the moments of list.
func bounds(list []event.Time) (t event.Time) {
	if len(list) == 0 {
		return t
	}
	t = event.Time{Lo: list[0].Lo, Hi: list[0].Hi}
	for _, x := range list {
		t.Lo, t.Hi = min(t.Lo, x.Lo), max(t.Hi, x.Hi)
	}
	return t
}

// Learned is h as what was learned.
func (h *Held) Learned() kcore.Learned {
	l := kcore.Learned{Addr: h.Addr, Code: h.Code, Had: h.Was, Others: h.Others, Why: h.Why, For: len(h.At), Against: len(h.Not)}
	if h.Change != nil {
		l.Was, l.Change = h.Was, *h.Change
		if h.Other != nil {
			l.Had = nil
		}
		if h.Back {
			l.Code, l.Was = h.Was, h.Code
		}
	}
	return l
}

// alike reports whether two flows are the same but for a few instructions of one place:
// those of the site and of the block that it is in.
func alike(a, b []uint64) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) || i == len(b) {
		return true
	}
	// They meet again within a block, and stay together for long enough.
	for x := i; x < min(len(a), i+maxApart); x++ {
		for y := i; y < min(len(b), i+maxApart); y++ {
			if a[x] != b[y] {
				continue
			}
			n := 0
			for x+n < len(a) && y+n < len(b) && a[x+n] == b[y+n] {
				n++
			}
			if n >= enoughAtEnd || x+n == len(a) || y+n == len(b) {
				return true
			}
		}
	}
	return false
}

// maxApart is how far two flows that count as alike may be apart, instructions.
const maxApart = 16
