package flow

import (
	"encoding/binary"
	"slices"
)

// Sought is blocks that are looked for in what a Shelf keeps. One goroutine uses it.
type Sought struct {
	Is func(b *Block) bool // the same at all times

	shelf *Shelf
	known []soughtBlock // by number of a block of the shelf
	offs  []int64       // scratch of Passing
}

// soughtBlock is what Sought knows of a block. So it looks at each only once.
type soughtBlock struct {
	is uint8  // whether it is sought
	n  uint16 // Block.N
}

// What Sought knows of a block.
const (
	notAsked = iota
	notSought
	isSought
)

// lookAt returns what is known of a block, which x has at a number.
func (s *Sought) lookAt(x *Kept, number uint32) *soughtBlock {
	k := &s.known[number]
	if k.is == notAsked {
		s.ask(k, x.blocks[number])
	}
	return k
}

// ask has s know of b. In line it would keep lookAt from being.
//
//go:noinline
func (s *Sought) ask(k *soughtBlock, b *Block) {
	if k.is, k.n = notSought, b.N; s.Is(b) {
		k.is = isSought
	}
}

// reads has s look for blocks in x.
func (s *Sought) reads(x *Kept) {
	if s.shelf != x.of {
		s.shelf, s.known = x.of, s.known[:0]
	}
	if n := len(x.blocks) - len(s.known); n > 0 {
		s.known = append(s.known, make([]soughtBlock, n)...)
	}
}

// Has reports whether x has a range of a block that s seeks. It reads no more of each range than its block.
func (x *Kept) Has(s *Sought) bool {
	s.reads(x)
	was := uint32(0)
	for at := int(x.at); at < len(x.bytes); {
		head := uint32(binary.LittleEndian.Uint16(x.bytes[at:]))
		at += 2
		was += uint32(unzigzag(uint64(head >> keptBits)))
		if head&keptMore != 0 {
			if x.bytes[at] >= keptLong {
				var r Range
				if r, was, at = x.rangeAt(was, 0, at); s.Is(r.Block) {
					return true
				}
				continue
			}
			at += 2
		}
		if s.lookAt(x, was).is == isSought {
			return true
		}
	}
	return false
}

// Passing goes through the ranges of a Kept, one after the other. It is for who does not need all of a Range: it looks at no
// block but those that are sought.
type Passing struct {
	Block *Block
	N     uint16 // of its instructions
	Is    bool   // it is sought
	Off   int64  // of the event that they lead to, bytes

	x          *Kept
	s          *Sought
	at         int
	was, stamp uint32
}

// Pass returns what goes through x. s is used for nothing else up to its end.
func (s *Sought) Pass(x *Kept) Passing {
	s.reads(x)
	s.offs = slices.Grow(s.offs[:0], int(x.stamps))[:x.stamps]
	var off uint64
	at, was := 0, int64(0)
	for i := range s.offs {
		off, at = number(x.bytes, at)
		if was += unzigzag(off >> 1); off&1 == 0 {
			_, at = number(x.bytes, at)
			_, at = number(x.bytes, at)
		}
		s.offs[i] = was
	}
	return Passing{x: x, s: s, at: int(x.at)}
}

// Next goes on to the next range, and reports whether there is one.
func (p *Passing) Next() bool {
	x := p.x
	if p.at >= len(x.bytes) {
		return false
	}
	head := uint32(binary.LittleEndian.Uint16(x.bytes[p.at:]))
	p.at += 2
	p.was += uint32(unzigzag(uint64(head >> keptBits)))
	p.stamp += head & keptNext
	if head&keptMore != 0 {
		if x.bytes[p.at] >= keptLong {
			var r Range
			r, p.was, p.at = x.rangeAt(p.was, p.stamp, p.at)
			p.Block, p.N, p.stamp, p.Is = r.Block, r.N, r.Stamp, p.s.Is(r.Block)
			p.Off = p.s.offs[r.Stamp]
			return true
		}
		p.stamp += uint32(x.bytes[p.at+1])
		p.at += 2
	}
	b := p.s.lookAt(x, p.was)
	p.Block, p.N, p.Is = x.blocks[p.was], b.n, b.is == isSought
	p.Off = p.s.offs[p.stamp]
	return true
}

// Len returns how many ranges x has.
func (x *Kept) Len() int { return int(x.ranges) }

// Insns returns how many instructions x has.
func (x *Kept) Insns() int { return int(x.insns) }

// Kernel returns how many of these are the kernel's.
func (x *Kept) Kernel() int { return int(x.kernel) }

// Notes returns what is noted in x, which must not be changed.
func (x *Kept) Notes() []Note { return x.notes }
