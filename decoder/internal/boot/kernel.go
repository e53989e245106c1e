// Package boot finds what a kernel's boot made of its vmlinux, by the trace of a recording.
//
// A vmlinux in place of a copy of the running kernel's memory holds code that never ran:
// boot rewrites over 100,000 sites. Package buildtime knows what boot may write, and on
// which choices that depends. Open settles what symbols and recorded changes tell of the
// choices. Kernel.Learn settles more: it decodes segments of the trace under one value of
// a choice and another. What nothing settles stays in doubt, and Kernel.Doubts makes what
// was decoded of it ambiguous.
package boot

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
	"github.com/ptdecode/ptdecode/pt"
)

// Kernel is a vmlinux in place of a copy of the running kernel's memory: the code that
// its boot made of it, as far as that is known.
type Kernel struct {
	path    string
	kernel  *buildtime.Kernel
	shift   uint64 // what the boot added to the addresses of the link
	moved   string // how that is known
	text    uint64 // where the code lies, as it ran
	code    []byte // as it ran, as state says
	state   buildtime.State
	settled map[buildtime.Choice]string // by what evidence
	refuted map[buildtime.Choice][]int  // values that the trace contradicts
	doubts  doubts
	model   pt.Model
	mode    isa.Mode
	isa     isa.Decoder
	poked   []image.Range // that records tell of, by address
}

// Features that every kernel of 64 bits sees alike, or that its own maker's name settles
// (arch/x86/include/asm/cpufeatures.h, v6.1).
const (
	featAlways     = 3*32 + 21
	featRepGood    = 3*32 + 16
	featFenceRDTSC = 3*32 + 18
	featRSBSwitch  = 7*32 + 19
	featIBRS       = 7*32 + 12
	featRetpoline  = 11*32 + 12
	featFence      = 11*32 + 13
)

// ordinary are features that today's processors and virtual machines mostly have: what a
// boot is taken to be until the trace says otherwise.
var ordinary = []uint64{
	featRepGood, featFenceRDTSC,
	0*32 + 19,            // CLFLUSH
	1*32 + 20, 1*32 + 27, // NX, RDTSCP
	4*32 + 23, 4*32 + 13, 4*32 + 26, // POPCNT, CX16, XSAVE
	9*32 + 9, 9*32 + 20, 9*32 + 0, // ERMS, SMAP, FSGSBASE
	featRetpoline, featRSBSwitch,
}

// Source is what a recording says of the kernel that it traced.
type Source struct {
	FS       fs.FS             // of the vmlinux; nil: the system's
	Kallsyms *symbols.Kallsyms // nil: there are none
	Journal  *kcore.Journal
	Streams  []*stream.Stream
	Model    pt.Model // of the CPU; zero: not known
	Symbol   string   // that the recording's record of the kernel names; "": it has none
	Loaded   uint64   // where that lay
}

// Open opens path as a vmlinux; nil if it is another kind of file, or one whose
// boot changed nothing. The error has ErrPlace in its chain where nothing tells where it ran.
func Open(path string, from *Source) (*Kernel, error) {
	data, err := read(path, from.FS)
	if data == nil || err != nil {
		return nil, err
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil || f.Machine != elf.EM_X86_64 && f.Machine != elf.EM_AARCH64 || f.Section(".altinstructions") == nil {
		return nil, nil
	}
	b := &Kernel{path: path, model: from.Model, settled: map[buildtime.Choice]string{}, refuted: map[buildtime.Choice][]int{}}
	first := "_text"
	linked, ok := lowestText(f)
	if x := f.Section(".text"); f.Machine == elf.EM_AARCH64 && x != nil {
		first, linked, ok = "_stext", x.Addr, true // its head lies elsewhere
	}
	if !ok {
		return nil, nil
	}
	var find buildtime.Find
	syms := from.Kallsyms
	if syms != nil {
		if runs, ok := syms.Addr(first); ok {
			b.shift = runs - linked
			find = func(name string) (uint64, bool) {
				a, ok := syms.Addr(name)
				return a - b.shift, ok
			}
		}
	}
	if b.kernel, err = buildtime.Read(bytes.NewReader(data), int64(len(data)), path, find); err != nil {
		return nil, err
	}
	b.mode, b.moved = b.kernel.Mode(), "by kallsyms"
	if find == nil {
		if b.shift, b.moved, err = shift(from, b.kernel, linked); err != nil {
			return nil, &badfile.Error{File: path, What: "vmlinux", Err: err}
		}
	}
	at, code := b.kernel.Text()
	b.text, b.code = at+b.shift, bytes.Clone(code)
	b.assume()
	b.fromPokes(from.Journal, func(name string) (uint64, bool) {
		if find == nil {
			return 0, false
		}
		return syms.Addr(name)
	})
	b.apply(b.kernel.Groups(), b.state)
	return b, nil
}

// Text returns the kernel's code as it ran, as far as that is known, and where it lies.
// Learn writes to the code.
func (b *Kernel) Text() (addr uint64, code []byte) { return b.text, b.code }

// read returns what the file at path holds if it is an ELF file that a program
// runs from; nil for others, such as cores, which may be large.
func read(path string, fsys fs.FS) ([]byte, error) {
	f, err := files.Tree{FS: fsys}.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil, nil
	}
	var head [18]byte
	n, _ := f.ReadAt(head[:], 0)
	if files.Packing(head[:min(n, 4)]) == "" && !isExecutable(head[:n]) {
		return nil, nil
	}
	data, err := files.Whole(f, st, path, 0)
	if err != nil || !isExecutable(data) {
		return nil, nil //nolint:nilerr // the image says what is wrong
	}
	return data, nil
}

// isExecutable reports whether b begins as an ELF file of type EXEC or DYN does.
func isExecutable(b []byte) bool {
	if len(b) < 18 || string(b[:4]) != "\x7fELF" || b[elf.EI_DATA] != byte(elf.ELFDATA2LSB) {
		return false
	}
	t := elf.Type(binary.LittleEndian.Uint16(b[16:]))
	return t == elf.ET_EXEC || t == elf.ET_DYN
}

// lowestText returns where a kernel's code begins: _text.
func lowestText(f *elf.File) (addr uint64, ok bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr >= 1<<63 && (!ok || p.Vaddr < addr) {
			addr, ok = p.Vaddr, true
		}
	}
	return addr, ok
}

// assume sets what a boot is taken to be before anything is known of it.
func (b *Kernel) assume() {
	if b.state = (buildtime.State{}); b.mode != isa.Mode64 {
		return // the numbers of features are of each kernel's own
	}
	b.state = buildtime.State{{Kind: buildtime.Feature, ID: featAlways}: buildtime.Present}
	b.settled[feature(featAlways)] = "always set"
	for _, f := range ordinary {
		b.state[feature(f)] = buildtime.Present
	}
}

// apply writes the code of some groups as a state says. What records tell of stays.
func (b *Kernel) apply(list []*buildtime.Group, s buildtime.State) {
	for _, g := range list {
		if !b.overlaps(g) {
			copy(b.code[g.Addr+b.shift-b.text:], g.Code(s))
		}
	}
}

// overlaps reports whether a record tells of a byte of g.
func (b *Kernel) overlaps(g *buildtime.Group) bool {
	return covered(b.poked, g.Addr+b.shift) || covered(b.poked, g.Last()+b.shift)
}

// fromPokes takes what the records of changes tell of the boot: the code before the first
// change of a site, and how functions return that the kernel made itself.
func (b *Kernel) fromPokes(j *kcore.Journal, find func(string) (uint64, bool)) {
	votes := map[buildtime.Choice]map[int]int{}
	for i := range j.Len() {
		p := j.Poke(i)
		b.returnsOf(p, find)
		if len(p.Old) == 0 || !b.holds(p.Addr, len(p.Old)) || covered(b.poked, p.Addr) {
			continue
		}
		b.poked = append(b.poked, image.Range{Addr: p.Addr, Len: uint64(len(p.Old))})
		copy(b.code[p.Addr-b.text:], p.Old) // what lay there when the recording began
		for _, g := range b.kernel.Within(nil, p.Addr-b.shift, p.Addr-b.shift+uint64(len(p.Old))) {
			b.vote(g, p, votes)
		}
	}
	for c, n := range votes {
		best, most := 0, 0
		for v, k := range n {
			if k > most || k == most && v < best {
				best, most = v, k
			}
		}
		b.settle(c, best, "a change of one of its sites")
	}
}

// vote adds which values of the group's choice give what p says lay there.
func (b *Kernel) vote(g *buildtime.Group, p *kcore.Poke, votes map[buildtime.Choice]map[int]int) {
	for _, c := range g.Choices {
		if c.Kind != buildtime.Key && c.Kind != buildtime.Call {
			continue
		}
		for _, v := range b.kernel.Values(c) {
			d := p.Addr - b.shift - g.Addr
			code := g.Code(b.state.With(c, v))
			if d < uint64(len(code)) && bytes.HasPrefix(code[d:], p.Old) {
				if votes[c] == nil {
					votes[c] = map[int]int{}
				}
				votes[c][v]++
			}
		}
	}
}

// returnsOf takes how code that a record brings returns: by RET, or by a jump to a thunk.
// Trampolines of ftrace end so (arch/x86/kernel/ftrace.c, create_trampoline, v6.1), and a
// pointer follows.
func (b *Kernel) returnsOf(p *kcore.Poke, find func(string) (uint64, bool)) {
	const pointer = 8
	n := len(p.New) - pointer
	if b.mode != isa.Mode64 || len(p.Old) != 0 || n < 32 || b.settled[buildtime.ReturnThunk] != "" || binary.LittleEndian.Uint32(p.New[n+4:]) != 0xffffffff {
		return
	}
	switch end := p.New[n-5 : n]; {
	case end[0] == 0xe9:
		to := p.Addr + uint64(n) + uint64(int64(int32(binary.LittleEndian.Uint32(end[1:])))) - b.shift
		how, ok := b.kernel.ThunkOf(to)
		if a, known := find("its_return_thunk"); known && a == to+b.shift {
			how = buildtime.ThunkLowHalf
		}
		if ok {
			b.kernel.Thunk = to
			b.settle(buildtime.ReturnThunk, how, fmt.Sprintf("the trampoline recorded at %#x", p.Addr))
		}
	case end[0] == 0xc3:
		b.settle(buildtime.ReturnThunk, buildtime.ReturnInline, fmt.Sprintf("the trampoline recorded at %#x", p.Addr))
	}
}

// settle says that c has a value, and why.
func (b *Kernel) settle(c buildtime.Choice, v int, why string) {
	b.state[c] = v
	b.settled[c] = why
}

// holds reports whether the n bytes at addr are kernel code.
func (b *Kernel) holds(addr uint64, n int) bool {
	d := addr - b.text
	return d < uint64(len(b.code)) && uint64(n) <= uint64(len(b.code))-d
}

// covered reports whether one of the ranges has addr.
func covered(list []image.Range, addr uint64) bool {
	return slices.ContainsFunc(list, func(r image.Range) bool { return addr-r.Addr < r.Len })
}
