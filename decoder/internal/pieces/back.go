package pieces

import (
	"math"
	"slices"
)

// What lies before a batch, for Settle.
const (
	// Nothing lies there that states a time.
	Nothing = 0
	// Somewhere is said of a batch whose open pieces wait no longer: they lie where the piece behind them does.
	Somewhere = math.MaxUint64
)

// CutBack cuts b into its pieces, to be read backwards. Their keys are not known before they are settled.
func (b *Batch) CutBack() {
	b.Cut()
	b.back = true
	least := b.least()
	for i := range b.Pieces {
		if p := &b.Pieces[i]; p.Key == 0 && b.open == i {
			b.open++
		} else {
			p.Key = max(p.Key, b.newest, least)
			b.newest = p.Key
		}
	}
	slices.Reverse(b.Pieces)
}

// least returns when b's job begins, ns: forwards, what it brings is merged as if it were no earlier.
func (b *Batch) least() uint64 { return b.Segs[0].Time.Lo }

// Settle gives keys to pieces of list, the batches of a stream that wait, the newest first. No key lies before
// key, and Settle returns the last one. A piece lies no earlier than the batch behind it in list says, and open pieces lie
// there. That is so for all: the first times of a segment may be bounds below those of the segment before it. So while
// there may be more, pieces wait until a batch says that. Else before is the time of what lies before open ones, ns.
func Settle(list []*Batch, key, before uint64, more bool) uint64 {
	for i, b := range list {
		if b.settled == len(b.Pieces) {
			continue
		}
		told := list[i+1:]
		k := slices.IndexFunc(told, func(o *Batch) bool { return o.open < len(o.Pieces) })
		switch {
		case k >= 0:
			b.follows(told[k].newest, told[k].newest)
		case !more:
			b.follows(0, before)
		default:
			return key
		}
		for ; b.settled < len(b.Pieces); b.settled++ {
			p := &b.Pieces[b.settled]
			key = max(key, math.MaxUint64-p.Key)
			p.Key = key
		}
	}
	return key
}

// follows has b's pieces lie no earlier than at least, ns, and those that are open at an instant, ns. Those that are
// settled stay.
func (b *Batch) follows(least, at uint64) {
	for i := b.settled; i < len(b.Pieces); i++ {
		if p := &b.Pieces[i]; i < len(b.Pieces)-b.open {
			p.Key = max(p.Key, least)
		} else {
			p.Key = max(at, b.least())
		}
	}
	b.open = 0
}
