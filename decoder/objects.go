package decoder

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ptdecode/ptdecode/decoder/internal/process"
)

// Object is a file that code was executed from, as it lies in memory: a program, a library,
// the kernel ("[kernel.kallsyms]"), or one of its modules ("[name]").
type Object struct {
	Name    string
	File    string // of a module: the path that the recording lists for it, "" if none; else Name
	BuildID string // hex; "" where nothing tells
	// Start is what is taken from an address to make it an offset. Of a program's file it
	// is where the file's first byte lies, of the kernel its symbol _text, of a module where
	// its code lies.
	Start  uint64
	Kernel bool // the kernel or a module
	Given  bool // a file that Config.Code names: its first segment lies at Start
}

// objects answers which files code is of, as a part of a Session.
type objects struct {
	s     *Session
	image atomic.Pointer[[2]uint64] // see kernelImage
	told  sync.Map                  // by Object.Name: the path and the build ID that the recording lists
}

// Object returns what holds an address of code in an address space at a time, ns. ok is
// false where no file does: code that the kernel made, such as probes' slots, BPF programs
// and ftrace's trampolines.
func (f *objects) Object(space uint32, addr, time uint64) (o Object, ok bool) {
	s := f.s
	u := s.rec.Processes.Spaces
	if space != 0 && !s.Kernel(addr) {
		m, found := u.Find(space, addr)
		if !found {
			return f.given(addr)
		}
		if m.Path == "" || strings.HasPrefix(m.Path, "//") || m.Path[0] == '[' {
			return o, false
		}
		o = Object{Name: m.Path, File: m.Path, BuildID: hex.EncodeToString(m.BuildID), Start: m.Addr - m.Off}
		if o.BuildID == "" {
			_, o.BuildID = f.listing(m.Path, func(p string) bool { return p == m.Path })
		}
		return o, true
	}
	if s.symbols == nil {
		return f.given(addr)
	}
	y, _, found := s.symbols.Lookup(addr, time)
	if found && y.Module != "" && y.Module != "bpf" {
		m, have := s.symbols.Module(y.Module)
		o = Object{Name: "[" + y.Module + "]", Start: m.Addr, Kernel: true}
		o.File, o.BuildID = f.listing(o.Name, func(p string) bool { return moduleOf(p) == y.Module })
		return o, have && addr >= m.Addr && addr-m.Addr < m.Size
	}
	from, until := f.kernelImage()
	if addr < from || addr >= until {
		if until == 0 || !s.Kernel(addr) {
			return f.given(addr)
		}
		return o, false
	}
	o = Object{Name: kernelFile, File: kernelFile, Start: from, Kernel: true}
	_, o.BuildID = f.listing(kernelFile, func(p string) bool { return p == kernelFile || strings.HasPrefix(path.Base(p), "vmlinux") })
	return o, true
}

// given returns the file of Config.Code that holds an address.
func (f *objects) given(addr uint64) (o Object, ok bool) {
	o.Name, o.BuildID, o.Start, o.Given = process.GivenFile(f.s.rec.Processes.Spaces, addr)
	o.File = o.Name
	return o, o.Given
}

// listing returns the path and the build ID that the recording lists for a name: the first
// path that is accepts.
func (f *objects) listing(name string, is func(path string) bool) (file, id string) {
	if x, ok := f.told.Load(name); ok {
		return x.([2]string)[0], x.([2]string)[1]
	}
	file, id = f.s.rec.Processes.Spaces.Listing(is)
	f.told.Store(name, [2]string{file, id})
	return file, id
}

// kernelImage returns where the kernel's own code lies; 0, 0 where no symbol tells.
func (f *objects) kernelImage() (from, until uint64) {
	x := f.image.Load()
	if x == nil {
		x = new([2]uint64)
		x[0], _ = f.s.symbols.Address("_text")
		for _, end := range []string{"_etext", "_einittext", "__bss_stop", "_end"} {
			if a, ok := f.s.symbols.Address(end); ok {
				x[1] = max(x[1], a)
			}
		}
		f.image.Store(x)
	}
	return x[0], x[1]
}

// moduleOf returns the name of the module that a file holds, "" if it holds none. Files may
// have - where modules have _ (kernel/module/main.c, v6.12), and be packed.
func moduleOf(file string) string {
	name, _, ok := strings.Cut(path.Base(file), ".ko")
	if !ok {
		return ""
	}
	return strings.ReplaceAll(name, "-", "_")
}

// ELF opens the file of o, a program's or a library's. The error says why it cannot be
// read: it is not there, it is another file than the one that ran, or it is no ELF file.
func (f *objects) ELF(o Object) (*elf.File, error) {
	if o.Kernel {
		return nil, errors.New(o.Name + ": the recording does not say which file it is")
	}
	data, err := process.FileData(f.s.rec.Processes.Spaces, o.Name, o.BuildID, o.Given)
	if err != nil {
		return nil, err
	}
	return elf.NewFile(bytes.NewReader(data))
}
