package flow

import (
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
}

// listed notes that b was added to the cache at k.
func (l *laid) listed(k key, b *Block) {
	if !l.on {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, entryOf(k, b))
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
// Lift. Blocks of it are taken out. All others stay, with the ways between them, and more are
// added. No walker may read c at that time.
func (c *Cache) Lay(other func(addr, end uint64) bool) {
	l := &c.laid
	if !l.on {
		l.on, l.list = true, make([]entry, 0, 1<<8)
		for i := range c.shard {
			c.shard[i].eachRoot(func(root *Block) {
				root.each(func(b *Block) { l.list = append(l.list, entryOf(b.key(), b)) })
			})
		}
	}
	l.from, l.other = len(l.list), other
	for i := range l.list {
		if x := &l.list[i]; other(x.addr, x.end) {
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
	c.endLaying()
}

// KeepLaid has c be for good of what is laid over it. It forgets what it knows to lay more.
func (c *Cache) KeepLaid() {
	c.endLaying()
	c.laid.on, c.laid.list = false, nil
}

// Drop takes out of c for good what other is true of, as in Lay.
func (c *Cache) Drop(other func(addr, end uint64) bool) {
	c.Lay(other)
	c.endLaying()
}

// endLaying has c be of one code again. What was taken out, and not put back, is no entry any more.
func (c *Cache) endLaying() {
	l := &c.laid
	l.other, l.taken = nil, l.taken[:0]
	kept := l.list[:0]
	for _, x := range l.list {
		if x.b.Span != nowhere {
			kept = append(kept, x)
		}
	}
	clear(l.list[len(kept):])
	l.list = kept
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
