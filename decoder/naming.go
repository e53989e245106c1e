package decoder

import (
	"cmp"
	"path/filepath"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/elfnames"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/srclines"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// naming answers what the code of a session is called, besides Session.Symbol.
type naming struct {
	rec     *recording.Recording
	kernel  func(addr uint64) bool // Session.Kernel
	symbols *symbols.Table         // the kernel's; nil: none are known
	mode    isa.Mode               // of the kernel's code
}

// ModeAt returns the mode in which code at addr is read where no trace says it. That is what
// Arm's mapping symbols say in the files that Config.Code and Config.Kcore name. Without
// them it is the mode of the kernel's code.
func (n *naming) ModeAt(addr uint64) isa.Mode {
	if m, ok := n.rec.Processes.Spaces.GivenMode(addr); ok && m != isa.ModeUnknown {
		return m
	}
	return n.mode
}

// FindSymbol returns the symbol with a name: the kernel's, or else that of a file that
// Config.Code or Config.Kcore names. ok is false if there is none.
func (n *naming) FindSymbol(name string) (y symbols.Symbol, ok bool) {
	if n.symbols != nil {
		if y, ok = n.symbols.Find(name); ok {
			return y, true
		}
	}
	addr, length, ok := n.rec.Processes.Spaces.GivenFind(name)
	return symbols.Symbol{Name: name, Addr: addr, Len: length, Code: true}, ok
}

// Lines returns the places in the source that the code at addr, in an address space at a
// time, ns, was compiled from. The first is the line itself. Each one behind it is the call
// through which the one before was inlined; the last lies in the function itself. nil if
// nothing tells.
func (n *naming) Lines(space uint32, addr, time uint64) []symbols.Frame {
	u := n.rec.Processes.Spaces
	var frames []srclines.Frame
	if space != 0 && !n.kernel(addr) {
		frames = u.Lines(space, addr)
	}
	if frames == nil {
		frames = u.GivenLines(addr)
	}
	var list []symbols.Frame
	for _, f := range frames {
		list = append(list, symbols.Frame{Sym: f.Func, File: f.File, Line: f.Line})
	}
	return list
}

// NameBy takes names and source lines of kernel code from an ELF file: the vmlinux of the
// kernel that ran, moved to where that kernel ran. Its machine code is not used, and its
// names only where nothing else has one. It must be called before any flow.
func (n *naming) NameBy(file string) {
	n.rec.Processes.Spaces.Give(file, func(e *elfnames.File) uint64 { return n.moved(e) })
}

// namer is a Session for those who set up what names code.
type namer struct{ *Session }

// programs says how the code of programs is named, and where what they wrote of code that
// they made may lie.
func (s namer) programs(u *process.Spaces) {
	u.Naming = process.Naming{Mangled: s.cfg.NoDemangle, Memory: held.NamesShare(memoryOf(&s.cfg))}
	if c := s.rec.Meta.PT.TimeConv; c.Valid {
		u.Clock.Ticks = c.NS
	}
	for _, p := range []string{s.cfg.Recording, s.cfg.Events} {
		if p != "" && p != "-" {
			u.Beside = append(u.Beside, p, filepath.Dir(p)) // the first is a folder or nothing
		}
	}
}

// give has the files of code that the call names, kcore among them, name their code.
func (s namer) give(kcore string) {
	u := s.rec.Processes.Spaces
	for _, f := range append([]recording.CodeFile{{Path: kcore}}, s.cfg.Code...) {
		if f.Path != "" {
			u.Give(f.Path, func(e *elfnames.File) uint64 { return cmp.Or(f.Addr, s.moved(e)) })
		}
	}
}

// moved returns what is added to the addresses that a file is linked to: for a vmlinux what
// leads to where the kernel ran, else nothing.
func (n *naming) moved(e *elfnames.File) uint64 {
	for _, name := range []string{"_text", "_stext"} {
		linked, has := e.Value(name)
		if !has || linked < isa.UpperHalf {
			continue
		}
		if n.symbols != nil {
			if y, ok := n.symbols.Find(name); ok {
				return y.Addr - linked
			}
		}
		if k := n.rec.Kernel; k.Symbol == name {
			return k.Addr - linked
		}
	}
	return 0
}

// tellDumps says which of the code that programs made is not used, and which is not there.
func (s namer) tellDumps(u *process.Spaces) {
	for _, d := range u.Untimed {
		what, hint := d.Trouble()
		s.rec.Warnf(hint, "%s", what)
		s.rec.Warnings[len(s.rec.Warnings)-1].Damage = d.Damaged != nil
	}
	if what, hint := process.LackingDumps(u); what != "" {
		s.rec.Warnings = append(s.rec.Warnings, Warning{What: what, Hint: hint})
	}
}

// UserEpochs returns for how long what lies at addr, in an address space of a program, lay
// there. It counts the changes of that program's code, from 0 on: the mappings that took the
// place of others. Until is event.MaxEpoch where nothing took its place.
func (n *naming) UserEpochs(space uint32, addr uint64) event.Span {
	from, until, last := n.rec.Processes.Spaces.Epochs(space, addr)
	span := event.Span{From: event.Epoch(from), Until: event.Epoch(until)}
	if last {
		span.Until = event.MaxEpoch
	}
	return span
}
