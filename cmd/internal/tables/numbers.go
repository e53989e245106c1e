package tables

import (
	"encoding/binary"
	"slices"
)

// The numbers of values as RLE_DICTIONARY has them (Encodings.md, "Run Length Encoding / Bit-Packing Hybrid"): the width of a
// number, then runs. A run is one number that comes again and again, or numbers one behind the other, up to a multiple of eight.

// widthOf returns how many bytes a number has, of so many.
func widthOf(distinct int) int {
	if distinct > 1<<8 {
		return 2
	}
	return 1
}

// keyed appends the numbers that c, of calls, has in rows, as runs does: from one up to another. They are
// one run, but for columns that are tight. It may write over scratch, and returns it.
func (c *column) keyed(b []byte, scratch []uint16, from, to int) ([]byte, []uint16) {
	distinct, ids := c.distinct(), c.ids[from:to]
	width := widthOf(distinct)
	switch {
	case distinct == 1:
		return alikeRun(append(b, 8), 0, len(ids), 1), scratch
	case c.tight && len(c.lut) > 0 && distinct <= 1<<maxFewBits:
		return c.few(b, scratch, ids)
	case c.mixed && width == 2:
		scratch = c.mapped(scratch[:0], ids)
		return packed(append(b, 16), scratch, 2), scratch
	case c.mixed:
		small := c.small256()
		b, room := packable(append(b, 8), len(ids), 8)
		room = room[:len(ids)]
		for i, id := range ids {
			room[i] = small[byte(id)]
		}
		for i := 0; len(c.lut) > len(small) && i < len(ids); i++ {
			room[i] = byte(c.lut[ids[i]])
		}
		return b, scratch
	}
	b = append(b, byte(8*width))
	at := len(b)
	if b = packed(b, ids, width); c.tight {
		b = withRuns(b, at, len(ids), width)
	}
	return b, scratch
}

// small256 returns the numbers of c's values for its key's first numbers, which mostly are all. None is above 255.
func (c *column) small256() (small [1 << 8]byte) {
	for i, id := range c.lut[:min(len(c.lut), len(small))] {
		small[i] = byte(id)
	}
	return small
}

// maxFewBits is how many bits few's numbers have at most.
const maxFewBits = 4

// few is keyed for few values: numbers have 1, 2 or 4 bits.
func (c *column) few(b []byte, scratch, ids []uint16) ([]byte, []uint16) {
	small, width := c.small256(), 1
	for c.distinct() > 1<<width {
		width *= 2
	}
	if len(c.lut) > len(small) {
		scratch = c.mapped(scratch[:0], ids)
		ids = scratch
		for i := range small {
			small[i] = byte(i)
		}
	}
	b, room := packable(append(b, byte(width)), len(ids), width)
	for ; len(ids) >= 8; ids, room = ids[8:], room[width:] {
		putEight(room, &small, (*[8]uint16)(ids), width)
	}
	if len(ids) > 0 {
		var last [8]uint16 // what is behind the last number does not count
		copy(last[:], ids)
		putEight(room, &small, &last, width)
	}
	return b, scratch
}

// putEight writes eight numbers of 1, 2 or 4 bits.
func putEight(to []byte, small *[1 << 8]byte, ids *[8]uint16, width int) {
	w := uint(width) & 7
	v := uint32(small[byte(ids[0])]) | uint32(small[byte(ids[1])])<<w | uint32(small[byte(ids[2])])<<(2*w) | uint32(small[byte(ids[3])])<<(3*w) |
		uint32(small[byte(ids[4])])<<(4*w) | uint32(small[byte(ids[5])])<<(5*w) | uint32(small[byte(ids[6])])<<(6*w) | uint32(small[byte(ids[7])])<<(7*w)
	switch width {
	case 1:
		to[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(to, uint16(v))
	default:
		binary.LittleEndian.PutUint32(to, v)
	}
}

// mapped appends what numbers of a key are as numbers of c's values.
func (c *column) mapped(list, ids []uint16) []uint16 {
	for _, id := range ids {
		list = append(list, c.lut[id])
	}
	return list
}

// alikeRun appends a run of n times id.
func alikeRun(b []byte, id uint16, n, width int) []byte {
	b = append(binary.AppendUvarint(b, uint64(n)<<1), byte(id))
	if width == 2 {
		b = append(b, byte(id>>8))
	}
	return b
}

// packed appends a run of ids, with whole bytes.
func packed(b []byte, ids []uint16, width int) []byte {
	if len(ids) == 0 {
		return b
	}
	b, to := packable(b, len(ids), 8*width)
	if width == 1 {
		to = to[:len(ids)]
		for len(ids) >= 8 && len(to) >= 8 {
			x := (*[8]uint16)(ids)
			binary.LittleEndian.PutUint64(to, uint64(x[0])|uint64(x[1])<<8|uint64(x[2])<<16|uint64(x[3])<<24|
				uint64(x[4])<<32|uint64(x[5])<<40|uint64(x[6])<<48|uint64(x[7])<<56) // none is above 255
			ids, to = ids[8:], to[8:]
		}
		for i, id := range ids {
			to[i] = byte(id)
		}
		return b
	}
	for len(ids) >= 4 && len(to) >= 8 {
		binary.LittleEndian.PutUint64(to, uint64(ids[0])|uint64(ids[1])<<16|uint64(ids[2])<<32|uint64(ids[3])<<48)
		ids, to = ids[4:], to[8:]
	}
	for i, id := range ids {
		binary.LittleEndian.PutUint16(to[2*i:], id)
	}
	return b
}

// packable appends the head of a run of n numbers and room for them, up to a multiple of eight. What
// is behind them is 0.
func packable(b []byte, n, bits int) (all, to []byte) {
	groups := (n + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	at, end := len(b), len(b)+groups*bits
	b = slices.Grow(b, end-at)[:end]
	clear(b[at+n*bits/8:])
	return b, b[at:]
}

// withRuns makes what packed appended behind at shorter, n numbers: eight of one number begin a run of it, as long as it comes. In
// what a run saves, its head has room, that of the numbers behind it, and what fills these up to eights. So it is done in place. Runs end
// where the number does, so that what comes again behind them looks the same again.
func withRuns(b []byte, at, n, width int) []byte {
	_, head := binary.Uvarint(b[at:])
	from, eight := at+head, 8*width
	to, began, end := at, from, from+n*width // began: of numbers that are in no run
	for from+eight <= end {
		x := binary.LittleEndian.Uint64(b[from:])
		if !alike(x, b[from+eight-8:], width) {
			from += eight
			continue
		}
		to = moved(b, to, began, from, eight)
		began = from
		for from += eight; from+8 <= end && binary.LittleEndian.Uint64(b[from:]) == x; {
			from += 8
		}
		for from+width <= end && b[from] == byte(x) && b[from+width-1] == byte(x>>(8*width-8)) {
			from += width
		}
		to += binary.PutUvarint(b[to:], uint64((from-began)/width)<<1)
		for i := range width {
			b[to+i] = byte(x >> (8 * i))
		}
		to, began = to+width, from
	}
	return b[:moved(b, to, began, end, eight)]
}

// alike reports whether eight numbers are one number again and again: x is their first 8 bytes, last the last ones.
func alike(x uint64, last []byte, width int) bool {
	if width == 1 {
		return x == x&0xff*0x0101010101010101
	}
	return x == x&0xffff*0x0001000100010001 && x == binary.LittleEndian.Uint64(last)
}

// moved writes the numbers b[from:end] as a run to b[to:], and returns where that ends.
func moved(b []byte, to, from, end, eight int) int {
	if from == end {
		return to
	}
	eights := (end - from + eight - 1) / eight
	to += binary.PutUvarint(b[to:], uint64(eights)<<1|1)
	n := copy(b[to:], b[from:end])
	clear(b[to+n : to+eights*eight])
	return to + eights*eight
}
