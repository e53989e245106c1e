package process

import (
	"encoding/hex"
	"io"
	"math"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/elfnames"
	"github.com/ptdecode/ptdecode/decoder/internal/srclines"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Files of code that the call names: programs of a bare trace or a snapshot, and a
// vmlinux. They lie at addresses of their own, in every address space.

// given is one such file.
type given struct {
	path   string
	moved  func(*elfnames.File) uint64 // what is added to the addresses of its link
	shift  uint64
	opened bool
	file   *codeFile // nil: it is no ELF file, or not opened
}

// Give adds a file of code. moved returns what is added to the addresses that it is
// linked to; it is asked when the file is opened.
func (u *Spaces) Give(path string, moved func(*elfnames.File) uint64) {
	if bundle, ok := u.FS.(interface{ Give(name string) }); ok {
		bundle.Give(path)
	}
	u.bins.given = append(u.bins.given, &given{path: path, moved: moved})
}

// openGiven opens g unless that was done. u.bins.mu is held.
func (u finder) openGiven(g *given) {
	if g.opened {
		return
	}
	g.opened = true
	if f, err := u.openELF(g.path); err == nil && f.Executable() {
		g.file, g.shift = &codeFile{file: f, path: g.path, mapped: g.path}, g.moved(f)
		if f.Stripped() {
			u.findDebug(g.file)
		}
	}
}

// givenAt returns the file of the call that holds addr, and where addr is linked to.
func (u finder) givenAt(addr uint64) (b *codeFile, at uint64) {
	u.bins.mu.Lock()
	defer u.bins.mu.Unlock()
	for i := len(u.bins.given) - 1; i >= 0; i-- { // what comes later lies on top
		g := u.bins.given[i]
		u.openGiven(g)
		if g.file != nil && g.file.file.Loads(addr-g.shift) {
			return g.file, addr - g.shift
		}
	}
	return nil, 0
}

// GivenSymbol names the code at addr by the files of the call. ok is false if none of them
// has a name there.
func (u *Spaces) GivenSymbol(addr uint64) (p Place, ok bool) {
	b, at := (finder{u}).givenAt(addr)
	if b == nil {
		return p, false
	}
	name, start, _, ok := (finder{u}).tableOf(b).Lookup(at)
	return Place{name, at - start, b.path}, ok
}

// GivenFile returns the path and the build ID, hex, of the file of u's call that holds addr,
// and where its first segment lies. ok is false if none of them does.
func GivenFile(u *Spaces, addr uint64) (path, id string, start uint64, ok bool) {
	b, at := (finder{u}).givenAt(addr)
	if b == nil {
		return "", "", 0, false
	}
	return b.path, hex.EncodeToString(b.file.BuildID()), b.file.First() + addr - at, true
}

// FileData returns the bytes of a file: one of u's call, where given, else one that was
// mapped. id is its build ID, hex.
func FileData(u *Spaces, path, id string, given bool) ([]byte, error) {
	if !given {
		b, err := hex.DecodeString(id)
		if err != nil {
			return nil, err
		}
		return u.Data(&Mapping{Path: path, BuildID: b})
	}
	f, err := files.Tree{FS: u.FS}.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
}

// GivenLines is Lines by the files of the call.
func (u *Spaces) GivenLines(addr uint64) []srclines.Frame {
	b, at := (finder{u}).givenAt(addr)
	if b == nil {
		return nil
	}
	return (finder{u}).framesAt(b, at)
}

// GivenMode returns the instruction set of the code at addr by Arm's mapping symbols;
// isa.ModeUnknown for data. ok is false if none tells.
func (u *Spaces) GivenMode(addr uint64) (m isa.Mode, ok bool) {
	b, at := (finder{u}).givenAt(addr)
	if b == nil {
		return m, false
	}
	return (finder{u}).tableOf(b).Mode(at)
}

// GivenFind returns the address and the length, bytes, of the code with a name in the files
// of the call. ok is false if there is none.
func (u *Spaces) GivenFind(name string) (addr, length uint64, ok bool) {
	for _, g := range u.bins.given {
		u.bins.mu.Lock()
		(finder{u}).openGiven(g)
		u.bins.mu.Unlock()
		if g.file == nil {
			continue
		}
		if at, n, found := (finder{u}).tableOf(g.file).Find(name); found {
			return at + g.shift, n, true
		}
	}
	return 0, 0, false
}
