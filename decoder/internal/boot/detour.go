package boot

import (
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// A flow comes by a site time and again, mostly the same way on. So what another version makes of a way is told
// once, and kept by the ranges of the flow there.

// detour is what another version makes of the way on from a site.
type detour struct {
	way     []leap
	n       int       // instructions until both are at one place
	unnoted bool      // nothing may be noted on the way
	doubt   []stretch // of these instructions
	more    []*site   // that either came to
	other   []single  // what the other version executes in place of all of them but the last one
	whole   bool      // other is known
}

// single is an instruction as executed in place of others: a block, and which instruction of the way leads to the same event.
type single struct {
	b    *flow.Block
	like int
}

// leap is a range of a way, and whether it leads to a later event than the one before.
type leap struct {
	b     *flow.Block
	n     uint16
	later bool
}

// start is where a way begins: with an instruction of a block.
type start struct {
	b  *flow.Block
	at int
}

// mostDetours is how many ways on from one place are kept, of one version.
const mostDetours = 64

// startOf returns where the way on from instruction n of those begins that have a byte of a site.
func (k *ranAs) startOf(n int) start {
	p := &k.list[k.metIn[n]]
	return start{p.b, k.met[n].at - int(p.at)}
}

// known returns the detour of the way on from instruction n of those that have a byte of a site; nil if it is not known.
func (k *abreast) known(base *ranAs, n int) *detour {
	for _, x := range k.detours[base.startOf(n)] {
		if x.is(base.list[base.metIn[n]:]) {
			return x
		}
	}
	return nil
}

// is reports whether list begins with the way of x.
func (x *detour) is(list []piece) bool {
	if len(list) < len(x.way) {
		return false
	}
	for i := range x.way {
		y, p := &x.way[i], &list[i]
		if y.b != p.b || y.n != p.n || i > 0 && y.later != (p.off > list[i-1].off) || i > 0 && p.off < list[i-1].off {
			return false
		}
	}
	return true
}

// detour returns what the other version makes of the way on from instruction n of those that have a byte of a site. It is an
// aside of that, or not. nil: nothing tells.
func (k *abreast) detour(base *ranAs, n int, of *aside, depends func(*site) bool) *detour {
	x, other, i := &detour{}, []ran(nil), base.met[n].at
	read := 0 // instructions of the way on which it depends
	list := base.window(i, len(of.has)+1)
	late := len(of.has)
	if base.startOf(n).at == 0 && of.late > 0 { // else what lies before the site is of its block
		late = min(late, of.late)
	}
	if of.ok && runsAs(list, of.has, late) {
		x.n, other = of.from(list)
		x.unnoted = late < len(of.has) && list[late].off != list[0].off
		read = len(of.has) + 1
	} else {
		ok := false
		list, x.unnoted = base.window(i, mostAbreast), true
		if x.n, other, read, ok = k.follow(list, depends); !ok {
			return nil
		}
	}
	var doubt marks
	compare(list[:x.n], other, &doubt, func(at *site) { x.more = append(x.more, at) })
	x.doubt = doubt.list
	x.other, x.whole = k.singles(list[:x.n], other)
	k.remember(base, n, read, x)
	return x
}

// singles returns what the other version executes up to where it meets a way. ok is false if that is not known, or it
// leads to another event there.
func (k *abreast) singles(way, other []ran) (list []single, ok bool) {
	last, meets := len(other)-1, &way[len(way)-1]
	if last < 0 || other[last].ip != meets.ip || other[last].off != meets.off {
		return nil, false
	}
	for _, x := range other[:last] {
		in, known := k.insn(x.ip, true)
		like := slices.IndexFunc(way, func(y ran) bool { return y.off == x.off })
		if !known || like < 0 {
			return nil, false
		}
		b := &flow.Block{Addr: x.ip, End: x.ip + uint64(in.Len), N: 1, Lens: []uint8{in.Len}}
		list = append(list, single{b, like})
	}
	return list, true
}

// remember keeps x as what becomes of the way on from instruction n of those that have a byte of a site. It depends on so many
// instructions of that.
func (k *abreast) remember(base *ranAs, n, read int, x *detour) {
	i, s, p := base.met[n].at, base.startOf(n), int(base.metIn[n])
	if i+read > base.n || len(k.detours[s]) == mostDetours {
		return
	}
	for at := int64(0); p < len(base.list) && int(base.list[p].at) < i+read; p++ {
		y := &base.list[p]
		if len(x.way) > 0 && y.off < at {
			return
		}
		x.way = append(x.way, leap{y.b, y.n, len(x.way) > 0 && y.off > at})
		at = y.off
	}
	if k.detours == nil {
		k.detours = map[start][]*detour{}
	}
	k.detours[s] = append(k.detours[s], x)
}

// abreasts keeps what is known of versions that were followed. Many workers use it.
type abreasts struct {
	mu   sync.Mutex
	list []*abreast // that nobody uses
}

// mostAbreasts is how many are kept.
const mostAbreasts = 1 << 8

// take returns what is known of a version. k reads the code.
func (l *abreasts) take(over *Patches, k *untold) *abreast {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.list, func(x *abreast) bool { return x.over == over }); i >= 0 {
		x := l.list[i]
		l.list = slices.Delete(l.list, i, i+1)
		return x
	}
	return &abreast{untold: k, over: over}
}

// giveBack keeps x for others.
func (l *abreasts) giveBack(x *abreast) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < mostAbreasts {
		l.list = append(l.list, x)
	}
}
