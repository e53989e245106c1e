package process

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sort"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/jit"
)

// Spaces is the address spaces of user programs: what each process had mapped
// when, and the code in it, read from the files.
type Spaces struct {
	FS     fs.FS // that holds the files; nil: the operating system's
	Naming Naming
	Clock  DumpClock
	Beside []string // folders of the recording, where files that programs wrote may lie

	Untimed []UntimedDump // jitdump files that are not used whole; Seal fills it

	symfs    string
	buildIDs []string            // directories that hold files by build ID
	maps     map[int32][]Mapping // by PID, as recorded; in time order once sealed
	births   map[int32][]birth   // by PID, as recorded; in time order once sealed
	ids      map[string][]string // by path: build IDs, in hex, that the recording lists for it
	dumps    map[int32][]string  // by PID: paths of jitdump files
	missing  []string            // paths of jitdump files that are not there
	without  map[int32]error     // by PID: why some of the code that it made is not known

	madeUntil uint64              // from when on all code that programs made is known to lie there, ns
	symbols   map[string][]Symbol // by path, in the order of their offsets

	mu      sync.Mutex
	history map[programKey]*history
	space   map[uint32]space // by number, of histories
	bases   []numbered       // nil: not asked for yet
	steps   int              // nodes of trees looked at, which tests count
	files   map[string]*userFile
	bins    binaries
}

// Mapping is a file mapped into a process.
type Mapping struct {
	Time    uint64 // ns
	Addr    uint64
	Len     uint64 // bytes
	Off     uint64 // of Addr in the file, bytes
	Path    string
	BuildID []byte
	Exec    bool

	code *jit.Code // what it is of a jitdump; nil: it is of another file
	made uint64    // of code: when it is known to lie there, ns
}

// birth is the moment at which a process began to run another program.
type birth struct {
	time   uint64 // ns
	parent int32  // whose program it has from then on; -1: one of its own
}

// programKey is one program in one process: how many births there were.
type programKey struct {
	pid     int32
	program int
}

// history is what one program had mapped.
type history struct {
	pid   int32
	maps  []Mapping // in the order in which they were made
	tree  mapTree   // of maps, by address
	turns []turn    // where one took another's place
	first uint32    // number of the address space before the first turn; the others follow
}

// turn is the moment at which a mapping took the place of another.
type turn struct {
	time uint64 // ns
	maps int    // mappings made before it
}

// space is what one program had mapped between two turns: the first maps of
// its history. One that took nobody's place is there from the beginning. Of a file,
// nothing can have run there before; of code that a program made, see Unmade.
type space struct {
	of   *history
	maps int
}

// userFile is a mapped file's contents, or why there are none.
type userFile struct {
	data []byte
	held func(off, n int64) int64 // how many of the bytes at off are there; nil: all
	err  error

	path  string    // where it lies
	names *codeFile // its names, once they were asked for; Spaces.bins.mu guards it
}

// NewSpaces returns address spaces of which nothing is known. The files that were
// mapped are looked for in symfs ("": /) and, by build ID, in the directories
// buildIDs.
func NewSpaces(symfs string, buildIDs []string) *Spaces {
	if symfs == "" {
		symfs = "/"
	}
	return &Spaces{
		symfs: symfs, buildIDs: buildIDs,
		maps: map[int32][]Mapping{}, births: map[int32][]birth{}, dumps: map[int32][]string{}, without: map[int32]error{}, ids: map[string][]string{},
		history: map[programKey]*history{}, space: map[uint32]space{}, files: map[string]*userFile{},
	}
}

// Mapped records a mapping of pid. One of no bytes says nothing, and none goes on
// behind the last address.
func (u *Spaces) Mapped(pid int32, m Mapping) {
	if m.Addr > 0 {
		m.Len = min(m.Len, -m.Addr)
	}
	if m.Len == 0 {
		return
	}
	if m.code == nil && isDump(m.Path) {
		if !slices.Contains(u.dumps[pid], m.Path) {
			u.dumps[pid] = append(u.dumps[pid], m.Path)
		}
		return // the page says that there is the file, and holds no code
	}
	if m.Exec || len(u.maps[pid]) > 0 { // data matters only in place of code
		u.maps[pid] = append(u.maps[pid], m)
	}
}

// Forked records that pid came from parent. At time 0 the recorder only tells
// who was there: what a process has mapped is told of each.
func (u *Spaces) Forked(pid, parent int32, time uint64) {
	if pid != parent && time > 0 {
		u.births[pid] = append(u.births[pid], birth{time, parent})
	}
}

// Execed records that pid became another program.
func (u *Spaces) Execed(pid int32, time uint64) {
	u.births[pid] = append(u.births[pid], birth{time, -1})
}

// Listed records that the recording lists a build ID for a file.
func (u *Spaces) Listed(path string, id []byte) {
	if x := hex.EncodeToString(id); x != "" && !slices.Contains(u.ids[path], x) {
		u.ids[path] = append(u.ids[path], x)
	}
}

// Seal sorts what was recorded, with what programs wrote of their code; lookups may
// follow.
func (u *Spaces) Seal() {
	u.takeDumps()
	for _, m := range u.maps {
		slices.SortStableFunc(m, func(a, b Mapping) int { return cmp.Compare(a.Time, b.Time) })
	}
	for _, b := range u.births {
		slices.SortStableFunc(b, func(a, b birth) int { return cmp.Compare(a.time, b.time) })
	}
}

// program returns how many programs pid had begun to run by time.
func (u *Spaces) program(pid int32, time uint64) int {
	b := u.births[pid]
	return sort.Search(len(b), func(i int) bool { return b[i].time > time })
}

// At returns the number of the address space that pid had at time, from 1.
func (u *Spaces) At(pid int32, time uint64) uint32 {
	u.mu.Lock()
	defer u.mu.Unlock()
	h := u.of(programKey{pid, u.program(pid, time)}, 0)
	return h.first + uint32(sort.Search(len(h.turns), func(i int) bool { return h.turns[i].time > time }))
}

// maxAncestors bounds the chain of forks that mappings are looked up in.
const maxAncestors = 64

// of returns the history of a program, with u.mu held.
func (u *Spaces) of(k programKey, depth int) *history {
	if h := u.history[k]; h != nil {
		return h
	}
	h := &history{pid: k.pid}
	inherited, own := u.inherited(k, depth), u.own(k)
	h.tree = newMapTree(inherited, own)
	for i := range inherited {
		h.append(&inherited[i])
	}
	for i := range own {
		m := &own[i]
		other := h.tree.replaces(m)
		if !m.Exec && !other {
			continue
		}
		if other && m.Time > 0 {
			h.turns = append(h.turns, turn{m.Time, len(h.maps)})
		}
		h.append(m)
	}
	h.tree.seal()
	u.steps += h.tree.steps
	h.first = u.firstOf(k)
	for i := range h.turns {
		u.space[h.first+uint32(i)] = space{h, h.turns[i].maps}
	}
	u.space[h.first+uint32(len(h.turns))] = space{h, len(h.maps)}
	u.history[k] = h
	return h
}

// inherited returns what a program has mapped from its beginning: what its parent
// had at the fork. u.mu is held.
func (u *Spaces) inherited(k programKey, depth int) (maps []Mapping) {
	if k.program == 0 || depth >= maxAncestors {
		return nil
	}
	b := u.births[k.pid][k.program-1]
	if b.parent < 0 {
		return nil
	}
	for _, m := range u.of(programKey{b.parent, u.program(b.parent, b.time)}, depth+1).maps {
		if m.Time <= b.time {
			maps = append(maps, m)
		}
	}
	return maps
}

// own returns the mappings that were recorded of a program itself.
func (u *Spaces) own(k programKey) []Mapping {
	from, to := u.ownIn(k)
	return u.maps[k.pid][from:to]
}

// ownIn returns which of its process's mappings these are: from an index up to another.
func (u *Spaces) ownIn(k programKey) (from, to int) {
	m := u.maps[k.pid]
	from = sort.Search(len(m), func(i int) bool { return u.program(k.pid, m[i].Time) >= k.program })
	to = sort.Search(len(m), func(i int) bool { return u.program(k.pid, m[i].Time) > k.program })
	return from, to
}

// append adds a mapping behind the others.
func (h *history) append(m *Mapping) {
	h.tree.add(m, int32(len(h.maps)))
	h.maps = append(h.maps, *m)
}

// Find returns the mapping of code at addr in address space n.
func (u *Spaces) Find(n uint32, addr uint64) (m Mapping, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, ok := u.spaceOf(n)
	if !ok {
		return m, false
	}
	i, steps := s.of.tree.latest(addr, s.maps)
	u.steps += steps
	if i < 0 {
		return m, false
	}
	m = s.of.maps[i]
	return m, m.Exec
}

// Epochs returns which change of its address space's code made what lies at addr in
// address space n, counted from 0, and which took its place. last is set if none did.
func (u *Spaces) Epochs(n uint32, addr uint64) (from, until uint32, last bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, ok := u.spaceOf(n)
	if !ok {
		return 0, 0, true
	}
	h := s.of
	now, _ := h.tree.latest(addr, s.maps)
	next := int32(len(h.maps))
	h.tree.all(addr, func(i int32) {
		if int(i) >= s.maps {
			next = min(next, i)
		}
	})
	count := func(i int32) uint32 { // how many turns until mapping i is there
		return uint32(sort.Search(len(h.turns), func(t int) bool { return h.turns[t].maps > int(i) }))
	}
	if now >= 0 {
		from = count(now)
	}
	return from, count(next), int(next) == len(h.maps)
}

// Fetch copies the text at addr in address space n to dst and returns how many
// bytes are known.
func (u *Spaces) Fetch(dst []byte, n uint32, addr uint64) int {
	m, ok := u.Find(n, addr)
	if !ok {
		return 0
	}
	f := u.file(&m)
	off := m.Off + (addr - m.Addr)
	if f.err != nil || off >= uint64(len(f.data)) {
		return 0
	}
	known := copy(dst[:min(uint64(len(dst)), m.Len-(addr-m.Addr))], f.data[off:])
	if f.held != nil {
		known = int(f.held(int64(off), int64(known)))
	}
	return known
}

// Trouble says why the text at addr could not be read in any of the programs
// that had a file there; nil if it was not tried, or could be.
func (u *Spaces) Trouble(addr uint64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var keys []string
	maker := int32(-1) // the process that made code there which is not known
	for _, h := range u.history {
		h.tree.all(addr, func(i int32) {
			m := &h.maps[i]
			if m.Exec {
				keys = append(keys, m.Path+"\x00"+hex.EncodeToString(m.BuildID))
			}
			if u.without[h.pid] != nil && m.code == nil && (isAnonymous(m.Path) || isDump(m.Path)) {
				maker = max(maker, h.pid)
			}
		})
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if f := u.files[k]; f != nil && f.err != nil && !errors.Is(f.err, os.ErrNotExist) {
			return f.err
		}
	}
	return u.without[maker]
}
