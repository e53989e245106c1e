package tables

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// callTaker is an Encoder that takes rows of calls as calls: there are so many of them.
type callTaker interface {
	// takesCalls returns what takes one. It calls fail where calls can no longer be written.
	takesCalls(fail func(error)) func(*calls.Call)
}

// callsPerGroup is how many rows a row group of calls has at most. It is more than others have, as
// dictionaries are a part of the work.
const callsPerGroup = 4 * rowsPerPage

// A row group is looked at when as many calls wait as there is room for, so it has a multiple of these.
var _ = [1]struct{}{}[callsPerGroup%maxWaiting]

// key is what columns of calls hang on: where it is the same, so are they.
type key struct {
	ids    *numbers // its number, by row
	known  int      // numbers that were given; 0 where the key is a column
	plain  int      // bytes of the pages below before packing
	packed []byte   // the data pages of ids, once a column had them
}

// numbers is a number for each row.
type numbers [callsPerGroup]uint16

// maxNumbers is how many values of a column, or of a key, a row group may have before it takes the
// calls that wait: numbers have 16 bits.
const maxNumbers = 1<<16 - maxWaiting

// The keys. Those behind numShared are a column each.
const (
	keyFunction = iota
	keyWay      // entered, ended and verdict
	numShared
)

// Columns of calls that are keys themselves.
const (
	columnTime      = 0
	columnTimeMax   = 1
	columnStream    = 2
	columnCPU       = 3
	columnTID       = 4
	columnComm      = 5
	columnEnd       = 6
	columnEndMax    = 7
	columnCaller    = 11
	columnDepth     = 12
	columnTotal     = 15
	columnSelf      = 16
	columnInsns     = 17
	columnSelfInsns = 18
	numColumns      = 20
)

// shared is the keys of the other columns of calls.
var shared = map[int]int{8: keyFunction, 9: keyFunction, 10: keyFunction, 13: keyWay, 14: keyWay, 19: keyWay}

// numRaw is how many columns of calls wait in callRows.raw, and rawColumns which: times first.
const (
	numRaw      = len(rawColumns)
	numRawTimes = 4
)

var rawColumns = [...]int{columnTime, columnTimeMax, columnEnd, columnEndMax, columnCaller, columnDepth, columnTotal, columnSelf, columnInsns, columnSelfInsns}

// maxWaiting is how many calls wait at most.
const maxWaiting = 256

// waitingNumbers is what calls that wait have in a column. It is longer than that, as values of one call would
// share a set of the processor's cache if it were a power of two.
type waitingNumbers [maxWaiting + 8]uint64

// callRows is what a row group of calls keeps besides columns. Calls wait until there are many. Then each
// column takes theirs in a loop.
type callRows struct {
	raw       [numRaw]waitingNumbers
	keyed     [numShared][maxWaiting]uint16 // numbers of the keys that columns share
	waiting   int                           // of raw and keyed
	columns   *[numColumns]column
	keys      []key           // those that are shared, and one for each column
	functions []uint32        // by Call.Function: one more than the key's number; 0: it has none
	ways      [1 << 12]uint32 // the same, by wayOf
	in        ranIn           // of the row before
	crowded   bool            // there is hardly a number left: no more rows
}

// ranIn is where and on whose behalf a call ran.
type ranIn struct {
	stream *decoder.Stream
	tid    int32
	comm   string
}

// wayOf returns how c began and ended, and how sure it is, as a number below 1<<12.
func wayOf(c *calls.Call) int { return int(c.How)&15 | int(c.Ended)&15<<4 | int(c.Verdict)&15<<8 }

// newCallRows makes room for a row group of calls.
func newCallRows(columns []column) *callRows {
	x := &callRows{columns: (*[numColumns]column)(columns), keys: make([]key, numShared+len(columns))}
	for i := range columns {
		if Tables[tableCalls].Columns[i].Kind == Time || i >= columnStream && i <= columnComm {
			continue
		}
		k, ok := shared[i]
		if !ok {
			k = numShared + i
		}
		if columns[i].key = &x.keys[k]; x.keys[k].ids == nil {
			x.keys[k].ids = new(numbers)
		}
		columns[i].ids = x.keys[k].ids
	}
	return x
}

// empty empties x and keeps its memory.
func (x *callRows) empty() {
	x.waiting = 0
	for i := range x.keys {
		x.keys[i].known, x.keys[i].packed = 0, x.keys[i].packed[:0]
	}
	clear(x.functions)
	clear(x.ways[:])
	x.in, x.crowded = ranIn{}, false
}

// call adds a call, and reports whether as many wait as there is room for.
func (g *rowGroup) call(c *calls.Call) bool {
	x := g.calls
	if x.in.tid != c.TID || x.in.stream != c.Stream || x.in.comm != c.Comm {
		x.in = ranIn{c.Stream, c.TID, c.Comm}
		x.comesFrom(g.rows + x.waiting)
	}
	f := uint32(0)
	if n := c.Function; n < len(x.functions) {
		f = x.functions[n]
	}
	if f == 0 {
		f = g.comesTo(c)
	}
	way := &x.ways[wayOf(c)]
	if *way == 0 {
		*way = uint32(g.adds(keyWay, Value{S: c.How.String()}, Value{S: c.Ended.String()}, Value{S: c.Verdict.String()})) + 1
	}
	i := x.waiting & (maxWaiting - 1)
	x.keyed[keyFunction][i], x.keyed[keyWay][i] = uint16(f-1), uint16(*way-1)
	total, self, ok := c.Took()
	if !ok {
		total, self = math.MaxUint64, math.MaxUint64
	}
	raw := &x.raw
	raw[0][i], raw[1][i], raw[2][i], raw[3][i] = c.Begin.Lo, min(c.Begin.Hi, math.MaxInt64), c.End.Lo, min(c.End.Hi, math.MaxInt64)
	raw[4][i], raw[5][i], raw[6][i], raw[7][i], raw[8][i], raw[9][i] = c.From, uint64(c.Depth), total, self, c.Insns, c.Self
	x.waiting++
	return x.waiting == maxWaiting
}

// settle gives the calls that wait to their columns.
func (g *rowGroup) settle() {
	x := g.calls
	first, end := g.rows, g.rows+x.waiting
	for i, k := range rawColumns {
		c, raw := &x.columns[k], x.raw[i][:x.waiting]
		switch {
		case i < numRawTimes:
			c.times.takeTimes(raw)
		case c.kind == Addr:
			c.haveAddresses(c.ids[first:end], raw)
		default:
			c.have(c.ids[first:end], raw)
		}
	}
	for k := range x.keyed {
		copy(x.keys[k].ids[first:end], x.keyed[k][:])
	}
	g.rows, x.waiting = end, 0
	for i := range x.columns {
		x.crowded = x.crowded || x.columns[i].distinct() > maxNumbers
	}
	for i := range x.keys {
		x.crowded = x.crowded || x.keys[i].known > maxNumbers
	}
}

// have says which numbers c, of calls, has in rows. Most are small.
func (c *column) have(ids []uint16, values []uint64) {
	small := c.small
	ids = ids[:len(values)]
	for k, n := range values {
		if n++; n < smallNumbers {
			if id := small[n]; id > 0 {
				ids[k] = id - 1
				continue
			}
		}
		ids[k] = c.find(n - 1)
	}
}

// haveAddresses is have, where most are not small.
func (c *column) haveAddresses(ids []uint16, values []uint64) {
	numbers, slots := c.numbers, c.slots
	ids = ids[:len(values)]
	for k, n := range values {
		if id := int(slots[hash(n, len(slots))]) - 1; id >= 0 && id < len(numbers) && numbers[id] == n {
			ids[k] = uint16(id)
			continue
		}
		ids[k] = c.find(n)
		numbers, slots = c.numbers, c.slots
	}
}

// adds adds what a key's next number stands for, and returns it: values are those of the key's
// columns in their order.
func (g *rowGroup) adds(k int, values ...Value) uint16 {
	for i := range g.columns {
		if g.columns[i].key != &g.calls.keys[k] {
			continue
		}
		c, v := &g.columns[i], values[0]
		values = values[1:]
		id := uint16(0)
		if c.kind == Text {
			id = uint16(c.idOf(v.S))
		} else {
			id = c.find(v.N)
		}
		c.mixed = c.mixed || int(id) != len(c.lut)
		c.lut = append(c.lut, id)
	}
	n := &g.calls.keys[k].known
	*n++
	return uint16(*n - 1)
}

// comesFrom notes where rows from one on come from.
func (x *callRows) comesFrom(row int) {
	for i, v := range [...]Value{{S: x.in.stream.Name}, signed(x.in.stream.CPU), signed(x.in.tid), {S: x.in.comm}} {
		c := &x.columns[columnStream+i]
		if id := uint32(0); c.kind == Text {
			id = c.idOf(v.S)
			c.changed(row, id)
		} else {
			c.changed(row, uint32(c.find(v.N)))
		}
	}
}

// signed returns a value that is a number.
func signed(n int32) Value { return Value{N: uint64(int64(n))} }

// comesTo gives the function of c a number, and returns one more than that.
func (g *rowGroup) comesTo(c *calls.Call) uint32 {
	x := g.calls
	for len(x.functions) <= c.Function {
		x.functions = append(x.functions, 0)
	}
	n := uint32(g.adds(keyFunction, Value{S: c.Sym}, Value{S: c.File}, Value{N: c.Addr})) + 1
	x.functions[c.Function] = n
	return n
}
