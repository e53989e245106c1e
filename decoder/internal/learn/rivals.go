package learn

import (
	"bytes"
	"slices"

	"github.com/ptdecode/ptdecode/kcore"
)

// Ideas that hold alike at a visit, and do not do the same, are rivals: one of them lay there. A
// decoding of all of the recording with each may refute all but one. Where it does not refute
// several, each stays possible. Then the segments that come there are decoded with each of them,
// and what they do not share is ambiguous. An idea that no visit speaks for is mute: it stays possible
// besides the code as it is, if the recording does not contradict it.

// Bounds: of the rivals of a visit, of the visits whose rivals are kept, and of how many bytes those
// lie in of which each stays possible.
const (
	maxRivals = 6
	maxSets   = 4
	maxEither = 64
)

// leastMet is how many contradictions have to go away with an idea that held at one visit where
// returns went astray.
const leastMet = 8

// rivals keeps the ideas of groups that hold at v. Each is there, or none is: to choose among
// some of them would be to guess.
func (d *Decider) rivals(v *Visit, groups [][]tried) {
	var set []Held
	for _, g := range groups {
		if h, ok := d.one(g); ok {
			set = append(set, h)
			continue
		}
		for i := range g {
			if x := &g[i]; x.Rank == rankKnown || x.skipped == 0 {
				set = append(set, Held{Idea: x.Idea, At: d.shown(&x.Idea, x.at), Others: x.Alike, unsure: !x.sure() && (!x.mute() || x.held <= 1 && x.astray > 0), mute: x.mute()})
			}
		}
	}
	if !allMute(set) { // others speak for themselves
		set = slices.DeleteFunc(set, func(h Held) bool { return h.mute })
	}
	for i := range set {
		set[i].from = v
	}
	if len(set) == 0 || len(set) > maxRivals || d.short {
		return
	}
	same := func(o []Held) bool {
		return slices.EqualFunc(o, set, func(a, b Held) bool { return a.same(&b.Idea) })
	}
	if k := slices.IndexFunc(d.Rivals, same); k >= 0 {
		d.Rivals[k] = set
	} else if len(d.Rivals) < maxSets {
		d.Rivals = append(d.Rivals, set)
	}
}

// Possible returns tested, and of Mute what does not lie over it.
func (d *Decider) Possible(tested []Held) []Held {
	for _, m := range d.Mute {
		over := func(h Held) bool { return h.Addr < m.Addr+uint64(len(m.Code)) && m.Addr < h.Addr+uint64(len(h.Code)) }
		if !slices.ContainsFunc(tested, over) {
			tested = append(tested, m)
		}
	}
	return tested
}

// Settle holds that of the rivals with which the fewest contradictions are left in all of
// the recording, of the met that there were. left counts them: it may stop where there are more
// than most. Where several leave as few, each of them stays possible (either). sample says that the rivals are those of a
// sample of all visits, and that met is an estimate. Then an idea is held only if it leaves no contradiction. If more visits
// may tell (wantMore), nothing is held.
func (d *Decider) Settle(j *kcore.Journal, met int, sample bool, left func(list []Held, most int) (int, error)) error {
	if d.Mute = nil; sample && d.wantMore() {
		return nil
	}
	for _, set := range d.Rivals {
		if met == 0 {
			break
		}
		best, least, err := d.best(set, met, sample, left)
		if err != nil {
			return err
		}
		if len(best) == 0 {
			continue
		}
		mute := allMute(best)
		if len(best) > 1 || mute {
			best = d.either(j, best)
		}
		if mute {
			d.Mute = append(d.Mute, best...)
		} else if len(best) > 0 {
			d.Held, met = append(d.Held, best...), least
		}
	}
	return nil
}

// wantMore reports whether more visits may tell of rivals which it is: they lie at several addresses, or one is unsure. Of
// others, as of what lies under a breakpoint, more visits hardly do.
func (d *Decider) wantMore() bool {
	return slices.ContainsFunc(d.Rivals, func(set []Held) bool {
		return slices.ContainsFunc(set, func(h Held) bool { return h.unsure || h.Addr != set[0].Addr })
	})
}

// best returns the ideas of set with which the fewest contradictions are left of the met that there were, and how
// many these are. Mostly one leaves none: then another has lost at its first contradiction.
func (d *Decider) best(set []Held, met int, sample bool, left func(list []Held, most int) (int, error)) (best []Held, least int, err error) {
	least = met
	for _, bound := range []int{0, met - 1} {
		for i := range set {
			h, most := &set[i], min(least, bound)
			if h.unsure && met < leastMet || (h.unsure || h.mute) && bound > 0 {
				continue // one that has little to say for it has to leave none
			}
			n, err := left(append(slices.Clip(d.Held), *h), most)
			if err != nil {
				return nil, 0, err
			}
			if n > most {
				continue
			}
			if n < least {
				least, best = n, nil
			}
			best = append(best, *h)
		}
		if len(best) > 0 || met == 1 || sample {
			break
		}
	}
	return best, least, nil
}

// either returns the ideas of list as places at each of which one of several codes lies. It takes the
// first idea to be right; at the other places, that the code is as it was. If no visit speaks for any of list, it
// takes the code to be as it was at all places, and other code to be missing. Together they allow more
// than one of list. It returns nil where records tell of code at a place, or nobody knows what lies there.
func (d *Decider) either(j *kcore.Journal, list []Held) (all []Held) {
	var places [][]Held
	for _, h := range list {
		k := slices.IndexFunc(places, func(p []Held) bool {
			lo, end := bounded(append(slices.Clip(p), h))
			return end-lo <= maxEither
		})
		if k < 0 {
			k, places = len(places), append(places, nil)
		}
		places[k] = append(places[k], h)
	}
	mute := allMute(list)
	for i, p := range places {
		h := p[0]
		lo, end := bounded(p)
		was := make([]byte, end-lo)
		if h.Other != nil || d.Code == nil || d.Code(was, lo) < len(was) {
			return nil
		}
		var codes [][]byte
		if i > 0 || mute {
			codes = append(codes, was)
		}
		for k := range p {
			x := &p[k]
			for _, code := range slices.Concat([][]byte{x.Code}, x.Others) {
				b := bytes.Clone(was)
				copy(b[x.Addr-lo:], code)
				codes = append(codes, b)
			}
		}
		if i == 0 && len(places) > 1 && !mute {
			codes = append(codes, was)
		}
		h.Addr, h.Was, h.Code, h.Others, h.Either = lo, was, codes[0], codes[1:], true
		h.At, h.from = list[0].At, list[0].from
		if before, behind := around(j, &h); before != nil || behind != nil {
			return nil
		}
		all = append(all, h)
	}
	return all
}

// allMute reports whether no visit speaks for any of list.
func allMute(list []Held) bool {
	return !slices.ContainsFunc(list, func(h Held) bool { return !h.mute })
}

// bounded returns the first byte of what list says of the code, and the one behind the last.
func bounded(list []Held) (lo, end uint64) {
	lo = list[0].Addr
	for i := range list {
		lo, end = min(lo, list[i].Addr), max(end, list[i].Addr+uint64(len(list[i].Code)))
	}
	return lo, end
}
