package boot

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ptdecode/ptdecode/kcore"
)

// What is decoded with one of several codes often differs from what another one leads to near the site only. Then the flow with
// that is made out of the first, with what the other one executes in place of it, and the segment is not decoded again.

// splices is how the flow with one code is made out of that with another. Many workers use it.
type splices struct {
	taken []patch // what is taken to lie at each place, by address

	mu    sync.Mutex
	swaps map[[2]int]*swap
}

// swap is one code as seen from another.
type swap struct {
	over   *Patches
	untold untold
	asides asides
	chance chance
}

// chance says whether it is worth asking once more what may not be known: where of the first few nothing was, nothing is.
// Many workers use it.
type chance struct {
	was atomic.Bool // it was known once
	not atomic.Int32
}

// mostNot is how often it is asked what is never known.
const mostNot = 4

// left reports whether it is worth asking.
func (c *chance) left() bool { return c.was.Load() || c.not.Load() < mostNot }

// noting notes whether it was known, and returns that.
func (c *chance) noting(known bool) bool {
	if known {
		c.was.Store(true)
	} else {
		c.not.Add(1)
	}
	return known
}

// allow has s know list, of which several codes are possible.
func (s *splices) allow(list []kcore.Learned) {
	for i := range list {
		if l := &list[i]; l.Either {
			s.taken = append(s.taken, patch{l.Range(), l.Code})
		}
	}
	slices.SortFunc(s.taken, func(x, y patch) int { return compareAddr(x.Addr, y.Addr) })
}

// swap returns code i of e.over as seen from code from.
func (e *Either) swap(from, i int) *swap {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := [2]int{from, i}
	x := e.swaps[k]
	if x == nil {
		x = e.newSwap(e.over[from], e.over[i])
		if e.swaps == nil {
			e.swaps = map[[2]int]*swap{}
		}
		e.swaps[k] = x
	}
	return x
}

// newSwap returns b as seen from a.
func (e *Either) newSwap(a, b *Patches) *swap {
	x := &swap{over: &Patches{}, untold: e.untold}
	for _, p := range e.taken {
		was, is := slices.Clone(p.code), slices.Clone(p.code)
		a.Lay(was, p.Addr)
		b.Lay(is, p.Addr)
		if at := differing(p.Addr, was, is); at.Len > 0 {
			x.over.list = append(x.over.list, patch{at, is[at.Addr-p.Addr:][:at.Len]})
		}
	}
	steady, fetch := e.untold.steady, e.untold.fetch
	x.untold.steady = func(dst []byte, at uint64) bool {
		ok := steady(dst, at)
		a.Lay(dst, at)
		return ok
	}
	x.untold.fetch = func(dst []byte, at uint64) int {
		n := fetch(dst, at)
		a.Lay(dst[:n], at)
		return n
	}
	return x
}

// whose is what a segment comes to with code of an index.
type whose struct {
	*ranAs
	code int
}

// others is what a segment comes to with other codes.
type others struct {
	e    *Either
	base *ranAs
	left []int   // codes to come
	list []whose // the last one is to be used next
}

// mostSpliced is out of how many flows another one may be made.
const mostSpliced = 4

// flow returns what the segment comes to with the next code, until it is asked again.
func (k *others) flow(again Again) (*ranAs, error) {
	n, i := len(k.list)-1, k.left[0]
	x := k.list[n].ranAs
	k.left = k.left[1:]
	for _, from := range k.list[:n] {
		if k.e.swap(from.code, i).splice(x, from.ranAs) {
			return x, nil
		}
	}
	x.empty()
	x.strict = !k.base.bad
	err := again(k.e.over[i], x)
	x.strict = false
	if err == nil && !x.bad && n < mostSpliced && slices.ContainsFunc(k.left, func(next int) bool { return k.e.swap(i, next).chance.left() }) {
		k.list[n].code = i
		k.list = append(k.list, whose{k.e.doubts.lists.get(&k.e.doubts), 0})
	}
	if err == errRefuted {
		err = nil
	}
	return x, err
}

// done has the lists be used again, but for the first one.
func (k *others) done() {
	for _, x := range k.list[1:] {
		k.e.doubts.lists.put(x.ranAs)
	}
}

// splice has to be what a segment comes to with x, and reports whether it could: out of from, with the code from which x is
// seen.
func (x *swap) splice(to, from *ranAs) bool {
	if !x.chance.left() {
		return false
	}
	to.empty()
	to.makeRoom(len(from.list))
	at, whole := 0, true
	all := func(*site) bool { return true }
	known := x.untold.detours(from, x.over, all, func(at *site) *aside {
		return x.asides.keep(at, "", func() *aside { return x.untold.asideOf(at, x.over, all) })
	}, func(i int, d *detour) {
		if whole = whole && (d == nil || d.whole); !whole || d == nil {
			return
		}
		to.copy(from, at, i)
		for _, y := range d.other {
			_, off := from.ranAt(i + y.like)
			to.list = append(to.list, piece{y.b, off, int32(to.n), 1})
			to.n++
		}
		at = i + d.n - 1
	})
	if known && whole {
		to.copy(from, at, from.n)
	}
	return x.chance.noting(known && whole)
}

// copy appends instructions [at, end) of o to k.
func (k *ranAs) copy(o *ranAs, at, end int) {
	if at >= end {
		return
	}
	for i := o.piece(at); at < end; i++ {
		p := &o.list[i]
		if n := min(end, p.end()) - at; n == int(p.n) {
			k.list = append(k.list, piece{p.b, p.off, int32(k.n), p.n})
			k.n += n
		} else {
			k.list = append(k.list, piece{p.b.Part(at-int(p.at), n), p.off, int32(k.n), uint16(n)})
			k.n += n
		}
		at = min(end, p.end())
	}
}
