package tables

import (
	"encoding/binary"
	"slices"
	"strings"
)

// column is a column of a row group that is filled: the rows whose value is not that of the row
// before. Values have numbers, and stand in a dictionary.
//
// Most columns of calls have no changes: key says which rows have which value. One of times has
// neither, nor a dictionary.
type column struct {
	kind    Kind
	times   *times // nil: it is no column of times
	last    Value  // of the row before
	changes []change

	// The dictionary of numbers. One more than its index is in small, where a number is small,
	// else in slots by a hash. So it is 0 for the last of 1<<16 numbers, behind which none is asked for.
	numbers []uint64
	small   *[smallNumbers]uint16
	slots   []uint16

	// The dictionary of texts as its page has it, their numbers, and those asked for last, by
	// the hint that came with them.
	texts  []byte
	byText map[string]uint32
	hinted []hinted

	key   *key
	ids   *numbers // the key's
	lut   []uint16 // by the key's numbers: those of the values; empty: they are the same
	mixed bool     // they are not
}

// change is a row, and the number of the value that it has, and those behind it.
type change struct{ row, id uint32 }

// smallNumbers is how many numbers are small, from -1 on.
const smallNumbers = 1024

// hinted is a text that came with a hint.
type hinted struct {
	s     string
	id    uint32
	known bool
}

// hintBits says how many texts of a column are found without a search, as a power of two.
const hintBits = 12

// forget empties c and keeps its memory.
func (c *column) forget() {
	c.changes, c.numbers, c.texts, c.last = c.changes[:0], c.numbers[:0], c.texts[:0], Value{}
	c.lut, c.mixed = c.lut[:0], false
	if c.times != nil {
		c.times.clears()
	}
	if c.small != nil {
		clear(c.small[:])
	}
	clear(c.slots)
	clear(c.byText)
	clear(c.hinted)
}

// distinct returns how many values differ.
func (c *column) distinct() int {
	if c.kind == Text {
		return len(c.byText)
	}
	return len(c.numbers)
}

// begin makes c ready for its first row.
func (c *column) begin(kind Kind) {
	switch c.kind = kind; kind {
	case Time:
		c.times = new(times)
	case Text:
		c.byText, c.hinted = map[string]uint32{}, make([]hinted, 1<<hintBits)
	default:
		c.small = new([smallNumbers]uint16)
		c.grow()
	}
}

// changed notes that a row has the value with a number.
func (c *column) changed(row int, id uint32) {
	if n := len(c.changes); n == 0 || c.changes[n-1].id != id {
		c.changes = append(c.changes, change{uint32(row), id})
	}
}

// runs appends the numbers of the values of all rows to b as RLE_DICTIONARY has them: the width, then
// runs. The width is whole bytes. That is more than the numbers need, but zstd finds in them what came
// before, and they need not be shifted. A run is one number that comes again and again, or numbers one
// behind the other, up to a multiple of eight. It may write over scratch, and returns it.
func (c *column) runs(b []byte, scratch []uint16, rows int) ([]byte, []uint16) {
	width := widthOf(c.distinct())
	b = append(b, byte(8*width))
	scratch = scratch[:0]
	for i, x := range c.changes {
		n := rows - int(x.row)
		if i+1 < len(c.changes) {
			n = int(c.changes[i+1].row) - int(x.row)
		}
		for ; n > 0 && (len(scratch)%8 > 0 || n < 8); n-- {
			scratch = append(scratch, uint16(x.id))
		}
		if n > 0 {
			b = alikeRun(packed(b, scratch, width), uint16(x.id), n, width)
			scratch = scratch[:0]
		}
	}
	return packed(b, scratch, width), scratch
}

// hash returns where the search for n begins, in a table of so many slots: a power of two.
func hash(n uint64, slots int) uint64 { return (n * 0x9e3779b97f4a7c15) >> 32 & uint64(slots-1) }

// takeNumber adds a number that is not that of the row before.
func (c *column) takeNumber(row int, n uint64) {
	c.last.N = n
	c.changed(row, uint32(c.find(n)))
}

// find returns the number of a number.
func (c *column) find(n uint64) uint16 {
	if n+1 < smallNumbers {
		id := &c.small[n+1]
		if *id == 0 {
			c.numbers = append(c.numbers, n)
			*id = uint16(len(c.numbers))
		}
		return *id - 1
	}
	numbers, slots, mask := c.numbers, c.slots, uint64(len(c.slots)-1)
	i := hash(n, len(slots))
	for ; slots[i&mask] != 0; i++ {
		if id := slots[i&mask] - 1; numbers[id] == n {
			return id
		}
	}
	if 2*len(numbers) >= len(slots) {
		c.grow()
		return c.find(n)
	}
	c.numbers = append(numbers, n)
	slots[i&mask] = uint16(len(c.numbers))
	return uint16(len(c.numbers) - 1)
}

// grow makes room for more numbers.
func (c *column) grow() {
	c.slots = make([]uint16, max(64, 2*len(c.slots)))
	mask := uint64(len(c.slots) - 1)
	for id, n := range c.numbers {
		if n+1 < smallNumbers {
			continue
		}
		i := hash(n, len(c.slots))
		for c.slots[i&mask] != 0 {
			i++
		}
		c.slots[i&mask] = uint16(id + 1)
	}
}

// takeText adds a text that is not that of the row before.
func (c *column) takeText(row int, v *Value) {
	c.last.S = v.S
	h := &c.hinted[hash(v.N, 1<<hintBits)]
	if !h.known || h.s != v.S {
		*h = hinted{v.S, c.idOf(v.S), true}
	}
	c.changed(row, h.id)
}

// idOf returns the number of a text.
func (c *column) idOf(s string) uint32 {
	id, ok := c.byText[s]
	if !ok {
		id = uint32(len(c.byText))
		c.byText[s] = id
		s = strings.ToValidUTF8(s, "\uFFFD") // as readers ask; names of damaged files may be anything
		c.texts = append(binary.LittleEndian.AppendUint32(c.texts, uint32(len(s))), s...)
	}
	return id
}

// dictionary appends the values to b as a PLAIN page has them.
func (c *column) dictionary(b []byte) []byte {
	if c.kind == Text {
		return append(b, c.texts...)
	}
	for _, n := range c.numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// widthOf returns how many bytes a number has, of so many.
func widthOf(distinct int) int {
	if distinct > 1<<8 {
		return 2
	}
	return 1
}

// keyed appends the numbers that c, of calls, has in rows, as runs does: from one up to another. They are
// one run. It may write over scratch, and returns it.
func (c *column) keyed(b []byte, scratch []uint16, from, to int) ([]byte, []uint16) {
	distinct, ids, rows := c.distinct(), c.ids[from:to], to-from
	width := widthOf(distinct)
	b = append(b, byte(8*width))
	if distinct == 1 {
		return alikeRun(b, 0, rows, width), scratch
	}
	if width == 2 || !c.mixed {
		if c.mixed {
			scratch = c.mapped(scratch[:0], ids)
			ids = scratch
		}
		return packed(b, ids, width), scratch
	}
	var small [1 << 8]byte // of the key's first numbers, which mostly are all
	for i, id := range c.lut[:min(len(c.lut), len(small))] {
		small[i] = byte(id)
	}
	b, room := packable(b, rows, 1)
	room = room[:len(ids)]
	for i, id := range ids {
		room[i] = small[byte(id)]
	}
	for i := 0; len(c.lut) > len(small) && i < len(ids); i++ {
		room[i] = byte(c.lut[ids[i]])
	}
	return b, scratch
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

// packed appends a run of ids.
func packed(b []byte, ids []uint16, width int) []byte {
	if len(ids) == 0 {
		return b
	}
	b, to := packable(b, len(ids), width)
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
func packable(b []byte, n, width int) (all, to []byte) {
	groups := (n + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	at, end := len(b), len(b)+8*groups*width
	b = slices.Grow(b, end-at)[:end]
	clear(b[at+n*width:])
	return b, b[at:]
}
