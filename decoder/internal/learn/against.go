package learn

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

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
	l := kcore.Learned{Addr: h.Addr, Code: h.Code, Had: h.Was, Either: h.Either, Others: h.Others, Why: h.Why, For: len(h.At), Against: len(h.Not)}
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

// LearnedOf is list as what was learned.
func LearnedOf(list []Held) (all []kcore.Learned) {
	for i := range list {
		all = append(all, list[i].Learned())
	}
	return all
}

// Same reports whether a and b say the same of the code.
func Same(a, b kcore.Learned) bool {
	a.For, a.Against, b.For, b.Against = 0, 0, 0, 0
	return reflect.DeepEqual(a, b)
}

// Again returns given, of an earlier run, with what was learned since, by address. What was learned of a larger place takes
// the place of what was given there, and so does what leaves several codes possible. What was given has what images and records
// say (Had).
func Again(given, since []kcore.Learned) (all []kcore.Learned) {
	since = slices.Clone(since)
	for _, g := range given {
		k := slices.IndexFunc(since, func(l kcore.Learned) bool {
			return l.Addr <= g.Addr && g.Range().Last() <= l.Range().Last() && (len(l.Code) > len(g.Code) || l.Either && g.Either)
		})
		if k < 0 {
			all = append(all, g)
		} else if l := &since[k]; len(l.Had) == len(l.Code) {
			l.Had = slices.Clone(l.Had)
			copy(l.Had[g.Addr-l.Addr:], g.Had)
		}
	}
	all = append(all, since...)
	slices.SortStableFunc(all, func(a, b kcore.Learned) int { return cmp.Compare(a.Addr, b.Addr) })
	return all
}

// Last returns list, by address, without what was learned of code that was learned again, as where
// the trace contradicts what an earlier run learned. The later then had what images and records
// say, which the earlier had. Where that is what ran, nothing is learned.
func Last(list []kcore.Learned) (last []kcore.Learned) {
	for _, l := range list {
		if n := len(last) - 1; n >= 0 && last[n].Addr == l.Addr && len(last[n].Code) == len(l.Code) && last[n].Was == nil && l.Was == nil {
			l.Had = last[n].Had
			last = last[:n]
		}
		last = append(last, l)
	}
	return slices.DeleteFunc(last, func(l kcore.Learned) bool { return l.Was == nil && len(l.Others) == 0 && bytes.Equal(l.Code, l.Had) })
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
