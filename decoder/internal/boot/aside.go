package boot

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// aside is what another version of a site's code does, where the flow behind it is the same. Both
// versions lead to one address before the first instruction that the trace tells of, or to a return each.
type aside struct {
	has   []uint64 // instructions of the code that is taken; the last is the first that both have, or a return
	other []ran    // of the other version, likewise
	ok    bool     // else it is no such version, or nobody knows
	// returns says that both end with a return, each with one of its own: they lead to one place.
	returns bool
	// Behind which instructions of has and of other no jump lies before the first one that the trace tells of: so many. Where
	// that takes an outcome, they are said to lead to its event, and those before to the one before. 0: it takes none.
	late, otherLate int
}

// asides keeps what versions of sites do. Many workers use it.
type asides struct {
	mu   sync.Mutex
	list map[string]map[*site]*aside // by version
}

// nearPoke is how far from code a recorded change lies that may change what the code is, bytes.
const nearPoke = 16

// aside marks in doubt what another version makes of a segment, and reports whether it could
// without decoding.
func (b *Kernel) aside(base *ranAs, x variant, doubt *marks, met func(*site)) bool {
	depends := func(at *site) bool { return at.dependsOn(x) }
	k := untold{isa: b.isa, mode: b.mode, steady: b.steady, site: b.doubts.at}
	over := b.patches(x)
	return k.tell(base, over, doubt, depends, met, func(at *site) *aside {
		return b.doubts.asides.keep(at, fmt.Sprint(x), func() *aside { return k.asideOf(at, over, depends) })
	})
}

// steady copies to dst the code at an address, and reports whether it is known there and no recorded
// change lies near: then the code may be another.
func (b *Kernel) steady(dst []byte, at uint64) bool {
	if !b.holds(at, len(dst)) || b.pokedNear(at) {
		return false
	}
	copy(dst, b.code[at-b.text:])
	return true
}

// untold reads code of which a trace tells nothing.
type untold struct {
	isa    isa.Decoder
	mode   isa.Mode
	steady func(dst []byte, at uint64) bool // what lies there at all times; false: that is not known
	site   func(addr, end uint64) *site     // that has a byte of [addr, end)
	// What lies there at the end, and how much of it is known; nil: code beside what changes is not told of.
	fetch func(dst []byte, at uint64) int
}

// tell marks in doubt what another version makes of a segment, and reports whether it could
// without decoding. It comes to what decoding the segment again comes to.
func (k *untold) tell(base *ranAs, over *Patches, doubt *marks, depends func(*site) bool, met func(*site), of func(at *site) *aside) bool {
	list := marks{list: doubt.list}
	var more []*site
	ok := k.detours(base, over, depends, of, func(i int, x *detour) {
		if x == nil {
			list.add(i, i+1)
			return
		}
		for _, z := range x.doubt {
			list.add(i+z.from, i+z.end)
		}
		more = append(more, x.more...)
	})
	if !ok {
		return false
	}
	doubt.markOnce(list.list)
	for _, at := range more {
		met(at)
	}
	return true
}

// detours gives the instructions of a segment at sites that depend on another version, each with nil, and the ways on from there
// that lead elsewhere with that. It reports whether that is all, without decoding. It can be where the version is an aside (of)
// at each such site, and no event interrupts that, or where both can be followed abreast. A trace of arm64 tells of each jump,
// so there it cannot.
func (k *untold) detours(base *ranAs, over *Patches, depends func(*site) bool, of func(at *site) *aside, to func(i int, x *detour)) bool {
	if base.bad || k.mode != isa.Mode64 {
		return false
	}
	next := 0
	both := base.d.abreasts.take(over, k)
	defer base.d.abreasts.giveBack(both)
	for n, y := range base.met {
		i := y.at
		if !depends(y.site) {
			continue
		}
		to(i, nil)
		if i < next || !over.differs(base.metAt(n)) {
			continue // it is part of what the site before leads to, or the same
		}
		x := both.known(base, n)
		if x == nil {
			if x = both.detour(base, n, of(y.site), depends); x == nil {
				return false
			}
		}
		if x.unnoted && base.noted(i, i+x.n) {
			return false
		}
		to(i, x)
		next = i + x.n - 1
	}
	return true
}

// from is what k comes to at a site that list begins with: so many instructions of list, and the other version's.
func (k *aside) from(list []ran) (n int, other []ran) {
	n, other = len(k.has), make([]ran, len(k.other))
	late := list[0].off
	if k.late < n {
		late = list[k.late].off
	}
	for i, y := range k.other {
		if y.off = late; i < k.otherLate {
			y.off = list[0].off
		}
		other[i] = y
	}
	if k.returns && n < len(list) { // where both return to
		other = append(other, list[n])
		n++
	}
	return n, other
}

// runsAs reports whether list begins with the instructions at these addresses, and they
// all lead to one event. Those from late on may all lead to a later one.
func runsAs(list []ran, ips []uint64, late int) bool {
	if len(list) < len(ips) {
		return false
	}
	for i, ip := range ips {
		to := list[0].off
		if i >= late {
			to = list[late].off
		}
		if list[i].ip != ip || list[i].off != to {
			return false
		}
	}
	return true
}

// keep returns what a version does at a site, as find tells it at first.
func (k *asides) keep(at *site, version string, find func() *aside) *aside {
	k.mu.Lock()
	y := k.list[version][at]
	k.mu.Unlock()
	if y != nil {
		return y
	}
	y = find()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list == nil {
		k.list = map[string]map[*site]*aside{}
	}
	if k.list[version] == nil {
		k.list[version] = map[*site]*aside{}
	}
	k.list[version][at] = y
	return y
}

// asideOf returns what a version does at a site. It lays over over the code; depends says what sites it changes.
func (k *untold) asideOf(at *site, over *Patches, depends func(*site) bool) *aside {
	has, end, ok := k.silent(at.addr, nil)
	if !ok {
		return &aside{}
	}
	other, otherEnd, ok := k.silent(at.addr, over)
	if !ok || end != otherEnd && (end.Class != isa.Return || otherEnd.Class != isa.Return) {
		return &aside{}
	}
	i, j := len(has)-1, len(other)-1 // two returns lead to one place
	if end == otherEnd {
		i, j = meeting(has, other, func(x ran) bool { return x.ip < at.addr || x.ip > at.last || k.alike(x.ip, over) })
		if to := has[i].site; i == 0 || to != nil && depends(to) && to.addr != has[i].ip && !k.alike(has[i].ip, over) {
			return &aside{}
		}
	}
	y := &aside{other: other[:j+1], ok: true, returns: end != otherEnd}
	if end.Class == isa.Cond || end.Class == isa.Return {
		y.late, y.otherLate = k.behindJumps(has, nil), k.behindJumps(other, over)
	}
	for _, r := range has[:i+1] {
		y.has = append(y.has, r.ip)
	}
	return y
}

// behindJumps returns behind how many instructions of list no jump lies any more, with other code laid over.
func (k *untold) behindJumps(list []ran, over *Patches) (at int) {
	for i := range list {
		if in, ok := k.read(list[i].ip, over); ok && in.Class == isa.Jump {
			at = i + 1
		}
	}
	return at
}

// alike reports whether the instruction at an address is the same with other code laid over.
func (k *untold) alike(at uint64, over *Patches) bool {
	in, ok := k.read(at, nil)
	return ok && !over.differs(at, at+uint64(in.Len))
}

// meeting returns the first instruction of a behind a site that b has too; 0 if there is none. behind says
// which may be. It also returns 0 where one has an instruction before it that the other has behind it: an event
// there would lead to two places.
func meeting(a, b []ran, behind func(ran) bool) (i, j int) {
	i = 1 + slices.IndexFunc(a[1:], func(x ran) bool { return index(b, x.ip) > 0 && behind(x) })
	if i < 1 {
		return 0, 0
	}
	j = index(b, a[i].ip)
	for _, x := range a[:i] {
		if index(b, x.ip) > j {
			return 0, 0
		}
	}
	for _, x := range b[:j] {
		if index(a, x.ip) > i {
			return 0, 0
		}
	}
	return i, j
}

// index returns which instruction of list lies at ip; -1 if none does.
func index(list []ran, ip uint64) int {
	return slices.IndexFunc(list, func(x ran) bool { return x.ip == ip })
}

// ending is an instruction that the trace tells of.
type ending struct {
	ip uint64
	isa.Class
}

// read returns the instruction at an address, with other code laid over. ok is false where it is not known, or
// the trace may tell of it though it goes straight on.
func (k *untold) read(at uint64, over *Patches) (in isa.Insn, ok bool) {
	const longest = 16
	var code, own [longest]byte
	n, steady := longest, k.steady(code[:], at)
	if !steady {
		if k.fetch == nil {
			return in, false
		}
		n = k.fetch(code[:], at)
	}
	if over != nil {
		over.Lay(code[:n], at)
	}
	if k.isa.Decode(&in, code[:n], at, k.mode) != isa.OK || in.Flags&(isa.FlagPTWrite|isa.FlagTx) != 0 {
		return in, false
	}
	if !steady && !k.steady(own[:in.Len], at) { // the code behind it may change
		return in, false
	}
	return in, in.Class != isa.SetSpace && in.Class != isa.TraceControl
}

// silent returns the instructions from the address at on, with other code laid over. They go up to and with
// the first that the trace tells of, end. ok is false where
// it does not come to that, or the code may be another.
func (k *untold) silent(at uint64, over *Patches) (list []ran, end ending, ok bool) {
	for range farthest {
		in, ok := k.read(at, over)
		if !ok {
			return nil, end, false
		}
		list = append(list, ran{ip: at, site: k.site(at, at+uint64(in.Len))})
		switch in.Class {
		case isa.Jump:
			at = in.Target
		case isa.Other:
			at += uint64(in.Len)
		default:
			return list, ending{at, in.Class}, true
		}
	}
	return nil, end, false
}

// pokedNear reports whether a recorded change lies near the instruction at addr.
func (b *Kernel) pokedNear(addr uint64) bool {
	for _, r := range b.poked {
		if addr+2*nearPoke > r.Addr && addr < r.Addr+r.Len+nearPoke {
			return true
		}
	}
	return false
}

// sitesIn tells of the sites that a flow came to.
func sitesIn(list []ran, met func(*site)) {
	for i := range list {
		if list[i].site != nil {
			met(list[i].site)
		}
	}
}

// compare marks which instructions of a are not of b too, as ranAs.setAgainst does, of few.
func compare(a, b []ran, to *marks, met func(*site)) (apart int) {
	apart = len(a)
	tell := func(list []ran) { sitesIn(list, met) }
	for i, j := 0, 0; i < len(a); {
		if j < len(b) && a[i].ip == b[j].ip && a[i].off == b[j].off {
			i, j = i+1, j+1
			continue
		}
		i0, j0 := i, j
		apart = min(apart, i0)
		for ; i < len(a); i++ {
			for j < len(b) && b[j].off < a[i].off {
				j++
			}
			n := 0
			for j+n < len(b) && b[j+n].off == a[i].off && b[j+n].ip != a[i].ip && n < maxAhead {
				n++
			}
			if j+n < len(b) && b[j+n].off == a[i].off && b[j+n].ip == a[i].ip {
				j += n
				break
			}
		}
		to.add(i0, i)
		tell(a[i0:i])
		tell(b[j0:min(j, len(b))])
		if i == i0 { // a has nothing in place of what b has
			to.add(max(0, i-1), i+1)
		}
		if i == len(a) {
			tell(b[j0:])
		}
	}
	return apart
}
