package flow

import (
	"encoding/binary"
	"slices"
)

// Shelf keeps batches as bytes, in memory that many share. A range takes 2 bytes mostly, in place of 16, and a stamp
// 2 to 6, in place of 24. Memory that was never touched costs more than to write a range so.
type Shelf struct {
	room   []byte
	blocks []*Block // by number
	others []*Block // whose number is another's
}

// Kept is a batch as a Shelf keeps it.
type Kept struct {
	stream         int
	ranges, stamps int
	insns          int // of all ranges
	at             int // where the ranges begin in bytes
	bytes          []byte
	notes          []Note
	blocks, others []*Block
	shelf          *Shelf
}

// Bounds of what ranges and stamps take, bytes, and how much memory a shelf takes at once.
const (
	mostRangeBytes = 6 * binary.MaxVarintLen32
	mostStampBytes = 3 * binary.MaxVarintLen64
	shelfPiece     = 1 << 18
)

// A range begins with a number: how far its block's number lies from the one before, above two bits. These say
// whether its stamp is the next one, and whether there is more of it than a whole block that is certain.
const (
	keptNext = 1 << iota
	keptMore
	keptBits = iota
)

// zigzag returns x as a number that is small where x is near zero.
func zigzag(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

// unzigzag is the inverse of zigzag.
func unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

// Keep returns what b is, to be kept; nil if that takes more than most bytes.
func (k *Shelf) Keep(b *Batch, most int64) *Kept {
	if worst := mostRangeBytes*len(b.Ranges) + mostStampBytes*len(b.Stamps); cap(k.room)-len(k.room) < worst {
		k.room = make([]byte, 0, max(shelfPiece, worst))
	}
	at := len(k.room)
	to := k.putStamps(k.room, b.Stamps)
	x := &Kept{stream: b.Stream, ranges: len(b.Ranges), stamps: len(b.Stamps), at: len(to) - at, shelf: k}
	to, x.insns = k.putRanges(to, b.Ranges)
	x.bytes = to[at:len(to):len(to)]
	if x.notes = b.Notes; x.Size() > most {
		return nil
	}
	k.room, x.notes, x.blocks, x.others = to, slices.Clone(b.Notes), k.blocks, k.others
	return x
}

// Size is what x takes in memory, bytes.
func (x *Kept) Size() int64 { return int64(len(x.bytes) + len(x.notes)*noteBytes) }

// putRanges appends rs to what is kept, and returns how many instructions they are. There is room for mostRangeBytes each.
func (k *Shelf) putRanges(to []byte, rs []Range) (_ []byte, insns int) {
	was, stamp := uint32(0), uint32(0)
	at := len(to)
	to = to[:at+mostRangeBytes*len(rs)]
	for i := range rs {
		r := &rs[i]
		n := r.Block.Number
		insns += int(r.N)
		head, step := zigzag(int64(int32(n-was)))<<keptBits, r.Stamp-stamp
		was, stamp = n, r.Stamp
		if int(n) < len(k.blocks) && k.blocks[n] == r.Block && step <= keptNext && r.N == r.Block.N && r.Verdict == Certain && r.flags == 0 {
			for head |= uint64(step); head >= 1<<7; head >>= 7 {
				to[at] = byte(head) | 1<<7
				at++
			}
			to[at] = byte(head)
			at++
			continue
		}
		x := binary.AppendUvarint(to[:at], head|keptMore)
		x = binary.AppendUvarint(x, k.place(r.Block))
		x = binary.AppendUvarint(x, zigzag(int64(int32(step))))
		x = binary.AppendUvarint(x, uint64(r.N))
		at = len(append(x, byte(r.Verdict), byte(r.flags)))
	}
	return to[:at], insns
}

// place returns 0 where b is to be found by its number, or else its place among the others, from 1 on.
func (k *Shelf) place(b *Block) uint64 {
	n := int(b.Number)
	if n >= len(k.blocks) {
		k.blocks = append(k.blocks, make([]*Block, n+1-len(k.blocks))...)
	}
	if k.blocks[n] == nil {
		k.blocks[n] = b
	}
	if k.blocks[n] == b {
		return 0
	}
	k.others = append(k.others, b)
	return uint64(len(k.others))
}

// putStamps appends ss to what is kept.
func (k *Shelf) putStamps(to []byte, ss []Stamp) []byte {
	var was Stamp
	for _, s := range ss {
		if off := zigzag(s.Off-was.Off) << 1; s.Time == was.Time {
			to = binary.AppendUvarint(to, off|1)
		} else {
			to = binary.AppendUvarint(to, off)
			to = binary.AppendUvarint(to, zigzag(int64(s.Time.Lo-was.Time.Lo)))
			to = binary.AppendUvarint(to, zigzag(int64(s.Time.Hi-was.Time.Hi)))
		}
		was = s
	}
	return to
}

// number takes the number at b[at] on, and returns where it ends.
func number(b []byte, at int) (x uint64, end int) {
	if c := b[at]; c < 1<<7 {
		return uint64(c), at + 1
	}
	return longNumber(b, at)
}

// longNumber is number where that takes more than a byte.
func longNumber(b []byte, at int) (x uint64, end int) {
	x, n := binary.Uvarint(b[at:])
	return x, at + n
}

// Fill has b be what x is, in memory of its own.
func (x *Kept) Fill(b *Batch) {
	b.Reset()
	b.Stream, b.Notes = x.stream, append(b.Notes, x.notes...)
	b.Ranges, b.Stamps = slices.Grow(b.Ranges, x.ranges)[:x.ranges], slices.Grow(b.Stamps, x.stamps)[:x.stamps]
	x.stampsTo(b.Stamps)
	x.rangesTo(b.Ranges, x.at)
}

// stampsTo writes stamps to ss.
func (x *Kept) stampsTo(ss []Stamp) {
	var off, lo, hi uint64
	var s Stamp
	at := 0
	for i := range ss {
		off, at = number(x.bytes, at)
		if s.Off += unzigzag(off >> 1); off&1 == 0 {
			lo, at = number(x.bytes, at)
			hi, at = number(x.bytes, at)
			s.Time.Lo += uint64(unzigzag(lo))
			s.Time.Hi += uint64(unzigzag(hi))
		}
		ss[i] = s
	}
}

// rangesTo writes ranges to rs, of which the bytes begin at an index.
func (x *Kept) rangesTo(rs []Range, at int) {
	was, stamp := uint32(0), uint32(0)
	for i := range rs {
		head := uint64(x.bytes[at])
		if at++; head >= 1<<7 {
			head, at = longNumber(x.bytes, at-1)
		}
		was += uint32(unzigzag(head >> keptBits))
		if head&keptMore == 0 {
			stamp += uint32(head & keptNext)
			k := x.blocks[was]
			rs[i] = Range{Block: k, Stamp: stamp, N: k.N}
			continue
		}
		at = x.rangeTo(&rs[i], was, stamp, at)
		stamp = rs[i].Stamp
	}
}

// rangeTo writes to r a range of which more is said than its block, at an index. It returns where that ends.
func (x *Kept) rangeTo(r *Range, block, stamp uint32, at int) (end int) {
	place, at := number(x.bytes, at)
	step, at := number(x.bytes, at)
	n, at := number(x.bytes, at)
	*r = Range{Stamp: stamp + uint32(unzigzag(step)), N: uint16(n), Verdict: Verdict(x.bytes[at]), flags: rangeFlags(x.bytes[at+1])}
	if place == 0 {
		r.Block = x.blocks[block]
	} else {
		r.Block = x.others[place-1]
	}
	return at + 2
}
