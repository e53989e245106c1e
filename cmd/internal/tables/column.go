package tables

import (
	"encoding/binary"
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

	// Of calls. Where a column is tight, few values come again and again: its numbers have few bits, or runs
	// in place of the same one.
	tight bool

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
