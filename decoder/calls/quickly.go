package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// quickly follows list from i on, in the innermost call. It does what follow would do, range by range, while
// ranges are of one moment and certain. They may go straight on in code that is known, call functions, or return
// from a call in another one. It returns where that ends: at a range that leads on in another way (ends), or
// before one that it did not take.
func (d *condenser) quickly(i int) (next int, ends bool) {
	list, stamp := d.list, d.stamp
	d.moved = false
	top := &d.frames[(d.n-1)&(maxFrames-1)]
	lo, hi := d.lo, d.lo+d.size
	for uint(i) < uint(len(list)) {
		insns := uint64(0) // of the innermost call, that are not counted there
		if !leavesFrom(list[i].Block) {
			insns = uint64(list[i].N)
			for i++; uint(i) < uint(len(list)); i++ {
				x := &list[i]
				k := x.Block
				if x.Stamp != stamp || x.Verdict != decoder.Certain || (k.Addr <= lo || k.End > hi) && k != d.returner {
					return d.stops(top, insns, i, false)
				}
				if leavesFrom(k) {
					break
				}
				insns += uint64(x.N)
			}
		}
		if uint(i) >= uint(len(list)) || uint(i+1) >= uint(len(list)) {
			return d.stops(top, insns, i, i < len(list))
		}
		x, y := &list[i], &list[i+1]
		k, to := x.Block, y.Block
		if y.Stamp != stamp || y.Verdict != decoder.Certain || x.N != k.N {
			return d.stops(top, insns, i, true)
		}
		insns += uint64(k.N)
		if k.Class == isa.Return {
			up := &d.frames[(d.n-2)&(maxFrames-1)]
			if top.ret != to.Addr || top.hidden || d.n < 2 || to.Addr <= up.f.lo || to.End > up.f.lo+up.f.size {
				return d.stops(top, insns-uint64(k.N), i, true)
			}
			d.takesOutNow(top, up, insns, i+1, k)
			top = up
		} else {
			p := &d.places[int(to.Number)&(len(d.places)-1)]
			if k.Class != isa.Call && k.Class != isa.CallInd || p.block != to || !p.called || top.hidden || !d.moved && d.code.leadsOn || d.n == maxFrames {
				return d.stops(top, insns-uint64(k.N), i, true)
			}
			top.insns += insns
			top = d.pushes(p.function, k, i)
		}
		f := top.f
		lo, hi, d.moved = f.lo, f.lo+f.size, true
		i++
	}
	return d.stops(top, 0, i, false)
}

// leavesFrom reports whether another rule tells where the flow goes behind k than that it goes on in the
// function. Most blocks end with a direct jump.
func leavesFrom(k *decoder.Block) bool { return k.Class > isa.Cond && ending.Has(k.Class%32) }

// stops ends quickly. If it came to another function, that is top's.
func (d *condenser) stops(top *frame, insns uint64, i int, how bool) (next int, ends bool) {
	if top.insns += insns; d.moved {
		d.within(top.f)
	}
	return i, how
}

// takesOutNow is takesOut for x, a call in up, that ends at the moment at hand. It ran so many
// instructions more than x says.
func (d *condenser) takesOutNow(x, up *frame, insns uint64, i int, last *decoder.Block) {
	insns += x.insns
	if n := d.n - 1; int(x.replaced) < len(d.replaced) || n < d.old {
		x.insns = insns
		d.takesOut(x, i, &d.instant, last)
		return
	}
	took := d.instant.stated - x.began // no time is told that counts back
	if took == 0 && x.f.folded.n > 0 {
		x.f.folded.n++
		x.f.folded.insns += insns
	} else {
		d.tellsOf(x.f, took, x.inside, insns)
	}
	o, at := d.over, int(x.detours)
	if at == cap(o.detours) {
		o.detours = append(o.detours, detour{})
	}
	o.detours = o.detours[:at+1]
	y := &o.detours[at] // a literal would be made aside and copied
	y.f, y.began, y.insns, y.gone, y.before, y.last, y.stamp, y.deep = x.f, x.began, insns, sum{}, d.instant.before, last, d.instant.stamp, x.deep+1
	d.n--
	up.insns += insns
	up.inside += took
	up.deep = max(up.deep, x.deep+1)
	flow.MarkDetour(&d.list[x.at])
	d.list[x.at+1].Stamp = uint32(i)
}
