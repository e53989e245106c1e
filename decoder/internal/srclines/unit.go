package srclines

import (
	"cmp"
	"debug/dwarf"
	"slices"
	"sort"
)

// unit is the lines and functions of one unit.
type unit struct {
	off    dwarf.Offset
	rows   []row // by address
	files  []string
	scopes []scope
	levels [][]span // by depth: functions, then what is inlined in them
	bytes  int64    // that strings take
}

// row is a line from an address on.
type row struct {
	addr uint64
	file int32 // -1: the line ends here
	line int32
}

// scope is a function, or one that was inlined.
type scope struct {
	parent   int32 // -1: a function
	callFile int32
	callLine int32
	name     string
}

// span is addresses of a scope.
type span struct {
	lo, hi uint64
	scope  int32
}

// size is what u takes, bytes.
func (u *unit) size() int64 {
	n := int64(len(u.rows)*16+len(u.scopes)*32) + u.bytes
	for _, l := range u.levels {
		n += int64(len(l) * 24)
	}
	return n
}

// Limits of one unit.
const (
	maxRows   = 1 << 24
	maxScopes = 1 << 22
	maxLevels = 64
)

// readUnit reads the unit whose root entry lies at off, as far as it is whole.
func (l *Lines) readUnit(off dwarf.Offset) (u *unit) {
	u = &unit{off: off}
	func() {
		var broken error
		defer guarded(&broken)
		l.readRows(u)
	}()
	func() {
		var broken error
		defer guarded(&broken)
		l.readScopes(u)
	}()
	slices.SortStableFunc(u.rows, func(a, b row) int {
		if a.addr != b.addr {
			return cmp.Compare(a.addr, b.addr)
		}
		return cmp.Compare(min(a.file, 0), min(b.file, 0)) // an end before what begins there
	})
	for _, s := range u.levels {
		slices.SortStableFunc(s, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	}
	return u
}

// root returns a reader behind the root entry of u, and that.
func (l *Lines) root(u *unit) (*dwarf.Reader, *dwarf.Entry) {
	r := l.data.Reader()
	r.Seek(u.off)
	e, err := r.Next()
	if err != nil {
		return r, nil
	}
	return r, e
}

// readRows reads the line table.
func (l *Lines) readRows(u *unit) {
	_, e := l.root(u)
	if e == nil {
		return
	}
	off, listed := e.Val(dwarf.AttrStmtList).(int64)
	if !listed {
		return
	}
	dir, _ := e.Val(dwarf.AttrCompDir).(string)
	names, err := l.fileNames(off, dir)
	if err != nil {
		return
	}
	lr, err := l.data.LineReader(e)
	if err != nil || lr == nil {
		return
	}
	index := map[*dwarf.LineFile]int32{}
	for i, f := range lr.Files() {
		name := ""
		if f != nil {
			name = f.Name
			index[f] = int32(i)
		}
		if i < len(names) {
			name = names[i]
		}
		u.files = append(u.files, name)
		u.bytes += int64(len(name)) + 32
	}
	var x dwarf.LineEntry
	for len(u.rows) < maxRows && lr.Next(&x) == nil {
		r := row{x.Address, -1, int32(x.Line)}
		if !x.EndSequence {
			i, known := index[x.File]
			if !known && x.File != nil {
				i = int32(len(u.files))
				index[x.File] = i
				u.files = append(u.files, x.File.Name)
			}
			r.file = i
		}
		u.rows = append(u.rows, r)
	}
}

// readScopes reads the functions, and what was inlined in them.
func (l *Lines) readScopes(u *unit) {
	r, e := l.root(u)
	if e == nil || !e.Children {
		return
	}
	type level struct{ scope, depth int32 }
	stack := []level{{-1, -1}} // of entries with children
	for len(stack) > 0 && len(u.scopes) < maxScopes {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		if e.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		in := stack[len(stack)-1]
		switch e.Tag {
		case dwarf.TagSubprogram:
			in = level{l.addScope(u, e, -1, 0), 0}
		case dwarf.TagInlinedSubroutine:
			if in.depth >= 0 && in.depth < maxLevels {
				in = level{l.addScope(u, e, in.scope, in.depth+1), in.depth + 1}
			}
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagArrayType, dwarf.TagSubroutineType:
			if _, sibling := e.Val(dwarf.AttrSibling).(dwarf.Offset); sibling && e.Children && e.Tag != dwarf.TagStructType && e.Tag != dwarf.TagClassType {
				r.SkipChildren()
				continue
			}
		}
		if e.Children {
			stack = append(stack, in)
		}
	}
}

// addScope takes a function, or one that was inlined, and returns its index.
func (l *Lines) addScope(u *unit, e *dwarf.Entry, parent, depth int32) int32 {
	ranges, err := l.data.Ranges(e)
	if err != nil || len(ranges) == 0 {
		return parent
	}
	s := scope{parent: parent, callFile: -1, name: l.nameOf(e)}
	u.bytes += int64(len(s.name))
	if depth > 0 {
		if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
			s.callFile = int32(n)
		}
		if n, ok := e.Val(dwarf.AttrCallLine).(int64); ok {
			s.callLine = int32(n)
		}
	}
	i := int32(len(u.scopes))
	u.scopes = append(u.scopes, s)
	for int(depth) >= len(u.levels) {
		u.levels = append(u.levels, nil)
	}
	for _, x := range ranges {
		if x[0] < x[1] {
			u.levels[depth] = append(u.levels[depth], span{x[0], x[1], i})
		}
	}
	return i
}

// maxOrigins bounds the chain of entries that a name is looked up in.
const maxOrigins = 8

// attrLinkage is DW_AT_MIPS_linkage_name, which compilers wrote before DWARF 4.
const attrLinkage = dwarf.Attr(0x2007)

// nameOf returns the name of a function: the linker's if it is known.
func (l *Lines) nameOf(e *dwarf.Entry) string {
	plain := ""
	for n := 0; e != nil && n < maxOrigins; n++ {
		for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, attrLinkage} {
			if s, ok := e.Val(a).(string); ok && s != "" {
				return s
			}
		}
		if s, ok := e.Val(dwarf.AttrName).(string); ok && plain == "" {
			plain = s
		}
		off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			if off, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset); !ok {
				break
			}
		}
		r := l.data.Reader()
		r.Seek(off)
		next, err := r.Next()
		if err != nil {
			break
		}
		e = next
	}
	return plain
}

// at returns the places of the code at addr, the innermost first; nil if u has none.
func (u *unit) at(addr uint64) []Frame {
	place := Frame{}
	i := sort.Search(len(u.rows), func(i int) bool { return u.rows[i].addr > addr }) - 1
	if i >= 0 && u.rows[i].file >= 0 {
		place.File, place.Line = u.file(u.rows[i].file), int(u.rows[i].line)
	}
	chain := make([]int32, 0, 4)
	parent := int32(-1)
	for _, spans := range u.levels {
		s := u.within(spans, addr, parent)
		if s < 0 {
			break
		}
		chain = append(chain, s)
		parent = s
	}
	if len(chain) == 0 {
		if place.File == "" {
			return nil
		}
		return []Frame{place}
	}
	frames := make([]Frame, 0, len(chain))
	for i := len(chain) - 1; i >= 0; i-- {
		s := &u.scopes[chain[i]]
		place.Func = s.name
		frames = append(frames, place)
		place = Frame{File: u.file(s.callFile), Line: int(s.callLine)}
	}
	return frames
}

// maxSpans bounds how many spans of one depth are looked at.
const maxSpans = 16

// within returns the scope in spans that holds addr inside of parent, -1 if there is none.
func (u *unit) within(spans []span, addr uint64, parent int32) int32 {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].lo > addr }) - 1
	for n := 0; i >= 0 && n < maxSpans; i, n = i-1, n+1 {
		if s := &spans[i]; addr < s.hi && u.scopes[s.scope].parent == parent {
			return s.scope
		}
	}
	return -1
}

// file returns the name of a file of the unit.
func (u *unit) file(i int32) string {
	if i < 0 || int(i) >= len(u.files) {
		return ""
	}
	return u.files[i]
}
