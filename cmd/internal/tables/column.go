package tables

import (
	"encoding/binary"
	"strings"
)

// column is a column of a row group that is filled: the rows whose value is not that of the row
// before. Values have numbers, and stand in a dictionary.
type column struct {
	text    bool
	last    Value // of the row before
	changes []change

	// The dictionary of numbers. One more than its index is in small, where a number is small,
	// else in slots by a hash.
	numbers []uint64
	small   []uint32
	slots   []slot

	// The dictionary of texts as its page has it, their numbers, and those asked for last, by
	// the hint that came with them.
	texts  []byte
	byText map[string]uint32
	hinted []hinted
}

// change is a row, and the number of the value that it has, and those behind it.
type change struct{ row, id uint32 }

// slot is a number and one more than its index; 0: none is here.
type slot struct {
	n  uint64
	id uint32
}

// smallNumbers is how many numbers are small, from -1 on.
const smallNumbers = 4096

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
	clear(c.small)
	clear(c.slots)
	clear(c.byText)
	clear(c.hinted)
}

// distinct returns how many values differ.
func (c *column) distinct() int {
	if c.text {
		return len(c.byText)
	}
	return len(c.numbers)
}

// begin makes c ready for its first row.
func (c *column) begin(text bool) {
	if c.text = text; text {
		c.byText, c.hinted = map[string]uint32{}, make([]hinted, 1<<hintBits)
		return
	}
	c.small = make([]uint32, smallNumbers)
	c.grow()
}

// changed notes that a row has the value with a number.
func (c *column) changed(row int, id uint32) {
	c.changes = append(c.changes, change{uint32(row), id})
}

// expanded appends the numbers of the values of all rows to ids.
func (c *column) expanded(ids []uint32, rows int) []uint32 {
	for i, x := range c.changes {
		end := rows
		if i+1 < len(c.changes) {
			end = int(c.changes[i+1].row)
		}
		for range end - int(x.row) {
			ids = append(ids, x.id)
		}
	}
	return ids
}

// hash returns where the search for n begins, in a table of so many slots: a power of two.
func hash(n uint64, slots int) uint64 { return (n * 0x9e3779b97f4a7c15) >> 32 & uint64(slots-1) }

// takeNumber adds a number that is not that of the row before.
func (c *column) takeNumber(row int, n uint64) {
	c.last.N = n
	if n+1 < smallNumbers {
		id := &c.small[n+1]
		if *id == 0 {
			c.numbers = append(c.numbers, n)
			*id = uint32(len(c.numbers))
		}
		c.changed(row, *id-1)
		return
	}
	if 2*len(c.numbers) >= len(c.slots) {
		c.grow()
	}
	mask := uint64(len(c.slots) - 1)
	i := hash(n, len(c.slots))
	for c.slots[i&mask].id != 0 && c.slots[i&mask].n != n {
		i++
	}
	x := &c.slots[i&mask]
	if x.id == 0 {
		c.numbers = append(c.numbers, n)
		*x = slot{n, uint32(len(c.numbers))}
	}
	c.changed(row, x.id-1)
}

// grow makes room for more numbers.
func (c *column) grow() {
	c.slots = make([]slot, max(64, 2*len(c.slots)))
	mask := uint64(len(c.slots) - 1)
	for id, n := range c.numbers {
		if n+1 < smallNumbers {
			continue
		}
		i := hash(n, len(c.slots))
		for c.slots[i&mask].id != 0 {
			i++
		}
		c.slots[i&mask] = slot{n, uint32(id + 1)}
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
	if c.text {
		return append(b, c.texts...)
	}
	for _, n := range c.numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// packedNumbers appends numbers of width bits to b as RLE_DICTIONARY has them: the width, then
// runs. A run is one number that comes again and again, or numbers that are packed by bits,
// the lowest first, up to a multiple of eight.
func packedNumbers(b []byte, ids []uint32, width int) []byte {
	b = append(b, byte(width))
	from := 0 // of those that are to be packed
	for i := 0; i < len(ids); {
		n := alike(ids[i:])
		if n < 8 {
			i = min(i+8, len(ids))
			continue
		}
		b = packed(b, ids[from:i], width)
		b = binary.AppendUvarint(b, uint64(n)<<1)
		for v, k := ids[i], 0; k < width; k += 8 {
			b = append(b, byte(v>>k))
		}
		i += n
		from = i
	}
	return packed(b, ids[from:], width)
}

// alike returns how many of ids, from the first on, are the same.
func alike(ids []uint32) int {
	n := 1
	for n < len(ids) && ids[n] == ids[0] {
		n++
	}
	return n
}

// packed appends a run of ids that are packed by bits.
func packed(b []byte, ids []uint32, width int) []byte {
	if len(ids) == 0 {
		return b
	}
	groups := (len(ids) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	end := len(b) + groups*width
	word, have := uint64(0), 0
	for _, id := range ids {
		word |= uint64(id) << have
		if have += width; have >= 32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(word))
			word >>= 32
			have -= 32
		}
	}
	for len(b) < end {
		b = append(b, byte(word))
		word >>= 8
	}
	return b
}
