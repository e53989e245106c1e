package flow

import (
	"sync"

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
		m map[key]*Block
	}
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
func NewCache() *Cache {
	c := &Cache{}
	for i := range c.shard {
		c.shard[i].m = make(map[key]*Block)
	}
	return c
}

// find returns the version of the block at k that is true at an epoch, or nil.
func (c *Cache) find(k key, at event.Epoch) *Block {
	s := &c.shard[k.hash()>>58]
	s.RLock()
	b := s.m[k]
	s.RUnlock()
	for ; b != nil; b = b.old {
		if b.Span.Has(at) {
			return b
		}
	}
	return nil
}

// add puts b in and returns it, or the version with the same span that
// another worker put in first.
func (c *Cache) add(k key, b *Block) *Block {
	s := &c.shard[k.hash()>>58]
	s.Lock()
	defer s.Unlock()
	for o := s.m[k]; o != nil; o = o.old {
		if o.Span == b.Span {
			return o
		}
	}
	b.old = s.m[k]
	s.m[k] = b
	return b
}
