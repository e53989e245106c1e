package recording

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/ptdecode/ptdecode/kcore"
)

// Changes to text of a damaged recording. What one change leaves at a site is what the next
// one finds there. Where one byte differs, the other changes of the site tell which of the
// two is right.

// mendPokes corrects changes in which one byte was damaged, and tells of it. The changes
// are in the order of their times.
func mendPokes(f *facts) {
	sites := map[uint64][]*kcore.Poke{}
	for i := range f.Pokes {
		p := &f.Pokes[i]
		sites[p.Addr] = append(sites[p.Addr], p)
	}
	n := mendAddresses(sites)
	for _, list := range sites {
		slices.SortStableFunc(list, func(a, b *kcore.Poke) int { return cmp.Compare(a.Time, b.Time) })
		seen := map[string]int{}
		for _, p := range list {
			seen[string(p.Old)]++
			seen[string(p.New)]++
		}
		for i := 1; i < len(list); i++ {
			a, b := list[i-1], list[i]
			switch {
			case !oneByteOff(a.New, b.Old):
				continue
			case seen[string(a.New)] < seen[string(b.Old)]:
				a.New = slices.Clone(b.Old)
			case seen[string(a.New)] > seen[string(b.Old)]:
				b.Old = slices.Clone(a.New)
			default:
				continue
			}
			n++
		}
	}
	if n > 0 {
		f.Damagedf("record again; what was executed near these changes may be wrong", "%s+0x0: TEXT_POKE: %d changes have a wrong byte, corrected by what the changes before and after them say of their sites", f.Name, n)
	}
}

// oneByteOff reports whether a and b are as long and differ in one byte.
func oneByteOff(a, b []byte) bool {
	if len(a) != len(b) || bytes.Equal(a, b) {
		return false
	}
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n == 1
}

// mendAddresses corrects addresses of which one byte was damaged: of a change that is the
// only one there, and fits between two of one other site.
func mendAddresses(sites map[uint64][]*kcore.Poke) (n int) {
	const near = 24 // bits: of one kernel's code and its modules, few lie alone in so much
	around := map[uint64]int{}
	for addr := range sites {
		around[addr>>near]++
	}
	for addr, list := range sites {
		if len(list) != 1 {
			continue
		}
		least := 2 // of the right site: of two with one change each, either may be damaged
		if around[addr>>near] == 1 {
			least = 1
		}
		p, found := list[0], uint64(0)
		for other, ps := range sites {
			if x := other ^ addr; x == 0 || bits.Len64(x)-1 > bits.TrailingZeros64(x)|7 || len(ps) < least || !fits(p, ps) {
				continue
			}
			if found != 0 {
				found = 0
				break
			}
			found = other
		}
		if found != 0 {
			delete(sites, addr)
			p.Addr = found
			sites[found] = append(sites[found], p)
			n++
		}
	}
	return n
}

// fits reports whether p lies between two changes of a site that do not follow each other,
// and leads from the one to the other.
func fits(p *kcore.Poke, site []*kcore.Poke) bool {
	var before, after *kcore.Poke
	for _, q := range site {
		if q.Time <= p.Time && (before == nil || q.Time >= before.Time) {
			before = q
		}
		if q.Time > p.Time && (after == nil || q.Time < after.Time) {
			after = q
		}
	}
	return (before != nil || after != nil) &&
		(before == nil || bytes.Equal(before.New, p.Old)) && (after == nil || bytes.Equal(after.Old, p.New)) &&
		(before == nil || after == nil || !bytes.Equal(before.New, after.Old))
}
