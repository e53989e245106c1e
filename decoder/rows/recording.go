package rows

import (
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Recording is what rows ask of the recording whose flow they list. A
// decoder.Session is one.
type Recording interface {
	// Symbol names addr in an address space at a time, ns.
	Symbol(space uint32, addr, time uint64) (sym string, off uint64, dso string, ok bool)
	// Lines returns the places in the source that the code at addr was made of, in an
	// address space at a time, ns. The calls in which the line was inlined follow it.
	Lines(space uint32, addr, time uint64) []symbols.Frame
	// UserEpochs returns for how long what lies at addr lay there, in changes of the address
	// space's code, counted from 0.
	UserEpochs(space uint32, addr uint64) event.Span
	// Kernel reports whether addr is the kernel's, whatever the address space.
	Kernel(addr uint64) bool
	// Running returns the thread that a stream traced at a time, ns, and until when
	// the answer stays the same.
	Running(stream int, time uint64) (tid int32, comm string, until uint64, ok bool)
	// NextRunning returns the first thread other than tid that records say ran on a
	// stream's CPU after a time, ns, and from when on.
	NextRunning(stream int, after uint64, tid int32) (time uint64, next int32, ok bool)
	// Code copies the machine code at addr as of an epoch; it returns how many
	// bytes are known.
	Code(dst []byte, space uint32, addr uint64, at event.Epoch) int
	// ISA returns the instruction set of the kernel's code and its mode.
	ISA() (isa.Decoder, isa.Mode)
	// Format gives the instruction at the front of text, at addr in mode m, as a
	// line; sym names the symbol that holds an address.
	Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string
	// Text returns the kernel's code in time.
	Text() *kcore.Text
	// Symbols returns the kernel's symbols, nil where there are none.
	Symbols() *symbols.Table
}

// Stream names one trace source.
type Stream struct {
	Index int
	CPU   int32  // -1: not known, or a thread's
	TID   int32  // of a thread's
	ID    string // of CoreSight: the trace ID, hex; else ""
	Name  string // for people: "cpu0", "tid12", "id10"

	// Guest is the process whose virtual machine the stream is of, 0: the host's, and
	// Machine what is recorded of that machine; nil: what the Maker was given.
	Guest   int32
	Machine Recording

	SilentReturns bool // no packet tells of an exception return: an executed ERET is one

	// ElementNames are names of elements that differ from other protocols'; nil:
	// none does.
	ElementNames map[string]string

	// FileOff answers Place; nil: off itself says where a byte stands.
	FileOff func(off int64) (file string, at int64, ok bool)
}

// Short returns how lines name the stream: its CPU's number, tidN for a
// thread's, the trace ID where neither is known. Behind a guest's stands @ and the
// process that runs it.
func (s *Stream) Short() string {
	if s.Guest != 0 {
		host := *s
		host.Guest = 0
		return host.Short() + "@" + strconv.Itoa(int(s.Guest))
	}
	if s.CPU < 0 && s.TID < 0 && s.ID != "" {
		return s.ID
	}
	if s.CPU < 0 {
		return "tid" + strconv.Itoa(int(s.TID))
	}
	return strconv.Itoa(int(s.CPU))
}

// Place returns the file that the byte at off stands in, and where in it. ok is
// false where off itself says it, or nothing does.
func (s *Stream) Place(off int64) (file string, at int64, ok bool) {
	if s.FileOff == nil {
		return "", 0, false
	}
	return s.FileOff(off)
}

// SilentReturn reports whether x ends in an exception return of which the
// stream has no packet.
func (s *Stream) SilentReturn(x *flow.Range) bool {
	return s.SilentReturns && x.N == x.Block.N && x.Block.Class == isa.FarReturn && x.Block.Mode == isa.ModeA64
}
