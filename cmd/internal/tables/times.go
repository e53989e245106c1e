package tables

import (
	"encoding/binary"
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
	waiting     int                   // of more
	blocks      []byte
}

// takeTime adds the time of the next row, ns.
func (t *times) takeTime(ns uint64) {
	if t.rows++; t.rows == 1 {
		t.first, t.last = ns, ns
		return
	}
	t.more[t.waiting] = ns - t.last
	t.last = ns
	if t.waiting++; t.waiting == timesPerBlock {
		t.blocks, t.waiting = timesBlock(t.blocks, &t.more, t.waiting), 0
	}
}

// takeRaw adds the times of calls: those at i.
func (t *times) takeRaw(raw []rawCall, i int) {
	if t.rows == 0 && len(raw) > 0 {
		t.takeTime(raw[0][i])
		raw = raw[1:]
	}
	t.rows += len(raw)
	last := t.last
	for len(raw) > 0 {
		n := min(len(raw), timesPerBlock-t.waiting)
		to := t.more[t.waiting : t.waiting+n]
		for k := range to {
			ns := raw[k][i]
			to[k] = ns - last
			last = ns
		}
		raw = raw[n:]
		if t.waiting += n; t.waiting == timesPerBlock {
			t.blocks, t.waiting = timesBlock(t.blocks, &t.more, t.waiting), 0
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
		b, t.waiting = timesBlock(b, &t.more, t.waiting), 0
	}
	return b
}

// clears empties t and keeps its memory.
func (t *times) clears() { t.rows, t.waiting, t.blocks = 0, 0, t.blocks[:0] }

// timesBlock appends a block of the first n of more, and writes over them.
func timesBlock(b []byte, more *[timesPerBlock]uint64, n int) []byte {
	least := int64(more[0])
	for _, d := range more[:n] {
		least = min(least, int64(d))
	}
	b = binary.AppendVarint(b, least)
	b = append(b, 0, 0, 0, 0)
	at := len(b) - timesPerBlock/timesPerPart
	for from := 0; from < n; from += timesPerPart {
		part, all := (*[timesPerPart]uint64)(more[from:]), uint64(0)
		for i, d := range part[:min(n-from, timesPerPart)] {
			d -= uint64(least)
			part[i] = d
			all |= d
		}
		w := bits.Len64(all)
		if b[at] = byte(w); w > 0 {
			if n < from+timesPerPart {
				clear(part[n-from:])
			}
			b = timesPart(b, part, w)
		}
		at++
	}
	return b
}

// timesPart appends numbers of w bits each, the lowest bits first.
func timesPart(b []byte, list *[timesPerPart]uint64, w int) []byte {
	at := len(b)
	b = slices.Grow(b, 4*w+8)[:at+4*w]
	to := b[at : at+4*w+8]
	word, n := uint64(0), 0 // bits that wait
	for _, x := range list {
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
