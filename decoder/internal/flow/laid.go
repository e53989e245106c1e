package flow

import (
	"math"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// laid is what a cache knows of code that is laid over its own.
type laid struct {
	on      bool                        // list is asked for
	mu      sync.Mutex                  // of list, while walkers read the cache
	list    []entry                     // of all blocks
	lines   *[1 << lineBits]int32       // by a hash of where blocks lie: the newest entry, plus 1; 0: none
	longest uint64                      // what an entry may be read from, at most, bytes
	from    int                         // in list: what was added since Lay
	other   func(addr, end uint64) bool // nil: nothing is laid over
	taken   []takenOut
}

// Entries are found by the line of 1<<lineShift bytes in which they begin.
const (
	lineShift = 8
	lineBits  = 10
)

// line returns the newest entry, plus 1, of the lines that hash as a number does.
func (l *laid) line(number uint64) *int32 { return &l.lines[number%uint64(len(l.lines))] }

// listed notes that b was added to the cache.
func (l *laid) listed(b *Block) {
	if !l.on {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append(b)
}

// append adds b to the list.
func (l *laid) append(b *Block) {
	newest := l.line(b.Addr >> lineShift)
	x := entry{b, *newest}
	l.list, l.longest = append(l.list, x), max(l.longest, x.end()-b.Addr)
	*newest = int32(len(l.list))
}

// entriesIn gives the entries that may have a byte of [lo, hi), and others.
func (l *laid) entriesIn(lo, hi uint64, to func(x *entry)) {
	first, last := (lo-min(lo, l.longest))>>lineShift, hi>>lineShift
	if last-first >= uint64(len(l.lines)) {
		for i := range l.list {
			to(&l.list[i])
		}
		return
	}
	for n := first; n <= last; n++ {
		for i := *l.line(n); i > 0; i = l.list[i-1].before {
			to(&l.list[i-1])
		}
	}
}

// entry is a block in a cache.
type entry struct {
	*Block
	before int32 // the entry before, plus 1, of lines that hash alike; 0: none
}

// end returns where that ends which the block may be read from. What ends it may be an instruction that is none.
func (x *entry) end() uint64 { return x.End + mostInsn }

// takenOut is all versions of a block, and the epochs for which they are true, in the order of each.
type takenOut struct {
	key
	root  *Block
	spans []event.Span
}

// mostInsn is how long an instruction is at most, bytes, of any instruction set.
const mostInsn = 15

// nowhere is no epoch. A block with it is no longer found: who is led to it looks at its span.
var nowhere = event.Span{From: event.MaxEpoch}

// Lists has c know from now on which blocks it has, as Lay needs it. It is called while no walker reads c.
func (c *Cache) Lists() {
	l := &c.laid
	if l.on {
		return
	}
	l.on, l.list, l.lines = true, make([]entry, 0, 1<<8), new([1 << lineBits]int32)
	for i := range c.shard {
		c.shard[i].eachRoot(func(root *Block) {
			root.each(l.append)
		})
	}
}

// Lay says that other code than c's lies in the ranges [addr, end) of which other is true of a byte, up to
// Lift: all of it in [lo, hi). Blocks of it are taken out. All others stay, with the ways between them, and more are
// added. No walker may read c at that time.
func (c *Cache) Lay(lo, hi uint64, other func(addr, end uint64) bool) {
	c.Lists()
	l := &c.laid
	l.from, l.other = len(l.list), func(addr, end uint64) bool { return addr < hi && end > lo && other(addr, end) }
	l.entriesIn(lo, hi, func(x *entry) {
		if l.other(x.Addr, x.end()) {
			c.cover(x.key())
		}
	})
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
	for i := range l.list[l.from:] {
		if x := &l.list[l.from+i]; l.other(x.Addr, x.end()) {
			c.scrap(x.key())
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
	c.laid.on, c.laid.list, c.laid.lines = false, nil, nil
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
	list := l.list
	for i := len(list) - 1; i >= from; i-- {
		*l.line(list[i].Addr >> lineShift) = list[i].before
	}
	l.list = list[:from]
	for _, x := range list[from:] {
		if x.Span != nowhere {
			l.append(x.Block)
		}
	}
	clear(list[len(l.list):])
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
