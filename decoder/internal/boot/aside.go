package boot

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
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
}

// asides keeps what versions of sites do. Many workers use it.
type asides struct {
	mu   sync.Mutex
	list map[string]map[*site]*aside // by variant
}

// nearPoke is how far from code a recorded change lies that may change what the code is, bytes.
const nearPoke = 16

// aside marks in doubt what another version makes of a segment, and reports whether it could
// without decoding. It can where the version is an aside at each site, and no event interrupts that.
// It comes to what decoding the segment again comes to. A trace of arm64 tells of each jump, so
// there it does not.
func (b *Kernel) aside(base *ranAs, x variant, doubt *marks, met func(*site)) bool {
	if base.bad || len(x) != 1 || b.mode != isa.Mode64 {
		return false
	}
	var list marks
	var more []*site
	next := 0
	for i := range base.list {
		at := base.list[i].site
		if at == nil || !at.dependsOn(x) {
			continue
		}
		list.add(i, i+1)
		if i < next {
			continue // it is part of the aside before
		}
		k := b.asideAt(at, x)
		if !k.ok || !runsAs(base.list[i:], k.has) {
			return false
		}
		next = i + len(k.has) - 1
		end := next + 1
		other := make([]ran, len(k.other))
		for n, y := range k.other {
			y.off = base.list[i].off
			other[n] = y
		}
		if k.returns {
			next++
			if end < len(base.list) { // where both return to
				other = append(other, base.list[end])
				end++
			}
		}
		var here marks
		compare(base.list[i:end], other, &here, func(at *site) { more = append(more, at) })
		for _, y := range here.list {
			list.add(i+y.from, i+y.end)
		}
	}
	doubt.list = append(doubt.list, list.list...)
	for _, at := range more {
		met(at)
	}
	return true
}

// runsAs reports whether list begins with the instructions at these addresses, and they
// all lead to one event.
func runsAs(list []ran, ips []uint64) bool {
	if len(list) < len(ips) {
		return false
	}
	for i, ip := range ips {
		if list[i].ip != ip || list[i].off != list[0].off {
			return false
		}
	}
	return true
}

// asideAt returns what x does at a site.
func (b *Kernel) asideAt(at *site, x variant) *aside {
	k := &b.doubts.asides
	key := fmt.Sprint(x)
	k.mu.Lock()
	y := k.list[key][at]
	k.mu.Unlock()
	if y != nil {
		return y
	}
	y = b.findAside(at, x)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list == nil {
		k.list = map[string]map[*site]*aside{}
	}
	if k.list[key] == nil {
		k.list[key] = map[*site]*aside{}
	}
	k.list[key][at] = y
	return y
}

// findAside is asideAt without what it keeps.
func (b *Kernel) findAside(at *site, x variant) *aside {
	has, end, ok := b.silent(at.addr, nil)
	if !ok {
		return &aside{}
	}
	other, otherEnd, ok := b.silent(at.addr, b.patches(x))
	if !ok || end != otherEnd && (end.Class != isa.Return || otherEnd.Class != isa.Return) {
		return &aside{}
	}
	i, j := len(has)-1, len(other)-1 // two returns lead to one place
	if end == otherEnd {
		i, j = meeting(has, other, at)
		if to := has[i].site; i == 0 || to != nil && to.dependsOn(x) && to.addr != has[i].ip {
			return &aside{}
		}
	}
	y := &aside{other: other[:j+1], ok: true, returns: end != otherEnd}
	for _, r := range has[:i+1] {
		y.has = append(y.has, r.ip)
	}
	return y
}

// meeting returns the first instruction of a behind a site that b has too; 0 if there is none. It
// also returns 0 where one has an instruction before it that the other has behind it: an event
// there would lead to two places.
func meeting(a, b []ran, at *site) (i, j int) {
	i = slices.IndexFunc(a, func(x ran) bool { return (x.ip < at.addr || x.ip > at.last) && index(b, x.ip) > 0 })
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

// silent returns the instructions from the address at on, with other code laid over the
// kernel's. They go up to and with the first that the trace tells of, end. ok is false where
// it does not come to that, or a recorded change lies near: then the code may be another.
func (b *Kernel) silent(at uint64, over *Patches) (list []ran, end ending, ok bool) {
	const longest = 16
	var in isa.Insn
	for range farthest {
		if !b.holds(at, longest) || b.pokedNear(at) {
			return nil, end, false
		}
		var code [longest]byte
		copy(code[:], b.code[at-b.text:])
		if over != nil {
			over.Lay(code[:], at)
		}
		if b.isa.Decode(&in, code[:], at, b.mode) != isa.OK {
			return nil, end, false
		}
		list = append(list, ran{ip: at, site: b.doubts.at(at, at+uint64(in.Len))})
		switch in.Class {
		case isa.Jump:
			at = in.Target
		case isa.Other:
			at += uint64(in.Len)
		case isa.SetSpace, isa.TraceControl:
			return nil, end, false // the trace may tell of it
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

// ranLists keeps lists of instructions that may be used again.
type ranLists struct{ pool sync.Pool }

// get returns an empty list.
func (l *ranLists) get(d *doubts) *ranAs {
	if x, ok := l.pool.Get().(*ranAs); ok {
		x.list, x.bad = x.list[:0], false
		return x
	}
	return &ranAs{d: d, sites: map[*flow.Block][]*site{}}
}

// put takes lists back.
func (l *ranLists) put(list ...*ranAs) {
	for _, x := range list {
		l.pool.Put(x)
	}
}
