package flow

import (
	"cmp"
	"sync"
	"sync/atomic"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

const shards = 64

// Cache holds the blocks of one Text, shared by all workers. Nothing is ever
// taken out of it or invalidated: versions of a block for different epochs
// lie side by side. Its size is bounded by the text: one block for each
// address that a branch went to and each version of the text there.
type Cache struct {
	shard [shards]struct {
		sync.RWMutex
		blockTable
	}
	numbers atomic.Uint32  // for blocks to come
	paths   *atomic.Uint32 // how many have a number (Walked)

	laid laid
}

// The versions of a block are a binary search tree by span, each node of which
// has a lower rank than those below it (a treap). Ranks are hashes, so no order of
// epochs makes the tree deep.
const (
	older = 0
	newer = 1
)

// version returns the version in the tree at b that is true at an epoch, or nil,
// and how many were looked at.
func (b *Block) version(at event.Epoch) (v *Block, looks int) {
	for b != nil {
		looks++
		if b.Span.Has(at) {
			return b, looks
		}
		side := older
		if at >= b.Span.From {
			side = newer
		}
		b = b.tree[side]
	}
	return nil, looks
}

// insert puts x into the tree at b. It returns the tree's new root, and the version
// with x's span: x, or the one that is there already.
func (b *Block) insert(x *Block) (root, same *Block) {
	if b == nil || b.Span == x.Span {
		if b == nil {
			b = x
		}
		return b, b
	}
	side := older
	if cmp.Or(cmp.Compare(x.Span.From, b.Span.From), cmp.Compare(x.Span.Until, b.Span.Until)) > 0 {
		side = newer
	}
	c, same := b.tree[side].insert(x)
	b.tree[side] = c
	if c.rank() < b.rank() {
		b.tree[side], c.tree[1-side] = c.tree[1-side], b
		return c, same
	}
	return b, same
}

// rank is a hash of b's span (the finalizer of MurmurHash3, by A. Appleby).
func (b *Block) rank() uint64 {
	h := uint64(b.Span.From) ^ uint64(b.Span.Until)<<32
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

type key struct {
	addr  uint64
	space uint32
	mode  isa.Mode
}

func (k key) hash() uint64 {
	return (k.addr ^ uint64(k.space)<<40 ^ uint64(k.mode)<<56) * 0x9e3779b97f4a7c15
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{paths: new(atomic.Uint32)} }

// NumberPaths has c's paths share numbers with those of all caches that n is given to. It is called before c is used.
func (c *Cache) NumberPaths(n *atomic.Uint32) { c.paths = n }

// find returns the version of the block at k that is true at an epoch, or nil.
func (c *Cache) find(k key, at event.Epoch) *Block {
	s := &c.shard[k.hash()>>58]
	s.RLock()
	b, _ := s.root(k).version(at)
	s.RUnlock()
	return b
}

// add puts b in and returns it, or the version with the same span that
// another worker put in first.
func (c *Cache) add(k key, b *Block) *Block {
	s := &c.shard[k.hash()>>58]
	s.Lock()
	defer s.Unlock()
	root, same := s.root(k).insert(b)
	if s.setRoot(k, root); same == b {
		b.Number = c.numbers.Add(1)
		c.laid.listed(b)
	}
	return same
}
