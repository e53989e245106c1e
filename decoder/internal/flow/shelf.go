package flow

import (
	"encoding/binary"
	"slices"
)

// Shelf keeps batches as bytes, in memory that many share. A range takes 2 to 4 bytes mostly, in place of 16, and a stamp
// 2 to 6, in place of 24. Memory that was never touched costs more than to write a range so.
type Shelf struct {
	room   []byte
	blocks []*Block     // by number
	added  []addedBlock // of these, as they came
	others []*Block     // whose number is another's
	now    *shelved     // the newest one
	kept   []Kept       // memory for some to come
	nobody Watch        // asks what code is read
}

// Kept is a batch as a Shelf keeps it.
type Kept struct {
	stream, ranges, stamps int32
	insns, kernel          int32 // of all ranges, and of those that are the kernel's
	at                     int32 // where the ranges begin in bytes
	bytes                  []byte
	notes                  []Note
	*shelved
}

// addedBlock is a block that is to be found by its number, and the pieces of code that it was read from (Reads).
type addedBlock struct {
	piece          uint64
	pieces, number uint32
}

// shelved is what a Shelf has at some time.
type shelved struct {
	blocks []*Block // by number
	others []*Block // whose number is another's
	of     *Shelf
}

// Bounds of what ranges and stamps take, bytes, and how much memory a shelf takes at once.
const (
	mostRangeBytes = 6 * binary.MaxVarintLen32
	mostStampBytes = 3 * binary.MaxVarintLen64
	shelfPiece     = 1 << 18
)

// A range begins with two bytes: how far its block's number lies from the one before, above two bits. These say
// whether its stamp is the next one, and whether two bytes follow. Without them it is a whole block that is certain.
// To write numbers of as many bytes as each needs takes longer: which way a loop goes is not foretold.
const (
	keptNext = 1 << iota
	keptMore
	keptBits = iota
	keptFar  = 1 << (16 - keptBits) // a number that lies as far is written otherwise
)

// The first of these bytes is the verdict, the flags above it, and whether it is said otherwise which block it is, how much of
// it, and which stamp. The second is how many stamps lie between it and the range before, if it is not.
const (
	keptVerdict = 1<<3 - 1
	keptFlags   = 1 << 3 // the first one
	keptLong    = 1 << 7
	keptSteps   = 1 << 8 // as many stamps, and more, are written otherwise
)

// zigzag returns x as a number that is small where x is near zero.
func zigzag(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

// unzigzag is the inverse of zigzag.
func unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }

// Keep returns what b is, to be kept; nil if that takes more than most bytes. w, if it is not nil, is told what was executed.
func (k *Shelf) Keep(b *Batch, most int64, w *Watch) *Kept {
	if worst := mostRangeBytes*len(b.Ranges) + mostStampBytes*len(b.Stamps); cap(k.room)-len(k.room) < worst {
		k.room = make([]byte, 0, max(shelfPiece, worst))
	}
	at := len(k.room)
	to := k.putStamps(k.room, b.Stamps)
	if len(k.kept) == 0 {
		k.kept = make([]Kept, keptAtOnce)
	}
	x := &k.kept[0]
	*x = Kept{stream: int32(b.Stream), ranges: int32(len(b.Ranges)), stamps: int32(len(b.Stamps)), at: int32(len(to) - at)}
	if w == nil {
		w = &k.nobody
	}
	w.shelves(k)
	to = k.putRanges(to, b.Ranges, x, w)
	x.bytes = to[at:len(to):len(to)]
	if x.notes = b.Notes; x.Size() > most {
		return nil
	}
	k.kept, k.room, x.notes = k.kept[1:], to, slices.Clone(b.Notes)
	if n := k.now; n == nil || len(n.blocks) < len(k.blocks) || len(n.others) < len(k.others) {
		k.now = &shelved{k.blocks, k.others, k}
	}
	x.shelved = k.now
	return x
}

// Size is what x takes in memory, bytes.
func (x *Kept) Size() int64 { return int64(len(x.bytes) + len(x.notes)*noteBytes) }

// putRanges appends rs to what is kept of x, and counts their instructions there. There is room for mostRangeBytes each. w is
// told of each.
func (k *Shelf) putRanges(to []byte, rs []Range, x *Kept, w *Watch) []byte {
	was, stamp := uint32(0), uint32(0)
	at, insns, user := len(to), 0, 0
	to = to[:at+mostRangeBytes*len(rs)]
	blocks, shelved := k.blocks, w.shelved
	for i := range rs {
		r := &rs[i]
		b := r.Block
		n := b.Number
		insns += int(r.N)
		if b.Space != 0 {
			user += int(r.N)
		}
		far, step := zigzag(int64(int32(n-was))), r.Stamp-stamp
		was, stamp = n, r.Stamp
		if int(n) >= len(blocks) || blocks[n] != b || step >= keptSteps || r.N != b.N || far >= keptFar || uint8(r.flags) >= keptLong/keptFlags {
			w.ranLately(b)
			at = k.putRange(to[:at], r, far, step)
			blocks, shelved = k.blocks, w.shelves(k)
			continue
		}
		shelved[n>>6] |= 1 << (n & 63)
		head := uint16(far) << keptBits
		if more := uint8(r.Verdict) | uint8(r.flags)*keptFlags; more != 0 || step > keptNext {
			to[at+2], to[at+3] = more, uint8(step)
			binary.LittleEndian.PutUint16(to[at:], head|keptMore)
			at += 4
			continue
		}
		binary.LittleEndian.PutUint16(to[at:], head|uint16(step))
		at += 2
	}
	x.insns, x.kernel = int32(insns), int32(insns-user)
	return to[:at]
}

// putRange appends a range to what is kept of which much is said. Its block's number lies so far from the one before, and
// its stamp so many stamps. It returns where it ends.
func (k *Shelf) putRange(to []byte, r *Range, far uint64, step uint32) (end int) {
	to = append(to, keptMore, 0, uint8(r.Verdict)|keptLong)
	to = binary.AppendUvarint(to, far)
	to = binary.AppendUvarint(to, k.place(r.Block))
	to = binary.AppendUvarint(to, zigzag(int64(int32(step))))
	to = binary.AppendUvarint(to, uint64(r.N))
	return len(append(to, byte(r.flags)))
}

// keptAtOnce is how many Kept memory is taken for at once.
const keptAtOnce = 1 << 5

// leastNumbers is for how many numbers of blocks memory is taken at once, at least.
const leastNumbers = 1 << 12

// place returns 0 where b is to be found by its number, or else its place among the others, from 1 on.
func (k *Shelf) place(b *Block) uint64 {
	n := int(b.Number)
	if n >= len(k.blocks) {
		if n >= cap(k.blocks) { // to grow by less leaves more behind
			k.blocks = append(make([]*Block, 0, max(n+1, 2*len(k.blocks), leastNumbers)), k.blocks...)
		}
		k.blocks = k.blocks[:n+1]
	}
	if k.blocks[n] == nil {
		k.blocks[n] = b
		first, last := b.Addr>>pieceBits, (b.End+mostInsn-1)>>pieceBits
		if n := len(k.added); n == cap(k.added) {
			k.added = append(make([]addedBlock, 0, max(2*n, leastNumbers)), k.added...)
		}
		k.added = append(k.added, addedBlock{first, uint32(last - first + 1), b.Number})
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
	b.Stream, b.Notes = int(x.stream), append(b.Notes, x.notes...)
	b.Ranges, b.Stamps = slices.Grow(b.Ranges, int(x.ranges))[:x.ranges], slices.Grow(b.Stamps, int(x.stamps))[:x.stamps]
	x.stampsTo(b.Stamps)
	x.rangesTo(b.Ranges, int(x.at))
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
	bytes, blocks := x.bytes, x.blocks
	for i := range rs {
		head := uint32(binary.LittleEndian.Uint16(bytes[at:]))
		at += 2
		was += uint32(unzigzag(uint64(head >> keptBits)))
		stamp += head & keptNext
		more := uint8(0)
		if head&keptMore != 0 {
			if more = bytes[at]; more >= keptLong {
				var r Range
				r, was, at = x.rangeAt(was, stamp, at)
				rs[i], stamp = r, r.Stamp
				continue
			}
			stamp += uint32(bytes[at+1])
			at += 2
		}
		k, r := blocks[was], &rs[i]
		// One by one: a Range that is put together elsewhere and copied is waited for.
		r.Block, r.Stamp, r.N, r.Verdict, r.flags = k, stamp, k.N, Verdict(more&keptVerdict), rangeFlags(more/keptFlags)
	}
}

// rangeAt returns a range of which much is said, at an index, and its block's number. The range before has a block of a number
// was, and a stamp. It returns where the range ends, too.
func (x *Kept) rangeAt(was, stamp uint32, at int) (r Range, block uint32, end int) {
	more := x.bytes[at]
	far, at := number(x.bytes, at+1)
	place, at := number(x.bytes, at)
	step, at := number(x.bytes, at)
	n, at := number(x.bytes, at)
	was += uint32(unzigzag(far))
	r = Range{Stamp: stamp + uint32(unzigzag(step)), N: uint16(n), Verdict: Verdict(more & keptVerdict), flags: rangeFlags(x.bytes[at])}
	if place == 0 {
		r.Block = x.blocks[was]
	} else {
		r.Block = x.others[place-1]
	}
	return r, was, at + 1
}
