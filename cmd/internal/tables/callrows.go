package tables

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// callTaker is an Encoder that takes rows of calls as the tree has them: there are so many of them.
type callTaker interface {
	// takesCalls takes rows of a tree and keeps them, maxWaiting each time but the last. It returns others, which
	// have none. The error says that calls can no longer be written.
	takesCalls(of *calls.Tree, rows *calls.Rows) (*calls.Rows, error)
}

// callsPerGroup is how many rows a row group of calls has at most. It is more than others have, as
// dictionaries are a part of the work.
const callsPerGroup = 4 * rowsPerPage

// A row group is looked at behind as many calls as come at once, so it has a multiple of these.
var _ = [1]struct{}{}[callsPerGroup%maxWaiting]

// naming is calls.Tree.Named, of functions that the tree came to.
type naming func(function uint32) (sym, file string, addr uint64)

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

// rawColumns is the columns of calls that come as numbers. The first numRawTimes are times.
const numRawTimes = 4

var rawColumns = [...]int{columnTime, columnTimeMax, columnEnd, columnEndMax, columnCaller, columnDepth, columnTotal, columnSelf, columnInsns, columnSelfInsns}

// maxWaiting is how many rows of calls come at once at most.
const maxWaiting = 256

// callRows is what a row group of calls keeps besides columns.
type callRows struct {
	columns   *[numColumns]column
	keys      []key           // those that are shared, and one for each column
	functions []uint32        // by Call.Function: one more than the key's number; 0: it has none
	ways      [1 << 12]uint32 // the same, by wayOf
	crowded   bool            // there is hardly a number left: no more rows
}

// wayOf returns how the call of a row began and ended, and how sure it is, as a number below 1<<12.
func wayOf(x *calls.Rows, i int) int {
	return int(x.How[i])&15 | int(x.Ended[i])&15<<4 | int(x.Verdict[i])&15<<8
}

// newCallRows makes room for a row group of calls.
func newCallRows(columns []column) *callRows {
	x := &callRows{columns: (*[numColumns]column)(columns), keys: make([]key, numShared+len(columns))}
	for i := range columns {
		if t := columns[i].times; t != nil {
			t.blocks = make([]byte, 0, 2*callsPerGroup) // mostly it is enough
		}
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
		columns[i].tight = k == keyWay || i == columnTotal || i == columnSelf
	}
	return x
}

// empty empties x and keeps its memory.
func (x *callRows) empty() {
	for i := range x.keys {
		x.keys[i].known, x.keys[i].packed = 0, x.keys[i].packed[:0]
	}
	clear(x.functions)
	clear(x.ways[:])
	x.crowded = false
}

// takes adds rows of calls: each column takes theirs in a loop.
func (g *rowGroup) takes(of naming, rows *calls.Rows) {
	x := g.calls
	first, end := g.rows, g.rows+rows.N
	functions, ways := x.keys[keyFunction].ids[first:end], x.keys[keyWay].ids[first:end]
	functions = functions[:len(ways)]
	last, latest := rows.Ran[0], uint64(0) // latest: bits of all upper bounds
	x.comesFrom(first, last.Stream, last.TID, last.Comm)
	for i := range ways {
		if i >= maxWaiting {
			break // there are no more: so what follows needs no checks
		}
		if ran := rows.Ran[i]; ran != last {
			x.comesFrom(first+i, ran.Stream, ran.TID, ran.Comm)
			last = ran
		}
		latest |= rows.BeginMax[i] | rows.EndMax[i]
		f := uint32(0)
		if n := int(rows.Function[i]); n < len(x.functions) {
			f = x.functions[n]
		}
		if f == 0 {
			f = g.comesTo(of, rows.Function[i])
		}
		way := &x.ways[wayOf(rows, i)]
		if *way == 0 {
			*way = uint32(g.adds(keyWay, Value{S: rows.How[i].String()}, Value{S: rows.Ended[i].String()}, Value{S: rows.Verdict[i].String()})) + 1
		}
		functions[i], ways[i] = uint16(f-1), uint16(*way-1)
	}
	for i := 0; latest > math.MaxInt64 && i < rows.N; i++ {
		rows.BeginMax[i], rows.EndMax[i] = min(rows.BeginMax[i], math.MaxInt64), min(rows.EndMax[i], math.MaxInt64)
	}
	raw := [...][]uint64{rows.Begin[:], rows.BeginMax[:], rows.End[:], rows.EndMax[:], rows.From[:], rows.Depth[:], rows.Total[:], rows.Own[:], rows.Insns[:], rows.Self[:]}
	for i, k := range rawColumns {
		c, list := &x.columns[k], raw[i][:rows.N]
		switch {
		case i < numRawTimes:
			c.times.takeTimes(list)
		case c.kind == Addr:
			c.haveAddresses(c.ids[first:end], list)
		default:
			c.have(c.ids[first:end], list)
		}
	}
	g.rows = end
	for i := range x.columns {
		x.crowded = x.crowded || x.columns[i].distinct() > maxNumbers
	}
	for i := range x.keys {
		x.crowded = x.crowded || x.keys[i].known > maxNumbers
	}
}

// have says which numbers c, of calls, has in rows. Most are small.
func (c *column) have(ids []uint16, values []uint64) {
	for ids = ids[:len(values)]; len(values) > 0; ids, values = ids[1:], values[1:] {
		n := smallOnes(ids, values, c.small)
		if ids, values = ids[n:], values[n:]; len(values) == 0 {
			return
		}
		ids[0] = c.find(values[0])
	}
}

// smallOnes is have for the values at the beginning that are small, and were met before. It returns how many these
// are. It calls nothing: so what the loop needs stays in registers.
func smallOnes(ids []uint16, values []uint64, small *[smallNumbers]uint16) int {
	ids = ids[:len(values)]
	for k, n := range values {
		if n++; n >= smallNumbers || small[n] == 0 {
			return k
		}
		ids[k] = small[n] - 1
	}
	return len(values)
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
func (x *callRows) comesFrom(row int, st *decoder.Stream, tid int32, comm string) {
	for i, v := range [...]Value{{S: st.Name}, signed(st.CPU), signed(tid), {S: comm}} {
		c := &x.columns[columnStream+i]
		if c.kind == Text {
			c.changed(row, c.idOf(v.S))
		} else {
			c.changed(row, uint32(c.find(v.N)))
		}
	}
}

// signed returns a value that is a number.
func signed(n int32) Value { return Value{N: uint64(int64(n))} }

// comesTo gives a function a number, and returns one more than that.
func (g *rowGroup) comesTo(of naming, function uint32) uint32 {
	x := g.calls
	for len(x.functions) <= int(function) {
		x.functions = append(x.functions, 0)
	}
	sym, file, addr := of(function)
	n := uint32(g.adds(keyFunction, Value{S: sym}, Value{S: file}, Value{N: addr})) + 1
	x.functions[function] = n
	return n
}
