package decoder

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Session is an open recording: its streams, the kernel's code in time, and which thread
// ran when. It may be used by many goroutines.
type Session struct {
	naming
	objects
	cfg      Config
	rec      *recording.Recording
	streams  []*stream.Stream
	from     sources
	code     atomic.Pointer[code]
	learned  learned
	symbols  *symbols.Table
	isa      isa.Decoder // of the kernel's text, in mode
	mode     isa.Mode
	kernel   uint64       // the lowest address that is the kernel's
	spare    sync.Pool    // of *flow.Batch: empty, with memory to write to
	lists    boot.Lists   // of flow that is compared with that of other code
	held     held.Meter   // bytes of batches that wait to be delivered
	passes   atomic.Int64 // how often a segment was decoded to be read backwards
	decoded  atomic.Int64 // bytes of trace of the segments that were decoded
	walk     flow.Config
	complete uint64              // ns: up to here no record of the recording is missing
	files    recording.TextFiles // that text was read from
	late     string              // and that of after the recording; "": none
	paths    atomic.Uint32       // how many paths of walkers have a number (flow.Walked)
	boot     *boot.Kernel        // nil: the kernel's code is no vmlinux
	versions versions            // of its code, that boot may have made of it
	guests   []*Session          // virtual machines, each with its part of the streams
	offset   int64               // ns: what was added to the times of a virtual machine's records
}

// Streams returns the trace streams.
func (s *Session) Streams() []*Stream { return s.streams }

// Text returns the kernel's code in time. What Session.Flow learned of the code is in it
// from then on.
func (s *Session) Text() *kcore.Text { return s.code.Load().text.Text }

// Symbols returns the kernel's symbols; nil where none are known.
func (s *Session) Symbols() *symbols.Table { return s.symbols }

// Meta returns what the recording says of itself.
func (s *Session) Meta() *Meta { return &s.rec.Meta }

// Warnings returns what is missing from the recording, or doubtful in it.
func (s *Session) Warnings() []Warning { return s.rec.Warnings }

// Close releases the files, and returns the first error of doing so. No flow may be under
// way. Code, changes and streams lie in the memory of the files, and must not be used any
// more. What Meta, Warnings, Sources and Name returned may be, and strings.
func (s *Session) Close() error {
	for _, g := range s.guests {
		g.rec.Close()
	}
	return s.rec.Close()
}

// kernelFile stands for the file of the kernel's own symbols.
const kernelFile = "[kernel.kallsyms]"

// Symbol names an address of code in an address space (0: the kernel's) at a time, ns. sym
// is the symbol that holds it, off how many bytes addr lies behind its start, and dso the
// file of the symbol. A file that has no name for addr gives "" for sym, and an offset in
// the file for off. ok is false if nothing names the address.
func (s *Session) Symbol(space uint32, addr, time uint64) (sym string, off uint64, dso string, ok bool) {
	if space != 0 && !s.Kernel(addr) {
		p, found := s.rec.Processes.Spaces.Symbol(space, addr)
		if p.Sym == "" {
			if g, named := s.rec.Processes.Spaces.GivenSymbol(addr); named {
				p, found = g, true
			}
		}
		return p.Sym, p.Off, p.File, found
	}
	if s.symbols != nil {
		if y, o, found := s.symbols.Lookup(addr, time); found {
			return y.Name, o, y.File(), true
		}
	}
	p, ok := s.rec.Processes.Spaces.GivenSymbol(addr)
	return p.Sym, p.Off, p.File, ok
}

// Unreadable says why the code at addr could not be read in any of the programs
// that had a file there; nil if it was not tried, or could be.
func (s *Session) Unreadable(addr uint64) error { return s.rec.Processes.Spaces.Trouble(addr) }

// finish is done when all facts are in: the walker's configuration.
func (s *Session) finish() {
	s.objects.s = s
	s.mode = isa.Mode64
	if len(s.streams) == 0 {
		s.mode = cmp.Or(s.cfg.Mode, machineMode(s.rec.Meta.Machine))
	}
	s.isa = stream.ForMode(s.mode).Decoder
	if len(s.streams) > 0 {
		st := s.streams[max(0, slices.IndexFunc(s.streams, (*stream.Stream).Executes))]
		s.isa, s.mode = s.instructions(st), st.FirstMode(s.cfg.Mode)
	}
	s.naming = naming{s.rec, s.Kernel, s.symbols, s.mode}
	s.from.holes = s.from.holes && s.mode == isa.Mode64 // zeros are no instruction on Arm
	c := s.code.Load()
	c.text.holes, c.caches = s.from.holes, learner{s}.newCaches()
	s.walk = flow.Config{Traced: s.filtered(), Kernel: s.kernel}
	s.walk.Breaks = recording.FindBreakEntries(s.rec.BreakEntries(s.symbols), s.mode, s.from.img)
}

// machineMode returns the mode of a kernel's code by what uname -m says.
func machineMode(machine string) isa.Mode {
	switch {
	case machine == "aarch64":
		return isa.ModeA64
	case strings.HasPrefix(machine, "arm"):
		return isa.ModeA32
	}
	return isa.Mode64
}

// instructions returns the instruction sets of what st traces.
func (s *Session) instructions(st *stream.Stream) isa.Decoder {
	return st.Instructions(s.cfg.CheckOpcodes)
}

// reading is how text becomes blocks: what ends one, and which instructions it
// holds.
type reading struct {
	rules isa.Rules
	isa   isa.Decoder
	guest int32 // whose code it is
}

// reading returns how the text that st traces becomes blocks.
func (s *Session) reading(st *stream.Stream) reading {
	return reading{st.Rules(), s.instructions(st), st.Guest}
}

// Format disassembles the instruction at the front of text, which lies at addr and executes
// in mode m, as a line for people. The syntax is that of Config.Syntax. sym, which may be
// nil, names the symbol that holds an address and says where it begins, "" if there is none.
func (s *Session) Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	for _, st := range s.streams {
		if set := st.Protocol.Set; slices.Contains(set.Modes, m) {
			return set.In(s.cfg.Syntax, text, addr, m, sym)
		}
	}
	return stream.ForMode(m).In(s.cfg.Syntax, text, addr, m, sym)
}

// ISA returns the decoder of the kernel's instructions, and the mode of its code.
func (s *Session) ISA() (isa.Decoder, isa.Mode) { return s.isa, s.mode }

// traced is what of st says whose user addresses in it are. A kernel of 32 bits
// does not write threads' numbers where the trace states them.
func (s *Session) traced(st *stream.Stream) process.Traced {
	tr := process.Traced{CPU: st.CPU, TID: st.TID}
	if id := st.Identity(); s.kernel == isa.UpperHalf || id == event.PageTable {
		tr.States = id
	}
	return tr
}
