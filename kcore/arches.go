package kcore

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// archID indexes the table of architectures.
type archID uint8

const (
	archAny archID = iota // told from the poke
	archX86
	archA64
	archA32
)

// arch is a row of the table of architectures: how one's kernel writes code.
type arch struct {
	// traps are the breakpoint instructions that its kernel writes.
	traps []pattern
	// recorded is the scheme that a TEXT_POKE record states by its bytes, both
	// of which are there; nil: such records name no scheme.
	recorded func(addr uint64, old, new []byte) Scheme
	// kind tells what a poke was made for; nil: not known.
	kind func(c *classifier, p *Poke) Kind
	// kindOf are the schemes of which kind knows the patchers; nil: all.
	kindOf []Scheme
}

// pattern is an instruction by its leading bits.
type pattern struct {
	n          int    // bytes, at most 4
	mask, bits uint32 // of the bytes, little-endian
}

// at reports whether text begins with the instruction.
func (x pattern) at(text []byte) bool {
	if len(text) < x.n {
		return false
	}
	var b [4]byte
	copy(b[:], text[:x.n])
	return binary.LittleEndian.Uint32(b[:])&x.mask == x.bits
}

// x86Trap is INT3 (Intel SDM, volume 2, "INT n/INTO/INT3/INT1").
const x86Trap = 0xcc

// kernelArches returns the architectures of Linux whose code can be read.
// Traps: INT3; BRK (DDI0487, "BRK"); the undefined instructions of probes
// (arch/arm/probes/kprobes/core.h, v6.1) in A32 and in both lengths of T32.
func kernelArches() []arch {
	return []arch{
		archX86: {
			traps:    []pattern{{1, 0xff, x86Trap}},
			recorded: x86Recorded,
			kind:     (*classifier).x86Kind,
			kindOf:   []Scheme{SchemeBP, SchemeKprobe},
		},
		archA64: {
			traps:    []pattern{{4, 0xffe0001f, 0xd4200000}},
			recorded: a64Recorded,
			kind:     (*classifier).a64Kind,
		},
		archA32: {
			traps: []pattern{{4, 0x0fffffff, 0x07f001f8}, {4, 0xffffffff, 0xa018f7f0}, {2, 0xffff, 0xde18}},
			kind:  (*classifier).a32Kind,
		},
	}
}

// archOf returns the architecture whose code p changes: its scheme's, if that
// has one. Else the address and the lengths tell. Arm's kernels of 64 bits lie in
// the upper half, and their instructions have 4 bytes each.
func (r *rules) archOf(p *Poke) *arch {
	id := r.scheme(p.Scheme).arch
	switch {
	case id != archAny:
	case p.Addr>>32 == 0:
		id = archA32
	case (len(p.Old)|len(p.New))%4 == 0:
		id = archA64
	default:
		id = archX86
	}
	return &r.arches[id]
}

// trapLen returns the length of the trap with which text begins, bytes; 0: it
// does not begin with one.
func (a *arch) trapLen(text []byte) int {
	for _, x := range a.traps {
		if x.at(text) {
			return x.n
		}
	}
	return 0
}

// RecordedPoke returns the poke that a PERF_RECORD_TEXT_POKE of an x86-64 kernel states
// (include/uapi/linux/perf_event.h). time is the record's, ns; cpu is -1 where it is not
// known. The poke keeps old and new.
func RecordedPoke(time uint64, cpu int, addr uint64, old, new []byte) Poke {
	return Poke{
		Time: time, Begin: time, End: time, CPU: cpu, Addr: addr, Old: old, New: new,
		Scheme: RecordedScheme(isa.Mode64, addr, old, new),
	}
}

// RecordedScheme returns the scheme of the poke that a PERF_RECORD_TEXT_POKE states. The
// record does not name it, but its bytes tell. With old or new empty it is SchemeSlot. m is
// the mode of the code; SchemeUnsafe is the answer for modes whose kernels write no such
// records.
func RecordedScheme(m isa.Mode, addr uint64, old, new []byte) Scheme {
	id := archX86
	switch m {
	case isa.ModeA64:
		id = archA64
	case isa.ModeA32, isa.ModeT32:
		id = archA32
	}
	switch a := &linux.arches[id]; {
	case len(old) == 0 || len(new) == 0:
		return SchemeSlot
	case a.recorded != nil:
		return a.recorded(addr, old, new)
	}
	return SchemeUnsafe
}

// x86Recorded tells the scheme from the lengths (Linux up to v7.3). One byte is
// a kprobe armed or disarmed. Five bytes that become the trap with a tail are an
// optprobe taken back. All else is the batch protocol.
func x86Recorded(_ uint64, old, new []byte) Scheme {
	switch {
	case len(old) == 1 && len(new) == 1, len(new) == 5 && new[0] == x86Trap && old[0] != x86Trap:
		return SchemeKprobe
	}
	return SchemeBP
}

// a64Recorded tells the scheme from the instructions. Where both may be changed
// into each other while they run, the kernel writes the word and no more.
// Anything else needs stop_machine, which such a record would not tell
// (arch/arm64/kernel/patching.c, v6.12).
func a64Recorded(addr uint64, old, new []byte) Scheme {
	if addr%4 == 0 && loneWord(old) && loneWord(new) {
		return SchemeAtomic
	}
	return SchemeUnsafe
}

// loneWord reports whether text is one of the A64 instructions that may be
// changed while they run (DDI0487, B2 "Concurrent modification and execution of
// instructions"). A BTI is taken for one: as code that runs it is a NOP.
func loneWord(text []byte) bool {
	if len(text) != 4 {
		return false
	}
	for _, x := range [...]pattern{
		{4, 0xfc000000, 0x14000000}, // B
		{4, 0xfc000000, 0x94000000}, // BL
		{4, 0xffe0001f, 0xd4000001}, // SVC
		{4, 0xffe0001f, 0xd4000002}, // HVC
		{4, 0xffe0001f, 0xd4000003}, // SMC
		{4, 0xffe0001f, 0xd4200000}, // BRK
		{4, 0xfffff0ff, 0xd50330df}, // ISB
		{4, 0xffffffff, 0xd503201f}, // NOP
		{4, 0xffffff3f, 0xd503241f}, // BTI
	} {
		if x.at(text) {
			return true
		}
	}
	return false
}
