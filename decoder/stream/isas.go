package stream

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a32"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// armISA reads the instruction sets of Arm: the mode says which.
type armISA struct {
	// zeros: an A64 instruction whose upper half is zero is none. There is none
	// but UDF, which nobody executes on purpose, so it shows memory that is not
	// what was executed.
	zeros bool
	// barriers: DMB and DSB are waypoints too, as ISB is: some Program Trace
	// Macrocells.
	barriers bool
}

// Decode reads the instruction at the front of text (isa.Decoder).
func (d armISA) Decode(in *isa.Insn, text []byte, addr uint64, m isa.Mode) isa.Status {
	if m == isa.ModeA64 {
		if d.zeros && len(text) >= 4 && text[2]|text[3] == 0 {
			*in = isa.Insn{}
			return isa.Bad
		}
		return a64.Decoder{}.Decode(in, text, addr, m)
	}
	st := a32.Decoder{}.Decode(in, text, addr, m)
	if d.barriers && in.Class == isa.Other && a32.DataBarrier(text, addr, m) {
		in.Class = isa.Barrier
	}
	return st
}

// MaxLen is 4 bytes.
func (armISA) MaxLen() int { return a64.Decoder{}.MaxLen() }

// Format gives the instruction at the front of text, which lies at addr and
// executes in mode m, as a line for people. sym, which may be nil, names the
// symbol that holds an address and says where it begins.
func Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	if m == isa.ModeA64 {
		return a64.Format(text, addr, m, sym)
	}
	if m == isa.ModeA32 || m == isa.ModeT32 {
		return a32.Format(text, addr, m, sym)
	}
	return x86.Format(text, addr, m, sym)
}

// ForMode returns the instruction sets among which m is.
func ForMode(m isa.Mode) isa.Decoder {
	if m == isa.ModeA64 || m == isa.ModeA32 || m == isa.ModeT32 {
		return armISA{}
	}
	return x86.Decoder{}
}

// Instructions returns the instruction sets of what the stream traces. With
// check, an A64 instruction whose upper half is zero is none.
func (st *Stream) Instructions(check bool) isa.Decoder {
	d := st.of().isa
	if _, arm := d.(armISA); arm {
		return armISA{zeros: check, barriers: st.Protocol == PTM && st.CS.V3.BarriersAreWaypoints()}
	}
	return d
}

// Executes reports whether the trace says what a CPU executed; software trace
// does not.
func (st *Stream) Executes() bool {
	return st.CS.Protocol == coresight.NoProtocol || st.CS.Protocol.Instructions()
}

// Timed reports whether the trace has timestamps, as far as its configuration
// tells.
func (st *Stream) Timed() bool {
	switch st.CS.Protocol {
	case coresight.ETMv4, coresight.ETE:
		return st.CS.V4.Timestamps()
	case coresight.ETMv3, coresight.PTM:
		return st.CS.V3.Timestamps()
	}
	return true
}

// FirstMode is the mode of code that no trace leads through. It is the one asked
// for, if the stream leaves a choice. Else it is the protocol's own, or the only one
// that the core knows.
func (st *Stream) FirstMode(asked isa.Mode) isa.Mode {
	if _, arm := st.of().isa.(armISA); arm && asked != isa.ModeUnknown {
		return asked
	}
	switch a := &st.CS.Arch; {
	case !st.CS.Protocol.Instructions():
	case a.Profile == 'M':
		return isa.ModeT32
	case a.Major != 0 && a.Major < 8 && st.of().mode == isa.ModeA64:
		return isa.ModeA32
	}
	return st.of().mode
}
