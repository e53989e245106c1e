package repair

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// Code at all addresses that differ in one byte from that of a change: 2,040 of them. They
// are not listed: what is kept is the change.

// near is what addresses have in common that differ in one byte only.
type near struct {
	shift int    // of that byte, bits
	rest  uint64 // the others
}

// nearOf returns what addr has in common with those that differ in the byte at shift.
func nearOf(addr uint64, shift int) near { return near{shift, addr &^ (0xff << shift)} }

// nearIndex finds the addresses that differ from one in one byte.
type nearIndex map[near][]uint64

// add adds addr.
func (x nearIndex) add(addr uint64) {
	for shift := 0; shift < 64; shift += 8 {
		k := nearOf(addr, shift)
		x[k] = append(x[k], addr)
	}
}

// near returns the addresses that differ from addr in one byte, in order.
func (x nearIndex) near(addr uint64) (list []uint64) {
	for shift := 0; shift < 64; shift += 8 {
		for _, a := range x[nearOf(addr, shift)] {
			if a != addr {
				list = append(list, a)
			}
		}
	}
	slices.Sort(list)
	return list
}

// stray is a change whose address is wrong, perhaps. All code at addresses that differ in
// one byte from addr is in doubt, up to the next change there.
type stray struct {
	addr uint64
	n    uint64 // bytes that change
	time uint64 // of the change, ns
	from uint64 // the code is in doubt from then on, ns
}

// block is where strays are found by the address of code. A block has 256 addresses.
type block struct {
	shift int    // of the byte that differs, bits
	rest  uint64 // number of the block, that byte left out if it is in there
}

// blockOf returns where those are found that differ from block n in the byte at shift.
func blockOf(n uint64, shift int) block {
	if shift > 0 {
		n &^= 0xff << (shift - 8)
	}
	return block{shift, n}
}

// moment is when a change was made, ns.
type moment struct{ time, end uint64 }

// strays is all code in doubt by changes that went astray. The zero value is none.
type strays struct {
	list  []stray             // by lowest byte of the address, then by from
	by    map[block][]int32   // indexes of list, in order
	sites map[uint64][]moment // changes near those of list, by address, in order of time
	reach uint64              // the longest change, bytes
}

// astray puts code in doubt at all addresses that differ in one byte from that of p: one of
// them may be the right one.
func (r *repairer) astray(p *kcore.Poke) {
	if n := max(len(p.Old), len(p.New)); n > 0 {
		s := stray{p.Addr, uint64(n), p.Time, p.Begin}
		h := r.held(p)
		if h.many {
			s.from = 0
		}
		for _, addr := range h.left {
			r.early(&s, addr)
		}
		r.strays.list = append(r.strays.list, s)
	}
}

// early puts code at addr in doubt before s, too: the image, or the next change there, tells
// what lay there behind s.
func (r *repairer) early(s *stray, addr uint64) {
	if s.from > 0 {
		r.doubts = append(r.doubts, Doubt{addr, endOf(addr, s.n), event.Time{Lo: 0, Hi: s.from}})
	}
}

// index readies the strays for has, by all changes as they are now.
func (r *repairer) index() {
	s := &r.strays
	if len(s.list) == 0 {
		return
	}
	sites := nearIndex{}
	for addr := range r.sites {
		sites.add(addr)
	}
	s.by, s.sites = map[block][]int32{}, map[uint64][]moment{}
	for i := range s.list {
		x := &s.list[i]
		s.reach = max(s.reach, x.n)
		var first []uint64 // sites whose changes begin behind x
		for _, addr := range sites.near(x.addr) {
			site := r.sites[addr]
			if !r.try(1) {
				x.from = 0
				break
			}
			if s.sites[addr] == nil {
				for _, p := range site {
					s.sites[addr] = append(s.sites[addr], moment{p.Time, p.End})
				}
			}
			if site[0].Time > x.time {
				first = append(first, addr)
			}
		}
		if len(first) > mostHeld {
			x.from = 0
		}
		for _, addr := range first {
			r.early(x, addr)
		}
	}
	slices.SortFunc(s.list, func(a, b stray) int {
		return cmp.Or(cmp.Compare(a.addr&0xff, b.addr&0xff), cmp.Compare(a.from, b.from), cmp.Compare(a.addr, b.addr))
	})
	for i, x := range s.list {
		for shift := 0; shift < 64; shift += 8 {
			k := blockOf(x.addr>>8, shift)
			s.by[k] = append(s.by[k], int32(i))
		}
	}
}

// has reports whether code in [addr, end), executed at a time, ns, is in doubt.
func (s *strays) has(addr, end uint64, at event.Time) bool {
	if len(s.list) == 0 || end <= addr {
		return false
	}
	low := addr - min(addr, s.reach-1)
	for n := low >> 8; n <= (end-1)>>8; n++ {
		from, to := max(low, n<<8), min(end-1, n<<8|0xff) // where changes may lie, both inclusive
		for _, i := range s.by[blockOf(n, 0)] {
			x := &s.list[i]
			if x.from > at.Hi {
				continue
			}
			for a := from; ; a++ {
				if a != x.addr && endOf(a, x.n) > addr && s.until(a, x) >= at.Lo {
					return true
				}
				if a == to {
					break
				}
			}
		}
		for shift := 8; shift < 64; shift += 8 {
			list := s.by[blockOf(n, shift)]
			for _, i := range list[sort.Search(len(list), func(i int) bool { return s.list[list[i]].addr&0xff >= from&0xff }):] {
				x := &s.list[i]
				a := n<<8 | x.addr&0xff
				if a > to {
					break
				}
				if a != x.addr && x.from <= at.Hi && endOf(a, x.n) > addr && s.until(a, x) >= at.Lo {
					return true
				}
			}
		}
	}
	return false
}

// until returns when the next change behind x was made at addr, ns.
func (s *strays) until(addr uint64, x *stray) uint64 {
	list := s.sites[addr]
	if i := sort.Search(len(list), func(i int) bool { return list[i].time > x.time }); i < len(list) {
		return max(x.from, list[i].end)
	}
	return math.MaxUint64
}

// endOf returns the end of n bytes at addr, at most the last address.
func endOf(addr, n uint64) uint64 { return addr + min(n, math.MaxUint64-addr) }
