package decoder

import (
	"cmp"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/kcore"
)

// users is the text of user programs: what each process had mapped, read from
// the files.
type users struct {
	symfs    string
	buildIDs []string // directories that hold files by build ID
	tasks    *tasks
	maps     map[int32][]mapping // by PID, in time order
	parents  map[int32]fork

	mu     sync.Mutex
	spaces map[spaceKey]uint32
	space  []*space // by number - 1
	files  map[string]*userFile
}

// mapping is an executable file mapped into a process.
type mapping struct {
	time    uint64 // ns
	addr    uint64
	len     uint64
	off     uint64 // of addr in the file, bytes
	path    string
	buildID []byte
}

// fork is where a process came from.
type fork struct {
	parent int32
	time   uint64 // ns
}

// spaceKey is one program in one process.
type spaceKey struct {
	pid     int32
	program int
}

// space is what one program had mapped, newest first.
type space struct {
	maps []mapping
}

// userFile is a mapped file's contents, or why there are none.
type userFile struct {
	data []byte
	err  error
}

func newUsers(t *tasks) *users {
	return &users{
		tasks: t, maps: map[int32][]mapping{}, parents: map[int32]fork{},
		spaces: map[spaceKey]uint32{}, files: map[string]*userFile{},
	}
}

// mapped records an executable mapping of pid.
func (u *users) mapped(pid int32, m mapping) { u.maps[pid] = append(u.maps[pid], m) }

// forked records that pid came from parent.
func (u *users) forked(pid, parent int32, time uint64) {
	if pid != parent {
		u.parents[pid] = fork{parent, time}
	}
}

// at returns the number of the address space that pid had at time, from 1.
func (u *users) at(pid int32, time uint64) uint32 {
	k := spaceKey{pid, u.tasks.program(pid, time)}
	u.mu.Lock()
	defer u.mu.Unlock()
	if n, ok := u.spaces[k]; ok {
		return n
	}
	s := &space{maps: u.collect(pid, k.program, 0)}
	u.space = append(u.space, s)
	n := uint32(len(u.space))
	u.spaces[k] = n
	return n
}

// collect returns the mappings of pid's program, newest first: its own since
// its exec, then what it had from its parent.
func (u *users) collect(pid int32, program, depth int) []mapping {
	var out []mapping
	for _, m := range u.maps[pid] {
		if u.tasks.program(pid, m.time) == program || m.time == 0 {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b mapping) int { return cmp.Compare(b.time, a.time) })
	if f, ok := u.parents[pid]; ok && program == 0 && depth < 64 {
		for _, m := range u.collect(f.parent, u.tasks.program(f.parent, f.time), depth+1) {
			if m.time <= f.time {
				out = append(out, m)
			}
		}
	}
	return out
}

// find returns the mapping of addr in address space n.
func (u *users) find(n uint32, addr uint64) (m mapping, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n == 0 || int(n) > len(u.space) {
		return m, false
	}
	for _, m := range u.space[n-1].maps {
		if addr-m.addr < m.len {
			return m, true
		}
	}
	return m, false
}

// fetch copies the text at addr in address space n to dst and returns how many
// bytes are known.
func (u *users) fetch(dst []byte, n uint32, addr uint64) int {
	m, ok := u.find(n, addr)
	if !ok {
		return 0
	}
	f := u.file(&m)
	off := m.off + (addr - m.addr)
	if f.err != nil || off >= uint64(len(f.data)) {
		return 0
	}
	return copy(dst[:min(uint64(len(dst)), m.len-(addr-m.addr))], f.data[off:])
}

// file returns the contents of what m maps: by build ID first, then by path.
func (u *users) file(m *mapping) *userFile {
	id := hex.EncodeToString(m.buildID)
	key := m.path + "\x00" + id
	u.mu.Lock()
	defer u.mu.Unlock()
	if f := u.files[key]; f != nil {
		return f
	}
	f := &userFile{err: os.ErrNotExist}
	for _, p := range u.candidates(m.path, id) {
		b, err := readFile(p)
		if err == nil {
			f.data, f.err = b, nil
			break
		}
		if !errors.Is(err, os.ErrNotExist) {
			f.err = err
		}
	}
	u.files[key] = f
	return f
}

// candidates returns where the file may be, the likeliest first: perf's cache
// (tools/perf/util/build-id.c), debuginfod-like trees, then the path itself.
func (u *users) candidates(path, id string) []string {
	var c []string
	if len(id) > 2 {
		for _, d := range u.buildIDs {
			c = append(c,
				filepath.Join(d, ".build-id", id[:2], id[2:], "elf"),
				filepath.Join(d, ".build-id", id[:2], id[2:]),
				filepath.Join(d, id, "executable"),
				filepath.Join(d, id[:2], id[2:]))
		}
	}
	if path != "" && path[0] == '/' && path != "//anon" {
		c = append(c, filepath.Join(u.symfs, path))
	}
	return c
}

// readFile reads a whole file, unpacked if it is packed.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, os.ErrNotExist
	}
	var magic [4]byte
	n, _ := f.ReadAt(magic[:], 0)
	if kcore.Packing(magic[:n]) != "" {
		return kcore.Unpack(f, path, 0)
	}
	return os.ReadFile(path)
}
