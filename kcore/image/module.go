package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"path"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// module is a module's file (ET_REL) on its way to addresses.
type module struct {
	elfSource
	f    *elf.File
	name string
	opt  Options
	at   []uint64 // by section: its address; 0: not known
	syms []elf.Symbol
	ext  map[string]uint64 // symbols of the kernel and other modules
	img  *Image
}

// readModule places the text of a module where the loader put it. A section
// lies where kallsyms has its symbols; without them text sections follow each
// other from the address that /proc/modules states (kernel/module/main.c,
// layout_sections, v6.1). Relocations are applied as the loader does; what one
// changes that can not be resolved is unknown, and so is what the loader
// rewrites besides (see loaderTables).
func readModule(s elfSource, opt Options) (*Image, error) {
	f, err := elf.NewFile(io.NewSectionReader(s.r, 0, s.size))
	if err != nil {
		return nil, &badfile.Error{File: s.name, What: "module", Err: err}
	}
	m := &module{elfSource: s, f: f, opt: opt, img: &Image{}, at: make([]uint64, len(f.Sections))}
	m.syms, _ = f.Symbols()
	m.name = m.ownName()
	if err := m.layout(); err != nil {
		return nil, err
	}
	m.resolve()
	for i, sec := range f.Sections {
		if !isText(sec) || m.at[i] == 0 {
			continue
		}
		if err := m.loadSection(i, sec); err != nil {
			return nil, err
		}
	}
	for _, tables := range []bool{false, true} { // what the loader rewrites comes last
		for _, sec := range f.Sections {
			if sec.Type == elf.SHT_RELA && int(sec.Info) < len(f.Sections) && isText(f.Sections[sec.Info]) != tables {
				if err := m.relocate(sec); err != nil {
					return nil, err
				}
			}
		}
	}
	return m.img, nil
}

// isText reports whether a section is code that stays loaded.
func isText(s *elf.Section) bool {
	const want = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	return s.Type == elf.SHT_PROGBITS && s.Flags&want == want && !strings.HasPrefix(s.Name, ".init") && s.Size > 0
}

// ownName returns the module's name: as asked, as its .modinfo says, or as its
// file is called.
func (m *module) ownName() string {
	if m.opt.Module != "" {
		return m.opt.Module
	}
	if sec := m.f.Section(".modinfo"); sec != nil && sec.Type != elf.SHT_NOBITS {
		data, _ := sec.Data()
		for _, field := range bytes.Split(data, []byte{0}) {
			if n, ok := bytes.CutPrefix(field, []byte("name=")); ok {
				return string(n)
			}
		}
	}
	base := path.Base(strings.ReplaceAll(m.elfSource.name, "\\", "/"))
	base, _, _ = strings.Cut(base, ".ko")
	return strings.ReplaceAll(base, "-", "_")
}

// layout finds the sections' addresses.
func (m *module) layout() error {
	base := m.opt.Addr
	for _, mod := range m.opt.Modules {
		if mod.Name == m.name && base == 0 {
			base = mod.Addr
		}
	}
	if err := m.fromSymbols(); err != nil {
		return err
	}
	placed, next := false, base
	for i, sec := range m.f.Sections {
		if !isText(sec) {
			continue
		}
		if base != 0 {
			align := max(sec.Addralign, 1)
			if align&(align-1) != 0 || align > 1<<21 {
				return m.errorf(0, "module: section %s: alignment %#x is no power of two up to 2 MiB", sec.Name, align)
			}
			next = (next + align - 1) &^ (align - 1)
			if m.at[i] == 0 {
				m.at[i] = next
			}
			next += sec.Size
		}
		placed = placed || m.at[i] != 0
	}
	if !placed {
		return m.errorf(0, "module: no address for %q: it is not among the %d modules given; give it as FILE@ADDR", m.name, len(m.opt.Modules))
	}
	return nil
}

// fromSymbols places sections by symbols that are once in the file and once in
// kallsyms under this module.
func (m *module) fromSymbols() error {
	if m.opt.Kallsyms == nil {
		return nil
	}
	runs, times := map[string]uint64{}, map[string]int{}
	for i := range m.opt.Kallsyms.Len() {
		if k := m.opt.Kallsyms.Entry(i); k.Module == m.name {
			runs[k.Name] = k.Addr
			times[k.Name]++
		}
	}
	for i := range m.syms {
		times[m.syms[i].Name]++
	}
	by := make([]string, len(m.at))
	for i := range m.syms {
		y := &m.syms[i]
		addr, ok := runs[y.Name]
		if s := int(y.Section); ok && times[y.Name] == 2 && s > 0 && s < len(m.at) && m.f.Sections[s].Flags&elf.SHF_ALLOC != 0 && addr > y.Value {
			switch at := addr - y.Value; {
			case m.at[s] == 0:
				m.at[s], by[s] = at, y.Name
			case m.at[s] != at:
				return m.errorf(0, "module: section %s lies at %#x by %s and at %#x by %s: it is not the module of the kallsyms",
					m.f.Sections[s].Name, m.at[s], by[s], at, y.Name)
			}
		}
	}
	return nil
}

// resolve finds the symbols that the file does not define: what the kernel or
// another module exports, which is global there.
func (m *module) resolve() {
	m.ext = map[string]uint64{}
	if m.opt.Kallsyms == nil {
		return
	}
	want := map[string]bool{}
	for i := range m.syms {
		if m.syms[i].Section == elf.SHN_UNDEF && m.syms[i].Name != "" {
			want[m.syms[i].Name] = true
		}
	}
	for i := range m.opt.Kallsyms.Len() {
		k := m.opt.Kallsyms.Entry(i)
		if want[k.Name] && k.Type >= 'A' && k.Type <= 'Z' && (m.ext[k.Name] == 0 || k.Module == "") {
			m.ext[k.Name] = k.Addr
		}
	}
}

// loadSection lays a section's bytes into the image.
func (m *module) loadSection(i int, sec *elf.Section) error {
	if sec.Offset > uint64(m.size) || sec.Size > uint64(m.size)-sec.Offset {
		return m.errorf(int64(min(sec.Offset, math.MaxInt64)), "module: section %s: %d bytes, the file has %d", sec.Name, sec.Size, m.size)
	}
	data := make([]byte, sec.Size)
	if n, err := m.r.ReadAt(data, int64(sec.Offset)); n < len(data) {
		return &badfile.Error{File: m.elfSource.name, Off: int64(sec.Offset), What: "module: section " + sec.Name, Err: err}
	}
	if err := m.img.AddBytes(m.at[i], data); err != nil {
		return &badfile.Error{File: m.elfSource.name, Off: int64(sec.Offset), What: "module: section " + sec.Name, Err: err}
	}
	return nil
}

// relocate applies the relocations of sec, which are for the section that its
// info names.
func (m *module) relocate(sec *elf.Section) error {
	to := int(sec.Info)
	text := isText(m.f.Sections[to]) && m.at[to] != 0
	how, changed := loaderTables[m.f.Sections[to].Name]
	if !text && !changed {
		return nil
	}
	data, err := sec.Data()
	if err != nil {
		return &badfile.Error{File: m.elfSource.name, Off: int64(min(sec.Offset, math.MaxInt64)), What: "module: section " + sec.Name, Err: err}
	}
	var table []byte
	if changed {
		table, _ = m.f.Sections[to].Data()
	}
	size := 0                                 // of an entry of the table
	for ; len(data) >= 24; data = data[24:] { // Elf64_Rela
		off, info := m.f.ByteOrder.Uint64(data), m.f.ByteOrder.Uint64(data[8:])
		target, ok := m.symbol(uint32(info >> 32))
		target += m.f.ByteOrder.Uint64(data[16:])
		if text {
			m.apply(m.at[to]+off, off, m.f.Sections[to].Size, uint32(info), target, ok)
			continue
		}
		if size == 0 {
			size = how.entry(len(table), data, m.f.ByteOrder)
		}
		if ok && off < uint64(len(table)) && off%uint64(size) == 0 {
			how.forget(m.img, target, table[off:], size)
		}
	}
	return nil
}

// symbol returns the address of symbol i of the file, if it is known.
func (m *module) symbol(i uint32) (uint64, bool) {
	if i == 0 || uint64(i) > uint64(len(m.syms)) {
		return 0, i == 0
	}
	y := &m.syms[i-1] // debug/elf leaves out the first
	switch s := int(y.Section); {
	case y.Section == elf.SHN_UNDEF:
		a, ok := m.ext[y.Name]
		return a, ok
	case y.Section == elf.SHN_ABS:
		return y.Value, true
	case s < len(m.at) && m.at[s] != 0:
		return m.at[s] + y.Value, true
	}
	return 0, false
}

// apply writes one relocation's value at addr, which is off bytes into a
// section of the given size, or makes the bytes unknown (x86-64 psABI, section
// "Relocation Types").
func (m *module) apply(addr, off, size uint64, typ uint32, target uint64, ok bool) {
	n, value := uint64(4), target
	x86 := m.f.Machine == elf.EM_X86_64
	switch t := elf.R_X86_64(typ); {
	case !x86:
		ok = false
		if m.f.Machine == elf.EM_AARCH64 && elf.R_AARCH64(typ) == elf.R_AARCH64_ABS64 {
			n = 8
		}
	case t == elf.R_X86_64_NONE:
		return
	case t == elf.R_X86_64_64:
		n = 8
	case t == elf.R_X86_64_PC64:
		n, value = 8, target-addr
	case t == elf.R_X86_64_PC32 || t == elf.R_X86_64_PLT32:
		value = target - addr
		ok = ok && int64(value) == int64(int32(value))
	case t == elf.R_X86_64_32:
		ok = ok && value>>32 == 0
	case t == elf.R_X86_64_32S:
		ok = ok && int64(value) == int64(int32(value))
	default:
		n, ok = 8, false
	}
	if off > size || n > size-off {
		return
	}
	if !ok {
		m.img.Remove(Range{addr, n})
		return
	}
	b := make([]byte, 8)
	binary.LittleEndian.PutUint64(b, value)
	m.img.patch(addr, b[:n])
}

// nop5 is what a call to __fentry__ becomes (arch/x86/include/asm/nops.h, v6.1).
var nop5 = []byte{0x0f, 0x1f, 0x44, 0x00, 0x00}

// rewrite is a table in a module that says where the loader changes code: each
// entry begins with where.
type rewrite struct {
	size  int  // of an entry, bytes; 0: told from the distance of two (alternatives)
	n     int  // bytes changed; 0: a byte of the entry says
	lenAt int  // which
	nop   bool // they become a NOP
}

// loaderTables are these tables on x86 (arch/x86/kernel/module.c, module_finalize,
// alternative.c, jump_label.c, static_call.c; kernel/trace/ftrace.c; v6.1).
var loaderTables = map[string]rewrite{
	".altinstructions":   {},
	".retpoline_sites":   {size: 4, n: 6},
	".return_sites":      {size: 4, n: 5},
	".call_sites":        {size: 4, n: 5},
	".ibt_endbr_seal":    {size: 4, n: 4},
	".smp_locks":         {size: 4, n: 1},
	".parainstructions":  {size: 16, lenAt: 9},
	".static_call_sites": {size: 8, n: 5},
	"__jump_table":       {size: 16, n: 5},
	"__mcount_loc":       {size: 8, n: 5, nop: true},
}

// entry returns the size of the table's entries. Those of alternatives have
// 12 bytes until v6.2 and 14 from then on (struct alt_instr); the second word
// of each is relocated too.
func (w rewrite) entry(table int, rela []byte, order binary.ByteOrder) int {
	if w.size > 0 {
		return w.size
	}
	if table%12 == 0 && (table%14 != 0 || len(rela) >= 72 && order.Uint64(rela[48:])-order.Uint64(rela) == 12) {
		return 12
	}
	return 14
}

// forget makes what one entry of a table names unknown. A call to __fentry__
// becomes a NOP in every module (ftrace_init_nop), which is known.
func (w rewrite) forget(img *Image, addr uint64, entry []byte, size int) {
	n, at := w.n, w.lenAt
	if w.size == 0 {
		at = size - 2
	}
	if n == 0 {
		if at >= len(entry) {
			return
		}
		n = int(entry[at])
	}
	r := Range{addr, uint64(n)}
	if n == 0 || r.Last() < r.Addr {
		return
	}
	if w.nop {
		img.patch(addr, nop5)
		return
	}
	img.Remove(r)
}
