package learn

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// Place puts what holds at sites that records tell of between these records, and adds
// the changes without a record that the records themselves show, where visits meet them.
// Such code changed once, as far as is known: the visits tell.
func (d *Decider) Place(s *Source, visits []*Visit) {
	d.Held = slices.DeleteFunc(d.Held, func(h Held) bool { return h.Change == nil && !placed(s.Journal, &h) })
	for i := range d.Held {
		if h := &d.Held[i]; h.Change == nil && h.Other != nil {
			h.between()
		} else if h.Change == nil {
			placeHeld(s.Journal, h)
		}
	}
	for _, f := range s.Text.Findings() {
		if f.Kind != kcore.Break || f.Last < 0 || f.Next < 0 || f.Lost {
			continue
		}
		last, next := s.Journal.Poke(f.Last), s.Journal.Poke(f.Next)
		if last.Addr != next.Addr || len(last.New) != len(next.Old) || len(next.Old) == 0 || last.End > next.Begin || d.Dropped(next.Addr) ||
			slices.ContainsFunc(d.Held, func(h Held) bool { return h.Addr == next.Addr }) {
			continue
		}
		// The record itself may be wrong, so that some visit has to show what it says.
		x := Idea{Addr: next.Addr, Code: next.Old, Was: last.New, Why: "no record", Other: last.New}
		at := d.shown(&x, slices.DeleteFunc(slices.Clone(visits), func(v *Visit) bool {
			if !v.Meets(next.Addr, len(next.Old)) || v.Time.Hi < last.Time || v.Time.Lo > next.Time {
				return true
			}
			o := d.try(v, &x)
			return !o.stands()
		}))
		if x.Other = nil; len(at) > 0 {
			d.Held = append(d.Held, Held{Idea: x, At: at, Change: &event.Time{Lo: last.End, Hi: next.Begin}})
		}
	}
}

// around returns the pokes of the site of h before and behind the first visit at which it
// held; nil: there is none.
func around(j *kcore.Journal, h *Held) (before, behind *kcore.Poke) {
	t := h.First()
	for i := range j.Len() {
		p := j.Poke(i)
		if p.Mark() || p.Addr >= h.Addr+uint64(len(h.Code)) || h.Addr >= p.Addr+p.Range().Len {
			continue
		}
		if p.Time > t {
			return before, p
		}
		before = p
	}
	return before, nil
}

// placed reports whether h can lie between the records of its site. It can if there are
// none. Else the one before left what h replaces, and the next one, if any, replaced what
// h says.
func placed(j *kcore.Journal, h *Held) bool {
	before, behind := around(j, h)
	return before == nil && behind == nil || before != nil && before.Addr == h.Addr && slices.Equal(before.New, h.Was) &&
		(behind == nil || behind.Addr == h.Addr && slices.Equal(behind.Old, h.Code))
}

// placeHeld has h begin behind the record before it, if there is one.
func placeHeld(j *kcore.Journal, h *Held) {
	if before, _ := around(j, h); before != nil {
		h.Change = &event.Time{Lo: before.End, Hi: max(before.End, earliest(h.At))}
	}
}
