package process

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/elfnames"
	"github.com/ptdecode/ptdecode/decoder/internal/srclines"
)

// Names of the code of programs: by the symbols of the files that they mapped, and of
// their debug files. Nothing is read before a name is asked for.

// Naming says how code is named. The zero value demangles names.
type Naming struct {
	Mangled bool  // names stay as the linker has them
	Memory  int64 // what tables of names may take together, bytes; 0: 64 MiB
}

// leastNames is what tables of names may take if nothing is said, bytes.
const leastNames = 64 << 20

// binaries are the files of programs whose names were asked for, the last asked for last.
type binaries struct {
	mu   sync.Mutex
	list []*codeFile
	held int64 // what their tables take, bytes

	given []*given             // that the call names
	maps  map[int32]programMap // by process, those that were asked for

	close []io.Closer // files that names are read from
}

// codeFile is a file of a program, with its names.
type codeFile struct {
	file   *elfnames.File
	path   string          // where the file lies
	mapped string          // where programs have it
	debug  *elfnames.File  // nil: there is none, or nobody asked
	asked  bool            // debug was looked for
	table  *elfnames.Table // nil: not read, or dropped
	err    error           // there are no names
	lines  *srclines.Lines // nil: there are none, or nobody asked
	lined  bool            // lines were looked for
}

// finder is Spaces for those who look for files and names.
type finder struct{ *Spaces }

// Place is what the code at an address is called.
type Place struct {
	Sym  string // "" if it has no name
	Off  uint64 // into Sym, or in File, bytes
	File string // "" if that is not known
}

// Symbol names the code at addr in address space n. ok is false if nothing had a file, or
// a name, there.
func (u *Spaces) Symbol(n uint32, addr uint64) (p Place, ok bool) {
	m, ok := u.Find(n, addr)
	if !ok || m.code == nil && isAnonymous(m.Path) {
		if x, found := (finder{u}).made(n, addr); found {
			return x, true
		}
	}
	if !ok {
		return p, false
	}
	if m.code != nil {
		return Place{m.code.Name, addr - m.Addr, m.Path}, true
	}
	p = Place{File: m.Path, Off: m.Off + (addr - m.Addr)}
	if name, in, found := u.Name(m.Path, p.Off); found {
		return Place{name, in, m.Path}, true
	}
	b := (finder{u}).binary(&m)
	if b == nil {
		return p, true
	}
	if at, linked := b.file.Vaddr(p.Off); linked {
		if name, start, _, found := (finder{u}).tableOf(b).Lookup(at); found {
			return Place{name, at - start, m.Path}, true
		}
	}
	return p, true
}

// binary returns the file that m maps, nil if it has no names.
func (u finder) binary(m *Mapping) *codeFile {
	f := u.file(m)
	if f.err != nil {
		return nil // neither has it names
	}
	u.bins.mu.Lock()
	defer u.bins.mu.Unlock()
	if f.names == nil {
		f.names = u.openBinary(f.path, f, m)
	}
	if f.names.err != nil {
		return nil
	}
	return f.names
}

// openBinary opens the ELF file that f holds; m is what maps it.
func (u finder) openBinary(path string, f *userFile, m *Mapping) *codeFile {
	b := &codeFile{path: path}
	if f.held == nil {
		b.file, b.err = elfnames.OpenBytes(f.data)
	} else {
		b.file, b.err = u.openELF(path)
	}
	if b.mapped = m.Path; b.err == nil && b.file.Stripped() {
		u.findDebug(b)
	}
	return b
}

// openELF opens an ELF file, up to Close. u.bins.mu is held.
func (u finder) openELF(path string) (*elfnames.File, error) {
	f, err := files.Tree{FS: u.FS}.Open(path)
	if err != nil {
		return nil, err
	}
	e, err := elfnames.OpenFile(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	u.bins.close = append(u.bins.close, e)
	return e, nil
}

// findDebug finds the debug file of b: by its build ID, then by the name that it states.
func (u finder) findDebug(b *codeFile) {
	if b.asked {
		return
	}
	b.asked = true
	id := b.file.BuildID()
	for _, p := range u.debugCandidates(b, b.mapped, hex.EncodeToString(id)) {
		if p == b.path {
			continue
		}
		f, err := u.openELF(p)
		if err != nil {
			continue
		}
		if len(id) > 0 && bytes.Equal(f.BuildID(), id) || len(id) == 0 && u.sums(p) == b.file.DebugSum() {
			b.debug = f
			return
		}
	}
}

// sums returns the CRC-32 of a file, as .gnu_debuglink has it; 0 if it cannot be read.
func (u finder) sums(path string) uint32 {
	f, err := files.Tree{FS: u.FS}.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, f); err != nil {
		return 0
	}
	return h.Sum32()
}

// debugDir is where distributions have debug files.
const debugDir = "/usr/lib/debug"

// debugCandidates returns where the debug file of b may be, the likeliest first (gdb's
// manual, "Debugging Information in Separate Files"; tools/perf/util/build-id.c).
func (u finder) debugCandidates(b *codeFile, path, id string) (c []string) {
	if len(id) > 2 {
		for _, d := range append(slices.Clone(u.buildIDs), filepath.Join(u.symfs, debugDir)) {
			c = append(c,
				filepath.Join(d, ".build-id", id[:2], id[2:]+".debug"),
				filepath.Join(d, ".build-id", id[:2], id[2:], "debug"),
				filepath.Join(d, id[:2], id[2:]+".debug"),
				filepath.Join(d, id, "debuginfo"))
		}
	}
	if link := b.file.DebugLink(); link != "" {
		dir := filepath.Dir(path)
		for _, d := range []string{filepath.Dir(b.path), filepath.Join(u.symfs, dir)} {
			c = append(c, filepath.Join(d, link), filepath.Join(d, ".debug", link))
		}
		c = append(c, filepath.Join(u.symfs, debugDir, dir, link))
	}
	return c
}

// tableOf returns the names of b. It drops those that were asked for longest ago where
// all take too much.
func (u finder) tableOf(b *codeFile) *elfnames.Table {
	u.bins.mu.Lock()
	defer u.bins.mu.Unlock()
	x := &u.bins
	if n := len(x.list); b.table != nil && n > 0 && x.list[n-1] == b {
		return b.table
	}
	x.list = slices.DeleteFunc(x.list, func(o *codeFile) bool { return o == b })
	x.list = append(x.list, b)
	if b.table == nil {
		b.table = elfnames.NewTable(b.file, b.debug, u.Naming.Mangled)
		x.held += b.table.Size()
	}
	limit := u.Naming.limit()
	for len(x.list) > 1 && x.held > limit {
		x.held -= x.list[0].table.Size()
		x.list[0].table = nil
		x.list = x.list[1:]
	}
	return b.table
}

// Lines returns the places in the source that the code at addr in address space n was
// made of, the innermost first; nil if nothing tells.
func (u *Spaces) Lines(n uint32, addr uint64) []srclines.Frame {
	m, ok := u.Find(n, addr)
	if !ok {
		return nil
	}
	if m.code != nil {
		l, ok := m.code.LineAt(addr - m.Addr)
		if !ok {
			return nil
		}
		return []srclines.Frame{{Func: m.code.Name, File: l.File, Line: l.Line}}
	}
	b := (finder{u}).binary(&m)
	if b == nil {
		return nil
	}
	at, linked := b.file.Vaddr(m.Off + (addr - m.Addr))
	if !linked {
		return nil
	}
	return (finder{u}).framesAt(b, at)
}

// framesAt returns the places in the source of the code of b that is linked to an address.
func (u finder) framesAt(b *codeFile, at uint64) []srclines.Frame {
	l := u.linesOf(b)
	if l == nil {
		return nil
	}
	frames := l.At(at)
	if !u.Naming.Mangled {
		for i := range frames {
			frames[i].Func = elfnames.Demangle(frames[i].Func)
		}
	}
	return frames
}

// maxDebug bounds one section of debug information, unpacked, bytes.
const maxDebug = 2 << 30

// linesOf returns the source lines of b, nil if there are none.
func (u finder) linesOf(b *codeFile) *srclines.Lines {
	u.bins.mu.Lock()
	defer u.bins.mu.Unlock()
	if b.lined {
		return b.lines
	}
	b.lined = true
	f := b.file
	if !f.HasLines() {
		u.findDebug(b)
		if f = b.debug; f == nil {
			return nil
		}
	}
	l, err := srclines.New(func(name string) []byte { return f.Debug(name, maxDebug) }, f.Order(), u.Naming.limit())
	if err == nil {
		b.lines = l
	}
	return b.lines
}

// limit is what tables of names, and units of lines of a file, may take, bytes.
func (x *Naming) limit() int64 {
	if x.Memory <= 0 {
		return leastNames
	}
	return x.Memory
}

// Close closes the files that names are read from.
func (u *Spaces) Close() error {
	u.bins.mu.Lock()
	defer u.bins.mu.Unlock()
	for _, c := range u.bins.close {
		c.Close()
	}
	u.bins.close = nil
	return nil
}
