package flow

import "encoding/binary"

// Sought is blocks that are looked for in what a Shelf keeps. One goroutine uses it.
type Sought struct {
	Is func(b *Block) bool // the same at all times

	shelf *Shelf
	known []uint8 // by number of a block of the shelf: whether it is sought
}

// What Sought knows of a block.
const (
	notAsked = iota
	notSought
	isSought
)

// seeks reports whether a block is sought, which x has at a number.
func (s *Sought) seeks(x *Kept, number uint32) bool {
	k := &s.known[number]
	if *k == notAsked {
		if *k = notSought; s.Is(x.blocks[number]) {
			*k = isSought
		}
	}
	return *k == isSought
}

// Has reports whether x has a range of a block that s seeks. It reads no more of each range than its block.
func (x *Kept) Has(s *Sought) bool {
	if s.shelf != x.shelf {
		s.shelf, s.known = x.shelf, s.known[:0]
	}
	if n := len(x.blocks) - len(s.known); n > 0 {
		s.known = append(s.known, make([]uint8, n)...)
	}
	was := uint32(0)
	for at := x.at; at < len(x.bytes); {
		head := uint64(x.bytes[at])
		if at++; head >= 1<<7 {
			head, at = longNumber(x.bytes, at-1)
		}
		was += uint32(unzigzag(head >> keptBits))
		if head&keptMore != 0 {
			var place uint64
			place, at = number(x.bytes, at)
			for range 2 { // its stamp, and how much of the block it is
				_, n := binary.Uvarint(x.bytes[at:])
				at += n
			}
			if at += 2; place > 0 {
				if s.Is(x.others[place-1]) {
					return true
				}
				continue
			}
		}
		if s.seeks(x, was) {
			return true
		}
	}
	return false
}

// Insns returns how many instructions x has.
func (x *Kept) Insns() int { return x.insns }

// Notes returns what is noted in x, which must not be changed.
func (x *Kept) Notes() []Note { return x.notes }
