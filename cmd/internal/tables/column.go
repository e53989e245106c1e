package tables

import "encoding/binary"

// column is a column of a row group that is filled: numbers of its values, which stand in a
// dictionary.
type column struct {
	text bool
	ids  []uint32

	// The value of the row before.
	last   Value
	lastID uint32

	// The dictionary of numbers, and one more than their numbers, by a hash.
	numbers []uint64
	slots   []uint32

	// The dictionary of texts as its page has it, their numbers, and those asked for last, by
	// the hint that came with them.
	texts  []byte
	byText map[string]uint32
	hinted []hinted
}

// hinted is a text that came with a hint.
type hinted struct {
	s     string
	id    uint32
	known bool
}

// hintBits says how many texts of a column are found without a search, as a power of two.
const hintBits = 12

// reset empties c and keeps its memory.
func (c *column) reset() {
	c.ids, c.numbers, c.texts, c.last, c.lastID = c.ids[:0], c.numbers[:0], c.texts[:0], Value{}, 0
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

// add adds the value with a number.
func (c *column) add(id uint32) {
	if c.ids == nil {
		c.ids = make([]uint32, 0, rowsPerGroup)
	}
	c.ids, c.lastID = append(c.ids, id), id
}

// hash returns where the search for n begins, in a table of so many slots: a power of two.
func hash(n uint64, slots int) uint64 { return (n * 0x9e3779b97f4a7c15) >> 32 & uint64(slots-1) }

// addNumber adds a number.
func (c *column) addNumber(n uint64) {
	if n == c.last.N && len(c.ids) > 0 {
		c.ids = append(c.ids, c.lastID)
		return
	}
	c.last.N = n
	if 2*len(c.numbers) >= len(c.slots) {
		c.grow()
	}
	for i := hash(n, len(c.slots)); ; i = (i + 1) & uint64(len(c.slots)-1) {
		switch id := c.slots[i]; {
		case id == 0:
			c.numbers = append(c.numbers, n)
			c.slots[i] = uint32(len(c.numbers))
			c.add(uint32(len(c.numbers) - 1))
			return
		case c.numbers[id-1] == n:
			c.add(id - 1)
			return
		}
	}
}

// grow makes room for more numbers.
func (c *column) grow() {
	c.slots = make([]uint32, max(64, 2*len(c.slots)))
	for id, n := range c.numbers {
		i := hash(n, len(c.slots))
		for c.slots[i] != 0 {
			i = (i + 1) & uint64(len(c.slots)-1)
		}
		c.slots[i] = uint32(id + 1)
	}
}

// addText adds a text.
func (c *column) addText(v *Value) {
	if v.S == c.last.S && len(c.ids) > 0 {
		c.ids = append(c.ids, c.lastID)
		return
	}
	c.last.S = v.S
	if c.byText == nil {
		c.byText, c.hinted = map[string]uint32{}, make([]hinted, 1<<hintBits)
	}
	h := &c.hinted[hash(v.N, 1<<hintBits)]
	if !h.known || h.s != v.S {
		*h = hinted{v.S, c.idOf(v.S), true}
	}
	c.add(h.id)
}

// idOf returns the number of a text.
func (c *column) idOf(s string) uint32 {
	id, ok := c.byText[s]
	if !ok {
		id = uint32(len(c.byText))
		c.byText[s] = id
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
