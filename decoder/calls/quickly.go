package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// quickly follows list from i on, in the innermost call. It does what follow would do, range by range, while
// ranges are of one moment and certain. They may go straight on in code that is known, call functions, or return
// from a call in another one. It returns where that ends: at a range that leads on in another way (ends), or
// before one that it did not take.
func (d *condenser) quickly(i int) (next int, ends bool) {
	top, code := &d.frames[(d.n-1)&(maxFrames-1)], d.code
	lo, hi := d.lo, d.lo+d.size
	for {
		at, insns, how, k, to := straightOn(d.list, i, d.stamp, lo, hi, d.returner)
		i = at
		top.insns += insns
		switch how {
		case byCall:
			p := &d.places[int(to.Number)&(len(d.places)-1)]
			if p.block != to || !p.called || code.leadsOn || top.hidden || d.n == maxFrames {
				d.within(code)
				return i, true
			}
			top.insns += uint64(k.N)
			code = p.function
			top = d.pushes(code, k, i)
			lo, hi = code.lo, code.lo+code.size
		case byReturn:
			if top.ret != to.Addr || top.hidden || d.n < 2 {
				d.within(code)
				return i, true
			}
			up := &d.frames[(d.n-2)&(maxFrames-1)]
			f := up.f
			if lo, hi = f.lo, f.lo+f.size; to.Addr <= lo || to.End > hi {
				d.within(code)
				return i, true
			}
			top.insns += uint64(k.N)
			d.takesOut(top, i+1, &d.instant, k)
			top, code = up, f
		default:
			d.within(code)
			return i, how == otherwise
		}
		i++
	}
}

// leaving is how ranges go on.
type leaving uint8

// How straightOn ends.
const (
	notTaken  leaving = iota // a range follows that is not straightOn's, or none
	otherwise                // one that leads on in another way
	byCall                   // one that calls the next one
	byReturn                 // one that returns to the next one
)

// straightOn goes over the ranges of list from i on that go straight on in code from lo to hi. The first one
// lies there. It returns where that ends, how, and what ran before. k is the block there, to the one behind it. It
// calls nothing: so what the loop needs stays in registers.
func straightOn(list []decoder.BatchRange, i int, stamp uint32, lo, hi uint64, returner *decoder.Block) (at int, insns uint64, how leaving, k, to *decoder.Block) {
	x := &list[i]
	k = x.Block
	for !ending.Has(k.Class % 32) {
		insns += uint64(x.N)
		if i++; i >= len(list) {
			return i, insns, notTaken, nil, nil
		}
		x = &list[i]
		if k = x.Block; x.Stamp != stamp || x.Verdict != decoder.Certain || (k.Addr <= lo || k.End > hi) && k != returner {
			return i, insns, notTaken, nil, nil
		}
	}
	if i+1 >= len(list) {
		return i, insns, otherwise, nil, nil
	}
	y := &list[i+1]
	if y.Stamp != stamp || y.Verdict != decoder.Certain || x.N != k.N {
		return i, insns, otherwise, nil, nil
	}
	switch k.Class {
	case isa.Call, isa.CallInd:
		return i, insns, byCall, k, y.Block
	case isa.Return:
		return i, insns, byReturn, k, y.Block
	}
	return i, insns, otherwise, nil, nil
}
