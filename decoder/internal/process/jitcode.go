package process

import (
	"cmp"
	"encoding/binary"
	"errors"
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

// ns returns a time of a dump, where that is known.
func (c *DumpClock) ns(d *jit.Dump, t uint64) uint64 {
	if d.TSC {
		return c.Ticks(t)
	}
	return t
}

// UntimedDump is a jitdump of which it is not known when its code was made.
type UntimedDump struct {
	Path    string
	Left    int   // pieces of code that are not used, for others take their place
	Used    int   // pieces that are
	Ticks   bool  // its times are ticks
	Alike   bool  // its times are all the same, or 0; else they are of another clock
	Damaged error // it cannot be read, or from some place on; then nothing else is set
}

// Trouble says what is wrong with a dump, or not known of it, and what to do.
func (d *UntimedDump) Trouble() (what, hint string) {
	if d.Damaged != nil {
		hint = "copy the file again, once the program has ended; flow through code that is not known shows as gaps"
		if errors.Is(d.Damaged, os.ErrPermission) {
			hint = "make it readable; flow through code that is not known shows as gaps"
		}
		return d.Damaged.Error(), hint
	}
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

// LackingDumps says which jitdump files of u are not there, and what to do; "" if none is missing.
func LackingDumps(u *Spaces) (what, hint string) {
	if len(u.missing) == 0 {
		return "", ""
	}
	what = u.missing[0] + ": jitdump: not found: code that the program made is not known"
	if n := len(u.missing) - 1; n > 0 {
		what += "; " + plural.Count(n, "more such file") + plural.Word(n, " is", " are") + " not there"
	}
	return what, "copy it beside the recording, or to DIR/PATH and give --symfs DIR; flow through that code shows as gaps"
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
		told := len(paths) > 0
		if own := "jit-" + strconv.Itoa(int(pid)) + ".dump"; !told && len(u.Beside) > 0 && lies(own) {
			paths = []string{own}
		}
		for _, path := range paths {
			(finder{u}).takeDump(pid, path, told)
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

// takeDump takes the jitdump of a process. told is set if the recording tells of it.
func (u finder) takeDump(pid int32, path string, told bool) {
	f := u.file(&Mapping{Path: path})
	switch {
	case f.err == nil:
	case !errors.Is(f.err, os.ErrNotExist):
		u.damaged(path, f.err)
		return
	case told:
		u.lacks(pid, path)
		return
	default:
		return
	}
	if f.held != nil {
		f.held(0, int64(len(f.data)))
	}
	d, err := jit.ParseDump(f.data, f.path)
	if err != nil {
		u.damaged(f.path, err)
		return
	}
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
	known := uint64(math.MaxUint64)
	if d.Cut != nil && timed {
		if known = 0; d.Known > 0 {
			known = u.Clock.ns(d, d.Known)
		}
	}
	// The program's own memory says nothing from now on: it changes its protection as it
	// writes code there, which perf records as mappings.
	u.maps[pid] = slices.DeleteFunc(u.maps[pid], func(m Mapping) bool { return isAnonymous(m.Path) && m.Time < known })
	for i := range codes {
		c := &codes[i]
		t, made := u.begun(pid), uint64(math.MaxUint64)
		if timed {
			t = u.Clock.ns(d, c.Time)
			made = t
		}
		if t > known {
			continue
		}
		u.madeUntil = max(u.madeUntil, made)
		u.Mapped(pid, Mapping{Time: t, Addr: c.Addr, Len: c.Len, Off: c.Off, Path: path, Exec: true, code: c, made: made})
	}
	if d.Cut != nil {
		u.cutShort(pid, path, d, known)
	}
}

// damaged says, once, that a jitdump cannot be read whole.
func (u finder) damaged(path string, why error) {
	if !slices.ContainsFunc(u.Untimed, func(d UntimedDump) bool { return d.Path == path && d.Damaged != nil }) {
		u.Untimed = append(u.Untimed, UntimedDump{Path: path, Damaged: why})
	}
}

// lacks says that the jitdump of a process is not there, unless perf inject took the code out of it.
func (u finder) lacks(pid int32, path string) {
	if slices.ContainsFunc(u.maps[pid], func(m Mapping) bool { return isJitted(m.Path) }) {
		return
	}
	u.without[pid] = fmt.Errorf("%s: jitdump: not found", path)
	if !slices.Contains(u.missing, path) {
		u.missing = append(u.missing, path)
	}
}

// isJitted reports whether a mapped file is code that perf inject took out of a jitdump.
func isJitted(path string) bool { return strings.HasPrefix(filepath.Base(path), "jitted-") }

// cutShort says that the jitdump of a process is cut short. From known on, ns, the code that it
// tells of may have given its place to other code.
func (u finder) cutShort(pid int32, path string, d *jit.Dump, known uint64) {
	since := ""
	if known != math.MaxUint64 && known > 0 {
		since = "from " + event.Seconds(known) + " on "
	}
	d.Cut.What += ": cut short: " + since + "code that the program made is not known"
	u.damaged(d.Cut.File, d.Cut)
	u.without[pid] = fmt.Errorf("%s+0x%x: jitdump: cut short", d.Cut.File, d.Cut.Off)
	if known == math.MaxUint64 {
		return // it is ambiguous, whenever it ran
	}
	for _, e := range pagesOf(d.Codes) {
		n := e.last - e.first
		u.maps[pid] = append(u.maps[pid], Mapping{Time: known, Addr: e.first, Len: max(n, n+1), Path: path})
	}
}

// extent is memory from the first byte to the last.
type extent struct{ first, last uint64 }

// pagesOf returns the memory that codes lie in, as whole pages, by address.
func pagesOf(codes []jit.Code) (list []extent) {
	const page = 4096
	all := make([]extent, 0, len(codes))
	for i := range codes {
		c := &codes[i]
		all = append(all, extent{c.Addr &^ (page - 1), (c.Addr + min(c.Len-1, math.MaxUint64-c.Addr)) | (page - 1)})
	}
	slices.SortFunc(all, func(a, b extent) int { return cmp.Compare(a.first, b.first) })
	for _, e := range all {
		if n := len(list); n > 0 && e.first-1 <= list[n-1].last {
			list[n-1].last = max(list[n-1].last, e.last)
			continue
		}
		list = append(list, e)
	}
	return list
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
