package export

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/vmlinux"
	"github.com/ptdecode/ptdecode/decoder"
)

// object is a file that code was executed from, with how its readers name addresses in it.
type object struct {
	decoder.Object
	n      uint64            // instructions executed in it
	segs   []vmlinux.Segment // of an ELF file that could be read
	stubs  []vmlinux.Segment // of its sections, those of PLT stubs
	failed error             // why not
	size   uint64            // up to the last address asked for, bytes from Start
	linked uint64            // of the kernel, and of files given by --text: where the linker has Start
}

// objects finds which file code is of.
type objects struct {
	s    *decoder.Session
	file *vmlinux.File // nil: none is named
	list map[decoder.Object]*object
	page map[pageKey]*object // nil: none
}

// kernelName is the name of the kernel as an object.
const kernelName = "[kernel.kallsyms]"

// pageKey is a page of an address space.
type pageKey struct {
	space uint32
	page  uint64
}

// newObjects returns the files of what j has counted.
func (j *job) newObjects() *objects {
	return &objects{s: j.session, file: j.kernel, list: map[decoder.Object]*object{}, page: map[pageKey]*object{}}
}

// at returns the file that an address is of, nil where there is none.
func (o *objects) at(space uint32, addr, time uint64) *object {
	k := pageKey{space, addr >> 12}
	if x, ok := o.page[k]; ok && x != nil {
		x.size = max(x.size, addr-x.Start+1)
		return x
	}
	d, ok := o.s.Object(space, addr, time)
	if !ok {
		return nil
	}
	x := o.list[d]
	if x == nil {
		x = &object{Object: d}
		x.read(o.s)
		if o.file != nil && x.Name == kernelName {
			x.segs, x.linked = o.file.Segments, o.file.Text
		}
		o.list[d] = x
	}
	if !x.Given { // another may begin in the middle of a page
		o.page[k] = x
	}
	x.size = max(x.size, addr-x.Start+1)
	return x
}

// everywhere is x wherever it lies in memory: several programs have a file at addresses of their own.
func (x *object) everywhere() decoder.Object {
	f := x.Object
	f.Start = 0
	return f
}

// codeAt is a place in a file, wherever that lies in memory.
type codeAt struct {
	file  decoder.Object // with Start 0
	space uint32         // of code that no file holds
	addr  uint64         // from where the file lies, or in the address space
}

// code returns the place of an address.
func (o *objects) code(space uint32, addr, time uint64) codeAt {
	if x := o.at(space, addr, time); x != nil {
		return codeAt{file: x.everywhere(), addr: addr - x.Start}
	}
	return codeAt{space: space, addr: addr}
}

// order compares places.
func (a codeAt) order(b codeAt) int {
	return cmp.Or(cmp.Compare(a.file.Name, b.file.Name), cmp.Compare(a.file.BuildID, b.file.BuildID), cmp.Compare(a.space, b.space), cmp.Compare(a.addr, b.addr))
}

// read reads the segments of a program's file.
func (x *object) read(s *decoder.Session) {
	if x.Kernel {
		return
	}
	f, err := s.ELF(x.Object)
	if err != nil {
		x.failed = err
		return
	}
	if x.segs = vmlinux.Segments(f); x.Given {
		x.linked = x.firstSegment()
	}
	for _, h := range f.Sections {
		if strings.HasPrefix(h.Name, ".plt") {
			x.stubs = append(x.stubs, vmlinux.Segment{Off: h.Offset, Addr: h.Addr, Size: h.Size, Exec: true})
		}
	}
}

// vaddr returns the address in the file's own terms of what lies at addr: that of an ELF
// file's symbols. Of a file that could not be read it is the offset in it. Of the kernel it is
// that of --vmlinux. Without that, and of modules, it is the offset from Start.
func (x *object) vaddr(addr uint64) uint64 {
	off := addr - x.Start
	if x.Kernel || x.Given {
		return off + x.linked
	}
	for _, g := range x.segs {
		if off >= g.Off && off-g.Off < g.Size {
			return g.Addr + off - g.Off
		}
	}
	return off
}

// stub reports whether a PLT stub lies at an address in the file's own terms.
func (x *object) stub(addr uint64) bool {
	return slices.ContainsFunc(x.stubs, func(g vmlinux.Segment) bool { return addr >= g.Addr && addr-g.Addr < g.Size })
}

// firstSegment returns the address of the first loadable segment: what AutoFDO's offsets
// count from.
func (x *object) firstSegment() uint64 {
	if len(x.segs) == 0 {
		return 0
	}
	return x.segs[0].Addr
}

// firstCode returns the address of the first executable segment: what llvm-profgen's
// offsets count from.
func (x *object) firstCode() uint64 {
	for _, g := range x.segs {
		if g.Exec {
			return g.Addr
		}
	}
	return 0
}

// all returns the files in which something was executed, those with the most first, wherever they lie.
func (o *objects) all() []*object {
	n := map[decoder.Object]uint64{}
	for _, x := range o.list {
		n[x.everywhere()] += x.n
	}
	return slices.SortedFunc(maps.Values(o.list), func(a, b *object) int {
		return cmp.Or(cmp.Compare(n[b.everywhere()], n[a.everywhere()]), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Start, b.Start))
	})
}

// one returns the file that a profile of a single file is of: the one that --object names,
// else that in which most was executed. The rest is left out, and said so.
func (j *job) one() (*objects, *object, error) {
	o := j.newObjects()
	none := uint64(0)
	for _, r := range j.ranges() {
		if x := o.at(r.Block.Space, r.Block.Addr, r.Seen); x != nil {
			x.n += r.N * uint64(r.Insns)
		} else {
			none += r.N * uint64(r.Insns)
		}
	}
	if none > 0 {
		j.leaveOut(none, noFile)
	}
	var best *object
	for _, x := range o.all() {
		if best == nil && (j.object == "" || x.called(j.object)) {
			best = x
		}
		if best != nil && x.everywhere() == best.everywhere() {
			continue
		}
		j.leaveOut(x.n, "they are of other files, which --object names")
	}
	if best == nil && j.object != "" {
		return nil, nil, j.nothingOf(o)
	}
	if best != nil && best.failed != nil {
		j.host.Say("%s: %s: offsets in the file are written for addresses", best.Name, best.failed)
		j.host.Hint("give the file with --symfs DIR or --buildid-dir DIR")
	}
	return o, best, nil
}

// nothingOf is the error for --object where nothing of o, all files, is called that.
func (j *job) nothingOf(o *objects) error {
	what := fmt.Sprintf("--object %s: nothing of it was executed", j.object)
	var names []string
	for _, x := range o.all() {
		names = append(names, x.Name)
	}
	if slices.Sort(names); len(names) > 0 {
		what += "; there is " + join(slices.Compact(names))
	}
	return &decoder.CallError{What: what}
}

// checkObject refuses an --object of which nothing was executed in any part.
func (j *job) checkObject() error {
	if j.object == "" {
		return nil
	}
	o := j.newObjects()
	for _, r := range j.ranges() {
		if x := o.at(r.Block.Space, r.Block.Addr, r.Seen); x != nil && x.called(j.object) {
			return nil
		}
	}
	return j.nothingOf(o)
}

// called reports whether name is x's: a path, or the last part of it.
func (x *object) called(name string) bool {
	return name == x.Name || name == x.File || name == path.Base(x.Name)
}

// noFile says why code is left out that no file holds.
const noFile = "no file of a kernel or program is known to hold them: raw code, a dump of memory, or code that was made as it ran"

// join renders names, at most ten.
func join(names []string) (s string) {
	for i, n := range names {
		switch {
		case i == 10:
			return s + fmt.Sprintf(" and %d more", len(names)-i)
		case i > 0:
			s += ", "
		}
		s += n
	}
	return cmp.Or(s, "nothing")
}
