package boot

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Two versions of a site may both come by conditional branches, with the outcomes that the trace has, before they
// are at one place again. From there on the flow is the same. So it is told by following both abreast: by the code,
// the flow as it ran, and the outcomes that this one shows.

// mostAbreast is how much of the flow is looked at, instructions: as far as both are followed, and one leg from there on,
// with what is behind it.
const mostAbreast = 2*farthest + 1

// abreast is two versions that are followed from a site on.
type abreast struct {
	*untold
	over    *Patches
	insns   [2]map[uint64]isa.Insn // of the code that is taken, and of the other; one that is not known is no OK
	detours map[start][]*detour
}

// insn returns the instruction at an address. ok is false where none is known, or the trace may tell of it
// otherwise than by an outcome.
func (k *abreast) insn(at uint64, other bool) (in isa.Insn, ok bool) {
	n, over := 0, (*Patches)(nil)
	if other {
		n, over = 1, k.over
	}
	in, ok = k.insns[n][at]
	if !ok {
		if in, ok = k.read(at, over); !ok {
			in = isa.Insn{}
		}
		if k.insns[n] == nil {
			k.insns[n] = map[uint64]isa.Insn{}
		}
		k.insns[n][at] = in
	}
	return in, in.Len > 0
}

// leadsOn returns where an instruction leads by itself; ok is false if the trace has to say.
func leadsOn(at uint64, in *isa.Insn) (to uint64, ok bool) {
	switch in.Class {
	case isa.Other:
		return at + uint64(in.Len), true
	case isa.Jump:
		return in.Target, true
	}
	return 0, false
}

// leg is a part of a flow as it ran, up to the first instruction that the trace tells of.
type leg struct {
	ran   []ran
	taken bool // the outcome
	more  bool // it ends with a conditional branch, whose outcome is known
}

// head returns the first leg of list.
func (k *abreast) head(list []ran) (p leg) {
	for i := range min(len(list), farthest) {
		in, ok := k.insn(list[i].ip, false)
		if !ok || list[i].off != list[0].off {
			break
		}
		p.ran = list[:i+1]
		to, straight := leadsOn(list[i].ip, &in)
		end := list[i].ip + uint64(in.Len)
		if !straight && in.Class == isa.Cond && in.Target != end && i+1 < len(list) {
			p.taken = list[i+1].ip == in.Target
			p.more = p.taken || list[i+1].ip == end
		}
		if !straight || i+1 == len(list) || list[i+1].ip != to {
			break
		}
	}
	return p
}

// others returns what the other version executes from an address on, up to the first instruction that the trace
// tells of. to returns where that leads, with an outcome; ok is false where it takes none.
func (k *abreast) others(at uint64, off int64) (list []ran, to func(taken bool) uint64, ok bool) {
	for range farthest {
		in, known := k.insn(at, true)
		if !known {
			break
		}
		end := at + uint64(in.Len)
		list = append(list, ran{off: off, ip: at, site: k.site(at, end)})
		n, straight := leadsOn(at, &in)
		if !straight {
			return list, func(taken bool) uint64 {
				if taken {
					return in.Target
				}
				return end
			}, in.Class == isa.Cond && in.Target != end
		}
		at = n
	}
	return list, nil, false
}

// follow follows what begins flow, as it ran, and the other version from the same place on. It returns
// how many instructions of flow it takes until both are at one place, with that one, and what the other version
// executes up to there. read is on how many of flow that depends. ok is false where nothing says that they are, or the
// other version comes to that place twice with one event. depends says what sites are
// of the other version.
func (k *abreast) follow(flow []ran, depends func(*site) bool) (n int, other []ran, read int, ok bool) {
	at, begin := flow[0].ip, 1
	for n < farthest {
		if n >= len(flow) {
			return 0, nil, 0, false
		}
		p := k.head(flow[n:])
		if len(p.ran) == 0 {
			return 0, nil, 0, false
		}
		read = n + len(p.ran) + 1 // where it leads to, too
		list, to, more := k.others(at, p.ran[0].off)
		if i, j := k.reunited(p.ran, list, begin, depends); i >= 0 {
			once := !slices.ContainsFunc(slices.Concat(other, list[:j]), func(x ran) bool { return x.ip == list[j].ip && x.off == list[j].off })
			return n + i + 1, append(other, list[:j+1]...), read, once && k.apartFrom(p.ran[:i], list[:j], list[j].ip)
		}
		if !p.more || !more {
			return 0, nil, 0, false
		}
		other = append(other, list...)
		n, at, begin = n+len(p.ran), to(p.taken), 0
	}
	return 0, nil, 0, false
}

// reunited returns the first instruction of a, from begin on, that b has too, and is of no such site but begins it,
// or is the same in both codes.
func (k *abreast) reunited(a, b []ran, begin int, depends func(*site) bool) (i, j int) {
	for i := begin; i < len(a); i++ {
		if j := index(b, a[i].ip); j >= begin {
			if x := a[i].site; x == nil || !depends(x) || x.addr == a[i].ip || k.alike(a[i].ip, k.over) {
				return i, j
			}
		}
	}
	return -1, -1
}

// apartFrom reports whether what two flows come to behind the place where they meet is nothing that either came
// by before. Else an event at such an address would lead to two places.
func (k *abreast) apartFrom(a, b []ran, at uint64) bool {
	behind, _, known := k.silent(at, nil)
	behindOther, _, same := k.silent(at, k.over)
	if !known || !same {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(behind, behindOther), func(x ran) bool {
		return index(a, x.ip) >= 0 || index(b, x.ip) >= 0
	})
}
