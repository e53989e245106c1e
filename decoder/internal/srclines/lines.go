package srclines

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
)

// Frame is a place in the source: a line of a function.
type Frame struct {
	Func string // as the linker has it if that is known; "" if not
	File string // "" if that is not known
	Line int    // from 1; 0: not known
}

// Lines is the lines of one file. It may be used by many goroutines.
type Lines struct {
	mu    sync.Mutex
	data  *dwarf.Data
	order binary.ByteOrder

	line, lineStr, str []byte // sections, in which the names of files are

	units  []unitRange // by address
	limit  int64       // bytes that read units may take
	held   int64       // bytes
	recent []*unit     // those read, the last asked for last
	read   map[dwarf.Offset]*unit
	all    []dwarf.Offset // root entries of units
}

// unitRange is addresses lo <= a < hi of the unit whose root entry lies at off.
type unitRange struct {
	lo, hi uint64
	reach  uint64 // behind the last byte of all up to this
	off    dwarf.Offset
}

// errNone says that a file has no lines.
var errNone = errors.New("no .debug_info or .debug_line")

// New returns the lines that sections tell of, which section returns by their names
// without ".debug_"; nil for those that are missing. Units that were read take no more
// than limit bytes, but for the last. It fails if there are no lines.
func New(section func(name string) []byte, order binary.ByteOrder, limit int64) (l *Lines, err error) {
	defer guarded(&err)
	info, line, lineStr, str := section("info"), section("line"), section("line_str"), section("str")
	if len(info) == 0 || len(line) == 0 {
		return nil, errNone
	}
	d, err := dwarf.New(section("abbrev"), nil, nil, info, line, nil, section("ranges"), str)
	if err != nil {
		return nil, err
	}
	later := map[string][]byte{"line_str": lineStr}
	for _, name := range []string{"addr", "str_offsets", "rnglists"} {
		later[name] = section(name)
	}
	for name, b := range later {
		if len(b) > 0 {
			if err := d.AddSection(".debug_"+name, b); err != nil {
				return nil, err
			}
		}
	}
	l = &Lines{data: d, order: order, line: line, lineStr: lineStr, str: str, limit: limit, read: map[dwarf.Offset]*unit{}, all: roots(info, order)}
	l.index()
	return l, nil
}

// guarded makes an error of a panic.
func guarded(err *error) {
	if x := recover(); x != nil {
		*err = fmt.Errorf("broken DWARF: %v", x)
	}
}

// roots returns where the root entry of each unit of .debug_info lies (DWARF 5, section
// 7.5.1, "Unit Headers").
func roots(info []byte, order binary.ByteOrder) (list []dwarf.Offset) {
	for at := uint64(0); at+12 <= uint64(len(info)); {
		b := info[at:]
		size, word, head := uint64(order.Uint32(b)), uint64(4), uint64(4)
		if size == 0xffffffff {
			size, word, head = order.Uint64(b[4:]), 8, 12
		}
		if size > uint64(len(b))-head || size < 2 || uint64(len(b)) < head+4 {
			return list
		}
		version, kind := order.Uint16(b[head:]), b[head+2]
		root := head + 2 + word + 1
		if version >= 5 {
			root = head + 2 + 1 + 1 + word
			switch kind {
			case 4, 5: // DW_UT_skeleton, DW_UT_split_compile
				root += 8
			case 2, 6: // DW_UT_type, DW_UT_split_type
				root += 8 + word
			}
		}
		if version >= 2 && version <= 5 && root < head+size {
			list = append(list, dwarf.Offset(at+root))
		}
		at += head + size
	}
	return list
}

// index finds which unit has which addresses.
func (l *Lines) index() {
	for _, off := range l.all {
		l.indexUnit(off)
	}
	slices.SortFunc(l.units, func(a, b unitRange) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi)) })
	reach := uint64(0)
	for i := range l.units {
		reach = max(reach, l.units[i].hi)
		l.units[i].reach = reach
	}
}

// indexUnit takes the ranges of a unit. A unit that is broken has none.
func (l *Lines) indexUnit(off dwarf.Offset) {
	var broken error
	defer guarded(&broken)
	r := l.data.Reader()
	r.Seek(off)
	e, err := r.Next()
	if err != nil || e == nil || e.Tag != dwarf.TagCompileUnit && e.Tag != dwarf.TagSkeletonUnit {
		return
	}
	ranges, err := l.data.Ranges(e)
	if err != nil {
		return
	}
	if len(ranges) == 0 { // as perf inject makes them of a program's JIT
		ranges = l.sequences(off)
	}
	for _, x := range ranges {
		if x[0] < x[1] {
			l.units = append(l.units, unitRange{lo: x[0], hi: x[1], off: off})
		}
	}
}

// sequences returns the ranges of the line table of a unit that states none itself.
func (l *Lines) sequences(off dwarf.Offset) (list [][2]uint64) {
	u := &unit{off: off}
	l.readRows(u)
	first := -1
	for i := range u.rows {
		switch {
		case u.rows[i].file < 0 && first >= 0:
			list = append(list, [2]uint64{u.rows[first].addr, u.rows[i].addr})
			first = -1
		case u.rows[i].file >= 0 && first < 0:
			first = i
		}
	}
	return list
}

// maxUnits bounds how many units are looked at for one that has an address.
const maxUnits = 64

// At returns the places that the code at addr was made of: the line, then the calls
// inside of which it was inlined, the function itself last. nil if nothing is known.
func (l *Lines) At(addr uint64) []Frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := sort.Search(len(l.units), func(i int) bool { return l.units[i].lo > addr }) - 1
	for n := 0; i >= 0 && n < maxUnits && l.units[i].reach > addr; i, n = i-1, n+1 {
		if addr >= l.units[i].hi {
			continue
		}
		if f := l.unit(l.units[i].off).at(addr); f != nil {
			return f
		}
	}
	return nil
}

// unit returns the unit at off, which is read if it is not there.
func (l *Lines) unit(off dwarf.Offset) *unit {
	u := l.read[off]
	if u == nil {
		u = l.readUnit(off)
		l.read[off] = u
		l.held += u.size()
	} else if l.recent[len(l.recent)-1] == u {
		return u
	}
	l.recent = append(slices.DeleteFunc(l.recent, func(o *unit) bool { return o == u }), u)
	for len(l.recent) > 1 && l.held > l.limit {
		l.held -= l.recent[0].size()
		delete(l.read, l.recent[0].off)
		l.recent = l.recent[1:]
	}
	return u
}
