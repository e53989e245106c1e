package flow

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// laid is what a cache knows of code that is laid over its own.
type laid struct {
	on    bool                        // list is asked for
	mu    sync.Mutex                  // of list, while walkers read the cache
	list  []entry                     // of all blocks
	from  int                         // in list: what was added since Lay
	other func(addr, end uint64) bool // nil: nothing is laid over
	taken []takenOut

	ordered int    // of list, by address
	longest uint64 // what an entry may be read from, at most, bytes
}

// listed notes that b was added to the cache at k.
func (l *laid) listed(k key, b *Block) {
	if !l.on {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append(entryOf(k, b))
}

// append adds x to the list.
func (l *laid) append(x entry) {
	l.list, l.longest = append(l.list, x), max(l.longest, x.end-x.addr)
}

// mostUnordered is how many entries are not by address at most, where few are: each is looked at.
const mostUnordered = 64

// order has the list be by address, but for a few at its end.
func (l *laid) order() {
	if len(l.list)-l.ordered > mostUnordered+l.ordered/16 {
		slices.SortFunc(l.list, func(x, y entry) int { return cmp.Compare(x.addr, y.addr) })
		l.ordered = len(l.list)
	}
}

// entry is a block in a cache.
type entry struct {
	key
	end uint64 // of what it may be read from
	b   *Block
}

// takenOut is all versions of a block, and the epochs for which they are true, in the order of each.
type takenOut struct {
	key
	root  *Block
	spans []event.Span
}

// mostInsn is how long an instruction is at most, bytes, of any instruction set.
const mostInsn = 15

// entryOf returns b as an entry. What ends a block may be an instruction that is none.
func entryOf(k key, b *Block) entry { return entry{k, b.End + mostInsn, b} }

// nowhere is no epoch. A block with it is no longer found: who is led to it looks at its span.
var nowhere = event.Span{From: event.MaxEpoch}

// Lay says that other code than c's lies in the ranges [addr, end) of which other is true of a byte, up to
// Lift: all of it in [lo, hi). Blocks of it are taken out. All others stay, with the ways between them, and more are
// added. No walker may read c at that time.
func (c *Cache) Lay(lo, hi uint64, other func(addr, end uint64) bool) {
	l := &c.laid
	if !l.on {
		l.on, l.list = true, make([]entry, 0, 1<<8)
		for i := range c.shard {
			c.shard[i].eachRoot(func(root *Block) {
				root.each(func(b *Block) { l.append(entryOf(b.key(), b)) })
			})
		}
	}
	l.order()
	l.from, l.other = len(l.list), func(addr, end uint64) bool { return addr < hi && end > lo && other(addr, end) }
	i, _ := slices.BinarySearchFunc(l.list[:l.ordered], lo-min(lo, l.longest), func(x entry, a uint64) int { return cmp.Compare(x.addr, a) })
	for ; i < l.ordered && l.list[i].addr < hi; i++ {
		if x := &l.list[i]; l.other(x.addr, x.end) {
			c.cover(x.key)
		}
	}
	for i := range l.list[l.ordered:] {
		if x := &l.list[l.ordered+i]; l.other(x.addr, x.end) {
			c.cover(x.key)
		}
	}
}

// cover takes all versions of a block out of c, if they are there, up to Lift.
func (c *Cache) cover(k key) {
	s := &c.shard[k.hash()>>58]
	root := s.root(k)
	if root == nil {
		return
	}
	t := takenOut{key: k, root: root}
	root.each(func(b *Block) {
		t.spans = append(t.spans, b.Span)
		b.Span = nowhere
	})
	c.laid.taken = append(c.laid.taken, t)
	s.dropRoot(k)
}

// Lift takes out the blocks of what was laid over c, and puts its own back.
func (c *Cache) Lift() {
	l := &c.laid
	for _, x := range l.list[l.from:] {
		if l.other(x.addr, x.end) {
			c.scrap(x.key)
		}
	}
	for _, t := range l.taken {
		c.scrap(t.key)
		i := 0
		t.root.each(func(b *Block) { b.Span, i = t.spans[i], i+1 })
		c.shard[t.hash()>>58].setRoot(t.key, t.root)
	}
	c.endLaying(l.from)
}

// KeepLaid has c be for good of what is laid over it. It forgets what it knows to lay more.
func (c *Cache) KeepLaid() {
	c.endLaying(len(c.laid.list))
	c.laid.on, c.laid.list, c.laid.ordered = false, nil, 0
}

// Drop takes out of c for good what other is true of, as in Lay.
func (c *Cache) Drop(other func(addr, end uint64) bool) {
	c.Lay(0, math.MaxUint64, other)
	c.endLaying(0)
}

// endLaying has c be of one code again. What was taken out, and not put back, is no entry any more: none such lies
// before from.
func (c *Cache) endLaying(from int) {
	l := &c.laid
	l.other, l.taken = nil, l.taken[:0]
	kept, ordered := l.list[:from], min(l.ordered, from)
	for i, x := range l.list[from:] {
		if x.b.Span != nowhere {
			if kept = append(kept, x); from+i < l.ordered {
				ordered++
			}
		}
	}
	clear(l.list[len(kept):])
	l.list, l.ordered = kept, ordered
}

// scrap takes all versions of a block out of c for good.
func (c *Cache) scrap(k key) {
	s := &c.shard[k.hash()>>58]
	s.root(k).each(func(b *Block) { b.Span = nowhere })
	s.dropRoot(k)
}

// each gives b and all other versions of it, in the tree at b.
func (b *Block) each(to func(*Block)) {
	if b == nil {
		return
	}
	to(b)
	for _, x := range b.tree {
		x.each(to)
	}
}
