package elfnames

import (
	"cmp"
	"debug/elf"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Table is the names of a file's code, by the addresses that the file is linked to.
type Table struct {
	entries []entry // by address, one for each
	names   [][]byte
	modes   []modeAt // by address
	mangled bool

	mu   sync.Mutex
	read map[int32]string // by entry: its name as it is shown
}

// entry is one name.
type entry struct {
	addr, len uint64
	reach     uint64 // behind the last byte of all entries up to this
	name      uint32 // in names[blob]
	blob      uint8
	from      source
	bind      elf.SymBind
	typed     bool // it is a function, not a label
}

// entryBytes is what an entry takes, bytes.
const entryBytes = 32

// modeAt is the instruction set from an address on; ModeUnknown: data.
type modeAt struct {
	addr uint64
	mode isa.Mode
}

// NewTable reads the names of f, of its debug file unless that is nil, and of the stubs
// of f. With mangled, names stay as the linker has them.
func NewTable(f, debug *File, mangled bool) (t *Table) {
	t = &Table{mangled: mangled, read: map[int32]string{}}
	t.from(f)
	if debug != nil && f.Stripped() {
		t.from(debug)
	}
	_ = safely(func() { t.stubs(f) })
	t.seal(f)
	return t
}

// from takes the names of f, as far as they can be read.
func (t *Table) from(f *File) { _ = safely(func() { t.add(f) }) }

// safely calls do, and returns an error if it panics.
func safely(do func()) (err error) {
	defer guard(&err)
	do()
	return nil
}

// seal sorts the entries, keeps one for each address, and bounds those without a length.
func (t *Table) seal(f *File) {
	slices.SortFunc(t.entries, func(a, b entry) int {
		if a.addr != b.addr {
			return cmp.Compare(a.addr, b.addr)
		}
		return t.order(&a, &b)
	})
	kept, end := t.entries[:0], uint64(0)
	for _, e := range t.entries {
		if n := len(kept); n > 0 && kept[n-1].addr == e.addr {
			continue
		}
		if !e.typed && e.len == 0 && e.addr < end {
			continue // a label inside of a function
		}
		end = max(end, upTo(e.addr, e.len))
		kept = append(kept, e)
	}
	t.entries = slices.Clip(kept)
	var in *elf.Section
	for i, reach := 0, uint64(0); i < len(t.entries); i++ {
		e := &t.entries[i]
		if e.len == 0 {
			until := uint64(math.MaxUint64)
			if in == nil || e.addr < in.Addr || e.addr-in.Addr >= in.Size {
				in = f.code(e.addr)
			}
			if in != nil {
				until = upTo(in.Addr, in.Size)
			}
			if i+1 < len(t.entries) {
				until = min(until, t.entries[i+1].addr)
			}
			e.len = until - e.addr
		}
		reach = max(reach, upTo(e.addr, e.len))
		e.reach = reach
	}
	slices.SortStableFunc(t.modes, func(a, b modeAt) int { return cmp.Compare(a.addr, b.addr) })
}

// upTo is addr + n, no more than the last address.
func upTo(addr, n uint64) uint64 { return addr + min(n, math.MaxUint64-addr) }

// order says which of two names of one address comes first. A function's comes before a
// label's, and one with a length before one without. Then a global one comes before a weak
// or local one, and fewer underscores before more.
func (t *Table) order(a, b *entry) int {
	return cmp.Or(
		-compareBool(a.typed, b.typed), -compareBool(a.len > 0, b.len > 0), cmp.Compare(a.from, b.from),
		cmp.Compare(bindRank(a.bind), bindRank(b.bind)), cmp.Compare(underscores(t.raw(a)), underscores(t.raw(b))),
		cmp.Compare(a.name, b.name))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func bindRank(b elf.SymBind) int {
	switch b {
	case elf.STB_GLOBAL:
		return 0
	case elf.STB_WEAK:
		return 1
	}
	return 2
}

// underscores returns how many underscores begin a name.
func underscores(name []byte) (n int) {
	for n < len(name) && name[n] == '_' {
		n++
	}
	return n
}

// raw returns the name of an entry as the file has it.
func (t *Table) raw(e *entry) []byte { return cstring(t.names[e.blob], e.name) }

// maxNested bounds how many names are looked at for one that holds an address.
const maxNested = 256

// Lookup returns the name of the code at addr, where that code begins, and its length,
// bytes. ok is false if none is known.
func (t *Table) Lookup(addr uint64) (name string, start, length uint64, ok bool) {
	i := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].addr > addr }) - 1
	for n := 0; i >= 0 && n < maxNested && t.entries[i].reach > addr; i, n = i-1, n+1 {
		if e := &t.entries[i]; addr-e.addr < e.len {
			return t.shown(int32(i)), e.addr, e.len, true
		}
	}
	return "", 0, 0, false
}

// maxRead is how many names are kept as they are shown.
const maxRead = 1 << 14

// shown returns the name of entry i as it is shown.
func (t *Table) shown(i int32) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.read[i]
	if !ok {
		if s = string(t.raw(&t.entries[i])); !t.mangled {
			s = Demangle(s)
		}
		if len(t.read) >= maxRead {
			clear(t.read)
		}
		t.read[i] = s
	}
	return s
}

// Size is what the table takes, bytes, besides the names that its file holds.
func (t *Table) Size() int64 { return int64(cap(t.entries)*entryBytes + cap(t.modes)*16) }

// Find returns the address and the length, bytes, of the code with a name, as it is shown.
func (t *Table) Find(name string) (addr, length uint64, ok bool) {
	for i := range t.entries {
		if e := &t.entries[i]; t.shown(int32(i)) == name {
			return e.addr, e.len, true
		}
	}
	return 0, 0, false
}

// mapping takes a mapping symbol of Arm's: $a, $t, $x or $d, with a dot and more behind
// it or not.
func (t *Table) mapping(addr uint64, name []byte) {
	if len(name) > 2 && name[2] != '.' {
		return
	}
	m := modeAt{addr: addr}
	switch name[1] {
	case 'a':
		m.mode = isa.ModeA32
	case 't':
		m.mode = isa.ModeT32
	case 'x':
		m.mode = isa.ModeA64
	case 'd':
	default:
		return
	}
	t.modes = append(t.modes, m)
}

// Mode returns the instruction set of the code at addr; isa.ModeUnknown for data. ok is
// false if no mapping symbol says it.
func (t *Table) Mode(addr uint64) (m isa.Mode, ok bool) {
	i := sort.Search(len(t.modes), func(i int) bool { return t.modes[i].addr > addr }) - 1
	if i < 0 {
		return isa.ModeUnknown, false
	}
	return t.modes[i].mode, true
}
