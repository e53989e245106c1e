package tables

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Of a page of times: values of a block, behind the first value, and of each part that has a width
// of its own.
const (
	timesPerBlock = 128
	timesPerPart  = 32
)

// times is the times of a row group's column. They go by what each is more than the one before
// (DELTA_BINARY_PACKED, Encodings.md of parquet-format 2.10). Nearly all are new, so a dictionary of
// them would be as long as they are. Blocks are packed as they fill, so that few times wait.
type times struct {
	rows        int
	first, last uint64                // ns
	more        [timesPerBlock]uint64 // what those that wait are more than the one before each
	bounds      [timesPerBlock / timesPerPart]bounds
	waiting     int // of more
	blocks      []byte
}

// bounds is the least and the most of a part of a block.
type bounds struct{ least, most int64 }

// takeTime adds the time of the next row, ns.
func (t *times) takeTime(ns uint64) { t.takeTimes([]uint64{ns}) }

// takeTimes adds the times of rows.
func (t *times) takeTimes(list []uint64) {
	if t.rows == 0 && len(list) > 0 {
		t.rows, t.first, t.last = 1, list[0], list[0]
		list = list[1:]
	}
	t.rows += len(list)
	last := t.last
	for len(list) > 0 { // up to the end of a part each time
		at := t.waiting % timesPerPart
		n := min(len(list), timesPerPart-at)
		from, to, x := list[:n], t.more[t.waiting:][:n], &t.bounds[t.waiting/timesPerPart]
		least, most := int64(math.MaxInt64), int64(math.MinInt64)
		if at > 0 {
			least, most = x.least, x.most
		}
		for k, ns := range from {
			d := int64(ns - last)
			to[k], last = uint64(d), ns
			least, most = min(least, d), max(most, d)
		}
		x.least, x.most = least, most
		list = list[n:]
		if t.waiting += n; t.waiting == timesPerBlock {
			t.blocks = t.block(t.blocks)
		}
	}
	t.last = last
}

// whole appends the page of all times. There is one at least, and none follows.
func (t *times) whole(b []byte) []byte {
	b = binary.AppendUvarint(b, timesPerBlock)
	b = binary.AppendUvarint(b, timesPerBlock/timesPerPart)
	b = binary.AppendUvarint(b, uint64(t.rows))
	b = binary.AppendVarint(b, int64(t.first))
	b = append(b, t.blocks...)
	if t.waiting > 0 {
		b = t.block(b)
	}
	return b
}

// clears empties t and keeps its memory.
func (t *times) clears() { t.rows, t.waiting, t.blocks = 0, 0, t.blocks[:0] }

// block appends a block of those that wait.
func (t *times) block(b []byte) []byte {
	n := t.waiting
	t.waiting = 0
	parts := t.bounds[:(n+timesPerPart-1)/timesPerPart]
	least := parts[0].least
	for _, x := range parts {
		least = min(least, x.least)
	}
	for i := n; i < timesPerBlock; i++ {
		t.more[i] = uint64(least)
	}
	b = binary.AppendVarint(b, least)
	b = append(b, make([]byte, timesPerBlock/timesPerPart)...)
	at := len(b) - timesPerBlock/timesPerPart
	for i, x := range parts {
		w := bits.Len64(uint64(x.most) - uint64(least))
		if b[at+i] = byte(w); w > 0 {
			b = timesPart(b, (*[timesPerPart]uint64)(t.more[i*timesPerPart:]), uint64(least), uint(w))
		}
	}
	return b
}

// timesPart appends by how much numbers are more than the least, in w bits each, the lowest bits first, and writes
// over them. They are put together by eight, four or two, as far as a word has room for them. Where each number
// stands in a word it is added, and the least is taken off all of them at once.
func timesPart(b []byte, list *[timesPerPart]uint64, least uint64, w uint) []byte {
	at := len(b)
	size := 4 * int(w)
	b = slices.Grow(b, size+8)[:at+size]
	to := b[at : at+size+8]
	words := list[:]
	switch {
	case w <= 8:
		words = words[:timesPerPart/8]
		two := least + least<<w
		four := two + two<<(2*w)
		less := four + four<<(4*w&63)
		for i := range words {
			x := (*[8]uint64)(list[8*i:])
			words[i] = x[0] + x[1]<<(w&63) + x[2]<<(2*w&63) + x[3]<<(3*w&63) + x[4]<<(4*w&63) + x[5]<<(5*w&63) + x[6]<<(6*w&63) + x[7]<<(7*w&63) - less
		}
		w *= 8
	case w <= 16:
		words = words[:timesPerPart/4]
		two := least + least<<w
		less := two + two<<(2*w)
		for i := range words {
			x := (*[4]uint64)(list[4*i:])
			words[i] = x[0] + x[1]<<(w&63) + x[2]<<(2*w&63) + x[3]<<(3*w&63) - less
		}
		w *= 4
	case w <= 32:
		words = words[:timesPerPart/2]
		less := least + least<<w
		for i := range words {
			x := (*[2]uint64)(list[2*i:])
			words[i] = x[0] + x[1]<<(w&63) - less
		}
		w *= 2
	default:
		for i := range words {
			words[i] -= least
		}
	}
	word, n := uint64(0), uint(0) // bits that wait
	for _, x := range words {
		word |= x << (n & 63)
		if n += w; n >= 64 {
			binary.LittleEndian.PutUint64(to, word)
			to, n = to[8:], n-64
			word = x >> (w - n)
		}
	}
	if n > 0 {
		binary.LittleEndian.PutUint64(to, word) // 32 bits, and what is written over
	}
	return b
}
