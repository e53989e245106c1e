package process

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/jit"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
)

// Code that programs make. A jitdump file has it with names and times. It becomes
// mappings of that file, so that versions of one address follow each other as mapped
// files do. A perf-PID.map has names only.

// DumpClock is how the times of jitdump files become those of the records.
type DumpClock struct {
	Ticks func(uint64) uint64 // ticks of the time stamp counter to ns; nil: not known

	told, monotonic bool // events say which clock records have; it is CLOCK_MONOTONIC
}

// Where struct perf_event_attr says which clock records have, bytes
// (include/uapi/linux/perf_event.h, v6.12).
const (
	attrFlags      = 40
	attrClock      = 92
	useClock       = 1 << 25
	clockMonotonic = 1
)

// Told takes the attributes of an event, as recorded.
func (c *DumpClock) Told(attr []byte) {
	c.told = true
	if len(attr) < attrClock+4 {
		return
	}
	flags, clock := binary.LittleEndian.Uint64(attr[attrFlags:]), binary.LittleEndian.Uint32(attr[attrClock:])
	c.monotonic = c.monotonic || flags&useClock != 0 && clock == clockMonotonic
}

// matches reports whether times of CLOCK_MONOTONIC are those of the records. Where no
// event says which clock they have, that is assumed.
func (c *DumpClock) matches() bool { return c.monotonic || !c.told }

// UntimedDump is a jitdump of which it is not known when its code was made.
type UntimedDump struct {
	Path    string
	Left    int  // pieces of code that are not used, for others take their place
	Used    int  // pieces that are
	Ticks   bool // its times are ticks
	Alike   bool // its times are all the same, or 0; else they are of another clock
	Damaged error
}

// Trouble says what is not known of an undamaged dump, and what to do.
func (d *UntimedDump) Trouble() (what, hint string) {
	why := "its times are of another clock than the recording's"
	hint = "record with perf record -k mono, or have the program write ticks (JITDUMP_USE_ARCH_TIMESTAMP=1): Intel PT needs the latter"
	switch {
	case d.Alike:
		why, hint = "its times are 0, or all the same", "have the program write when it made each piece of code"
	case d.Ticks:
		hint = "the recording must say how ticks become its times: perf.data of Intel PT does"
	}
	return fmt.Sprintf("%s+0x0: jitdump: %s: %s of code %s left out, since others overlap %s; flow through the other %d is ambiguous", d.Path, why, plural.Count(d.Left, "piece"), plural.Word(d.Left, "is", "are"), plural.Word(d.Left, "it", "them"), d.Used), hint
}

// isDump reports whether a mapped file is a jitdump: a program maps its first page to
// tell perf (tools/perf/util/jitdump.c, jit_detect, v6.12).
func isDump(path string) bool {
	name := filepath.Base(path)
	pid, found := strings.CutPrefix(strings.TrimSuffix(name, ".dump"), "jit-")
	return found && strings.HasSuffix(name, ".dump") && isNumber(pid)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isAnonymous reports whether a mapping is of memory without a file, as perf names it.
func isAnonymous(path string) bool {
	for _, p := range []string{"//anon", "[anon", "/memfd:", "/dev/zero"} {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

// takeDumps lays the code that jitdump files hold over what processes had mapped.
func (u *Spaces) takeDumps() {
	pids := make([]int32, 0, len(u.maps))
	for pid := range u.maps {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	lies := u.beside(len(pids))
	for _, pid := range pids {
		paths := u.dumps[pid]
		if own := "jit-" + strconv.Itoa(int(pid)) + ".dump"; len(paths) == 0 && len(u.Beside) > 0 && lies(own) {
			paths = []string{own}
		}
		for _, path := range paths {
			(finder{u}).takeDump(pid, path)
		}
	}
}

// manyNames is from how many names on it pays to list a folder, rather than to ask it for
// each.
const manyNames = 64

// beside returns what reports whether a file of some name may lie in a folder of Beside,
// for one who asks for n names.
func (u *Spaces) beside(n int) func(name string) bool {
	maybe := func(string) bool { return true }
	if n < manyNames || u.FS != nil {
		return maybe
	}
	there := map[string]bool{}
	for _, dir := range u.Beside {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			continue
		}
		list, err := os.ReadDir(dir)
		if err != nil {
			return maybe
		}
		for _, f := range list {
			there[f.Name()] = true
		}
	}
	return func(name string) bool { return there[name] }
}

// takeDump takes the jitdump of a process.
func (u finder) takeDump(pid int32, path string) {
	f := u.file(&Mapping{Path: path})
	if f.err != nil {
		return
	}
	if f.held != nil {
		f.held(0, int64(len(f.data)))
	}
	d, err := jit.ParseDump(f.data, f.path)
	if err != nil {
		u.Untimed = append(u.Untimed, UntimedDump{Path: f.path, Damaged: err})
		return
	}
	// The program's own memory says nothing from now on: it changes its protection as it
	// writes code there, which perf records as mappings.
	u.maps[pid] = slices.DeleteFunc(u.maps[pid], func(m Mapping) bool { return isAnonymous(m.Path) })
	timed := u.Clock.matches()
	if d.TSC {
		timed = u.Clock.Ticks != nil
	}
	codes := d.Codes
	still := alike(codes)
	if timed = timed && !still; !timed && len(codes) > 0 {
		codes = alone(codes)
		u.Untimed = append(u.Untimed, UntimedDump{Path: f.path, Left: len(d.Codes) - len(codes), Used: len(codes), Ticks: d.TSC, Alike: still})
	}
	for i := range codes {
		c := &codes[i]
		t := c.Time
		switch {
		case !timed:
			t = u.begun(pid)
		case d.TSC:
			t = u.Clock.Ticks(t)
		}
		made := t
		if !timed {
			made = math.MaxUint64
		}
		u.madeUntil = max(u.madeUntil, made)
		u.Mapped(pid, Mapping{Time: t, Addr: c.Addr, Len: c.Len, Off: c.Off, Path: path, Exec: true, code: c, made: made})
	}
}

// Unmade reports whether code at addr in address space n is of a program's JIT, and the
// program may not have said so yet at a moment. Something else may have lain there. Code
// that took nobody's place is read from the beginning.
func (u *Spaces) Unmade(n uint32, addr uint64, at event.Time) bool {
	if n == 0 || at.Lo >= u.madeUntil {
		return false
	}
	m, ok := u.Find(n, addr)
	return ok && m.code != nil && at.Lo < m.made
}

// Makes reports whether programs made code themselves, and said what.
func (u *Spaces) Makes() bool { return u.madeUntil > 0 }

// alike reports whether the times of codes do not say which came first: one is 0, or
// several are all the same.
func alike(codes []jit.Code) bool {
	same := len(codes) > 1
	for i := range codes {
		if codes[i].Time == 0 {
			return true
		}
		same = same && codes[i].Time == codes[0].Time
	}
	return same
}

// begun returns when pid became the last program that it was, ns.
func (u finder) begun(pid int32) (time uint64) {
	for _, b := range u.births[pid] {
		if b.parent < 0 {
			time = max(time, b.time)
		}
	}
	return time
}

// alone returns the codes where no other ever lay.
func alone(codes []jit.Code) (list []jit.Code) {
	by := slices.Clone(codes)
	slices.SortStableFunc(by, func(a, b jit.Code) int { return cmp.Compare(a.Addr, b.Addr) })
	reach := uint64(0)
	for i := range by {
		c := &by[i]
		next := i+1 == len(by) || by[i+1].Addr-c.Addr >= c.Len
		if next && (i == 0 || c.Addr >= reach) {
			list = append(list, *c)
		}
		reach = max(reach, c.Addr+c.Len)
	}
	return list
}

// perfMap returns the names that a process wrote of its code; nil if there are none.
func (u finder) perfMap(pid int32) (m *jit.Map, path string) {
	u.bins.mu.Lock()
	defer u.bins.mu.Unlock()
	x, asked := u.bins.maps[pid]
	if !asked {
		name := "perf-" + strconv.Itoa(int(pid)) + ".map"
		var places []string
		for _, d := range u.Beside {
			places = append(places, filepath.Join(d, name))
		}
		tree := files.Tree{FS: u.FS}
		for _, p := range append(places, filepath.Join(u.symfs, "tmp", name)) {
			if data, err := tree.Read(p); err == nil {
				x = programMap{jit.ParseMap(data), p}
				break
			}
		}
		if u.bins.maps == nil {
			u.bins.maps = map[int32]programMap{}
		}
		u.bins.maps[pid] = x
	}
	return x.names, x.path
}

// programMap is a perf-PID.map.
type programMap struct {
	names *jit.Map
	path  string
}

// made names code at addr in address space n that a program made. ok is false if that is
// not known.
func (u finder) made(n uint32, addr uint64) (p Place, ok bool) {
	pid := u.owner(n)
	if pid < 0 {
		return p, false
	}
	m, path := u.perfMap(pid)
	if m == nil {
		return p, false
	}
	p.Sym, p.Off, ok = m.Lookup(addr)
	p.File = path
	return p, ok
}

// owner returns the process that has address space n, -1 if there is none.
func (u finder) owner(n uint32) int32 {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, ok := u.spaceOf(n)
	if !ok {
		return -1
	}
	return s.of.pid
}
