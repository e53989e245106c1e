package etmv4

import "github.com/ptdecode/ptdecode/decoder/event"

// maxPend is how many elements may wait to be committed. No trace unit has more
// than a few hundred; what waits for more is no trace.
const maxPend = 1 << 16

// add takes the next element. DDI0487, "Speculation": each P0 element makes the
// depth one greater, and those beyond the greatest depth are committed.
func (d *Decoder) add(x *elem) {
	p0 := x.kind == elAtoms || x.p0
	if len(d.pend) == d.first && d.unseen == 0 && (!p0 || d.maxSpec == 0) {
		d.shape(x)
		return
	}
	if len(d.pend)-d.first >= maxPend {
		d.trouble(event.BadPacket, x.off, x.end)
		d.lost(x.end, x.end)
		return
	}
	if d.first > 1024 && d.first > len(d.pend)/2 {
		d.pend = append(d.pend[:0], d.pend[d.first:]...)
		d.first = 0
	}
	d.pend = append(d.pend, *x)
	if p0 {
		d.depth += x.count()
		if n := d.depth + d.unseen; n > uint64(d.maxSpec) {
			d.commit(n - uint64(d.maxSpec))
		}
	}
}

// count returns how many P0 elements x is.
func (x *elem) count() uint64 {
	switch {
	case x.kind == elAtoms:
		return uint64(x.n)
	case x.p0:
		return 1
	}
	return 0
}

// commit lets the n oldest P0 elements go, and what stands before them. It
// reports false where there are not so many.
func (d *Decoder) commit(n uint64) bool {
	k := min(n, d.unseen)
	d.unseen -= k
	n -= k
	for n > 0 && d.first < len(d.pend) {
		x := &d.pend[d.first]
		c := x.count()
		if c > n { // some of its atoms
			part := *x
			part.n = uint8(n)
			part.value >>= c - n
			x.n -= part.n
			x.value &= 1<<x.n - 1
			d.depth -= n
			d.shape(&part)
			return true
		}
		n -= c
		d.depth -= c
		d.first++
		d.shape(x)
	}
	if d.depth+d.unseen == 0 { // what follows the last P0 element cannot be cancelled any more
		for ; d.first < len(d.pend); d.first++ {
			d.shape(&d.pend[d.first])
		}
		d.pend, d.first = d.pend[:0], 0
	}
	return n == 0
}

// cancel takes back the n newest P0 elements, and what has come since the
// oldest of them but for what a Cancel leaves. It reports false where there are
// not so many.
func (d *Decoder) cancel(n uint64) bool {
	for i := len(d.pend) - 1; i >= d.first && n > 0; i-- {
		x := &d.pend[i]
		switch c := x.count(); {
		case c > n:
			x.n -= uint8(n)
			x.value >>= n
			d.depth -= n
			n = 0
		case c > 0:
			n -= c
			d.depth -= c
			x.kind, x.p0 = elNone, false
		case !x.keep:
			x.kind = elNone
		}
	}
	k := min(n, d.unseen)
	d.unseen -= k
	d.commit(0)
	return n == k
}

// mispredict turns the newest atom round, and drops the addresses behind it. It
// reports false where there is none.
func (d *Decoder) mispredict() bool {
	for i := len(d.pend) - 1; i >= d.first; i-- {
		switch x := &d.pend[i]; x.kind {
		case elAtoms:
			x.value ^= 1
			return true
		case elTarget:
			x.kind = elNone
		}
	}
	return d.unseen > 0
}

// discard drops what is not committed, but for what says nothing of the flow.
func (d *Decoder) discard() {
	pend := d.pend[d.first:]
	d.pend, d.first, d.depth, d.unseen = d.pend[:0], 0, 0, 0
	d.waits.kind = elNone
	for i := range pend {
		if x := &pend[i]; x.keep && x.kind == elPayload {
			d.shape(x)
		}
	}
}
