package learn

import (
	"bytes"
	"slices"
)

// Ideas that hold alike may differ in a few instructions of one place, of which no packet
// tells. So it is with a row of jump labels, and with the length of what lies under a
// breakpoint. Then one is believed with all that it may be instead, and what runs there is
// ambiguous.

// Ideas that are joined lie within so many bytes. One of a single byte begins an instruction,
// which is no longer than that (Intel SDM, volume 2, "Instruction Format"). Others are whole ones.
const (
	maxJoined = 48
	maxInsn   = 15
)

// end returns where what x says of the code ends.
func (x *Idea) end() uint64 {
	if len(x.Code) == 1 {
		return x.Addr + maxInsn
	}
	return x.Addr + uint64(len(x.Code))
}

// seen is what an idea came to at a visit.
type seen struct {
	at   *Visit
	flow []uint64
}

// byTurns groups ideas of one byte at one site by what comes behind it (Idea.Turns). Where that is not
// all that list has, it is one group.
func byTurns(list []tried) (groups [][]tried) {
	for _, x := range list {
		if x.Addr != list[0].Addr || x.Turns == 0 {
			return [][]tried{list}
		}
		k := slices.IndexFunc(groups, func(g []tried) bool { return g[0].Turns == x.Turns })
		if k < 0 {
			k, groups = len(groups), append(groups, nil)
		}
		groups[k] = append(groups[k], x)
	}
	return groups
}

// join returns what good has in common. ok is false where they do not do the same but for
// one place, at some visit that they hold at.
func (d *Decider) join(good []tried) (h Held, ok bool) {
	lo, end := good[0].Addr, uint64(0)
	for i := range good {
		x := &good[i]
		if !x.sure() || x.Rank == rankKnown || x.held != len(x.at) || x.Addr == good[0].Addr && x.Turns != good[0].Turns {
			return h, false
		}
		lo, end = min(lo, x.Addr), max(end, x.end())
	}
	if end-lo > maxJoined || d.Code == nil {
		return h, false
	}
	was := make([]byte, end-lo)
	if d.Code(was, lo) < len(was) {
		return h, false
	}
	for i := range good[1:] {
		if !sameBut(good[0].seen, good[i+1].seen, lo, end) {
			return h, false
		}
	}
	h = Held{Idea: good[0].Idea, At: d.shown(&good[0].Idea, good[0].at)}
	h.Addr, h.Was, h.Code, h.Alike = lo, was, nil, nil
	for i := range good {
		x := &good[i]
		for _, code := range slices.Concat([][]byte{x.Code}, x.Alike) {
			b := bytes.Clone(was)
			copy(b[x.Addr-lo:], code)
			if h.Code == nil {
				h.Code = b
			} else {
				h.Others = append(h.Others, b)
			}
		}
	}
	return h, true
}

// sameBut reports whether two ideas held at the same visits, and led to the same flow there
// but for instructions in [lo, end).
func sameBut(a, b []seen, lo, end uint64) bool {
	return slices.EqualFunc(a, b, func(x, y seen) bool {
		if x.at != y.at {
			return false
		}
		there := func(addr uint64) bool { return addr-lo < end-lo }
		p, q := slices.DeleteFunc(slices.Clone(x.flow), there), slices.DeleteFunc(slices.Clone(y.flow), there)
		n := min(len(p), len(q)) // one may have more of what follows: both are bounded
		return n >= enoughAtEnd && slices.Equal(p[:n], q[:n])
	})
}
