package tables

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Times go by what each is more than the one before (DELTA_BINARY_PACKED, Encodings.md of
// parquet-format 2.10). Nearly all are new, so a dictionary of them would be as long as they are.

// Of a page: values of a block, behind the first value, and of each part that has a width of its
// own.
const (
	timesPerBlock = 128
	timesPerPart  = 32
)

// takeTime adds the time of the next row, to a column of times.
func (c *column) takeTime(ns uint64) { c.times = append(c.times, ns) }

// timesPage appends times as a page has them. There is one at least.
func timesPage(b []byte, times []uint64) []byte {
	b = binary.AppendUvarint(b, timesPerBlock)
	b = binary.AppendUvarint(b, timesPerBlock/timesPerPart)
	b = binary.AppendUvarint(b, uint64(len(times)))
	b = binary.AppendVarint(b, int64(times[0]))
	last := times[0]
	for times = times[1:]; len(times) > 0; {
		n := min(len(times), timesPerBlock)
		b = timesBlock(b, last, times[:n])
		last, times = times[n-1], times[n:]
	}
	return b
}

// timesBlock appends a block of times behind last.
func timesBlock(b []byte, last uint64, times []uint64) []byte {
	var more [timesPerBlock]uint64 // what each is more than the one before
	least := int64(times[0] - last)
	for i, t := range times[:min(len(times), len(more))] {
		d := t - last
		more[i], last = d, t
		if int64(d) < least {
			least = int64(d)
		}
	}
	b = binary.AppendVarint(b, least)
	b = append(b, 0, 0, 0, 0)
	at := len(b) - timesPerBlock/timesPerPart
	for n := 0; n < len(times); n += timesPerPart {
		part, all := (*[timesPerPart]uint64)(more[n:]), uint64(0)
		of := part[:min(len(times)-n, timesPerPart)]
		for i, d := range of {
			d -= uint64(least)
			of[i] = d
			all |= d
		}
		w := bits.Len64(all)
		if b[at] = byte(w); w > 0 {
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
