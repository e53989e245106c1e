package stream

import (
	"slices"

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
	if d.barriers && in.Class == isa.Other && (a32.Decoder{}).DataBarrier(text, addr, m) {
		in.Class = isa.Barrier
	}
	return st
}

// MaxLen is 4 bytes.
func (armISA) MaxLen() int { return a64.Decoder{}.MaxLen() }

// InstructionSet is what a kind of core executes, in all of its modes: a row of the
// table of instruction sets.
type InstructionSet struct {
	Name    string
	Modes   []isa.Mode
	Decoder isa.Decoder
	// Format gives the instruction at the front of code, which lies at addr and
	// executes in mode m, as a line for people. sym, which may be nil, names the
	// symbol that holds an address and says where it begins.
	Format func(code []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string
	// Formats is Format in other syntaxes, by their names.
	Formats map[string]func(code []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string
}

// In gives the instruction at the front of code as Format does, in a syntax; "" is that of
// Format, and so is one that the set does not have.
func (s *InstructionSet) In(syntax string, code []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	if f := s.Formats[syntax]; f != nil {
		return f(code, addr, m, sym)
	}
	return s.Format(code, addr, m, sym)
}

// InstructionSets returns all instruction sets, in a fixed order.
func InstructionSets() []*InstructionSet { return []*InstructionSet{X86, Arm} }

// The instruction sets. They do not change.
var (
	X86 = &InstructionSet{
		Name: "x86", Modes: []isa.Mode{isa.Mode16, isa.Mode32, isa.Mode64}, Decoder: x86.Decoder{}, Format: x86.Decoder{}.Format,
		Formats: map[string]func([]byte, uint64, isa.Mode, func(uint64) (string, uint64)) string{
			"intel": x86.Decoder{}.FormatIntel, "go": x86.Decoder{}.FormatGo,
		},
	}
	Arm = &InstructionSet{
		Name: "Arm", Modes: []isa.Mode{isa.ModeA64, isa.ModeA32, isa.ModeT32}, Decoder: armISA{}, Format: formatArm,
	}
)

// ForMode returns the instruction set that has the mode m; X86 if none does.
func ForMode(m isa.Mode) *InstructionSet {
	for _, s := range InstructionSets() {
		if slices.Contains(s.Modes, m) {
			return s
		}
	}
	return X86
}

func formatArm(code []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string {
	if m == isa.ModeA64 {
		return a64.Decoder{}.Format(code, addr, m, sym)
	}
	return a32.Decoder{}.Format(code, addr, m, sym)
}

func instructionsArm(_ *Stream, check bool) isa.Decoder { return armISA{zeros: check} }

func instructionsPTM(st *Stream, check bool) isa.Decoder {
	c := st.CoreSight()
	return armISA{zeros: check, barriers: c.V3.BarriersAreWaypoints()}
}

// firstModeAsked is the mode asked for, else the protocol's.
func firstModeAsked(st *Stream, asked isa.Mode) isa.Mode {
	if asked != isa.ModeUnknown {
		return asked
	}
	return st.Protocol.Mode
}

// firstModeCore is the mode asked for, else the only one that the core knows, else
// the protocol's.
func firstModeCore(st *Stream, asked isa.Mode) isa.Mode {
	switch a := st.CoreSight().Arch; {
	case asked != isa.ModeUnknown:
		return asked
	case a.Profile == 'M':
		return isa.ModeT32
	case a.Major != 0 && a.Major < 8 && st.Protocol.Mode == isa.ModeA64:
		return isa.ModeA32
	}
	return st.Protocol.Mode
}
