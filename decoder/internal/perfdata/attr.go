package perfdata

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Attr is an event's attributes (struct perf_event_attr) with its ids. Fields
// that the file's shorter structure does not have are zero.
type Attr struct {
	Type             uint32 // perf_type_id, or a dynamic PMU type
	Size             uint32 // bytes the file's structure has
	Config           uint64
	SamplePeriod     uint64 // or the frequency, Hz, when FlagFreq
	SampleType       uint64
	ReadFormat       uint64
	Flags            AttrFlags
	WakeupEvents     uint32
	BPType           uint32
	Config1          uint64
	Config2          uint64
	BranchSampleType uint64
	SampleRegsUser   uint64
	SampleStackUser  uint32 // bytes
	ClockID          int32  // valid if AttrUseClockID
	SampleRegsIntr   uint64
	AuxWatermark     uint32 // bytes
	SampleMaxStack   uint16
	AuxSampleSize    uint32 // bytes
	SigData          uint64
	Config3          uint64

	IDs   []uint64
	Name  string // as the user wrote it, where the file says it
	Index int    // of the event in the recording
	Raw   []byte // the structure as it stands in the file

	pos   idPositions
	idLen int // bytes of the sample_id trailer
}

// AttrFlags is the bit field of struct perf_event_attr.
type AttrFlags uint64

// The bits of AttrFlags (include/uapi/linux/perf_event.h).
const (
	AttrDisabled      AttrFlags = 1 << 0
	AttrInherit       AttrFlags = 1 << 1
	AttrExcludeUser   AttrFlags = 1 << 4
	AttrExcludeKernel AttrFlags = 1 << 5
	AttrExcludeHV     AttrFlags = 1 << 6
	AttrMmap          AttrFlags = 1 << 8
	AttrComm          AttrFlags = 1 << 9
	AttrFreq          AttrFlags = 1 << 10
	AttrEnableOnExec  AttrFlags = 1 << 12
	AttrTask          AttrFlags = 1 << 13
	AttrMmapData      AttrFlags = 1 << 17
	AttrSampleIDAll   AttrFlags = 1 << 18
	AttrExcludeHost   AttrFlags = 1 << 19
	AttrExcludeGuest  AttrFlags = 1 << 20
	AttrMmap2         AttrFlags = 1 << 23
	AttrCommExec      AttrFlags = 1 << 24
	AttrUseClockID    AttrFlags = 1 << 25
	AttrContextSwitch AttrFlags = 1 << 26
	AttrWriteBackward AttrFlags = 1 << 27
	AttrNamespaces    AttrFlags = 1 << 28
	AttrKsymbol       AttrFlags = 1 << 29
	AttrBPFEvent      AttrFlags = 1 << 30
	AttrAuxOutput     AttrFlags = 1 << 31
	AttrCgroup        AttrFlags = 1 << 32
	AttrTextPoke      AttrFlags = 1 << 33
	AttrBuildID       AttrFlags = 1 << 34
)

// Kinds of events that Attr.Type names (enum perf_type_id), and what an event of a
// breakpoint waits for (include/uapi/linux/hw_breakpoint.h).
const (
	EventTracepoint = 2 // Config is the ID of its format
	EventBreakpoint = 5 // Config1 is its address, BPType what it waits for

	BreakpointX = 4 // execution
)

// attrSizeVer0 is the first published size of struct perf_event_attr, bytes;
// a size of 0 in the file means it.
const attrSizeVer0 = 64

// parseAttr reads the structure at the start of b, whose own size field says
// how long it is. A longer structure than is known here is read as far as
// known; a shorter one leaves zeros.
func parseAttr(b []byte) (Attr, error) {
	if len(b) < attrSizeVer0 {
		return Attr{}, fmt.Errorf("perf_event_attr: %d bytes, need %d", len(b), attrSizeVer0)
	}
	size := binary.LittleEndian.Uint32(b[4:])
	if size == 0 {
		size = attrSizeVer0
	}
	if size < attrSizeVer0 || int64(size) > int64(len(b)) {
		return Attr{}, fmt.Errorf("perf_event_attr: size %d, need %d to %d", size, attrSizeVer0, len(b))
	}
	var full [136]byte
	copy(full[:], b[:size])
	le := binary.LittleEndian
	a := Attr{
		Type: le.Uint32(full[0:]), Size: size, Config: le.Uint64(full[8:]),
		SamplePeriod: le.Uint64(full[16:]), SampleType: le.Uint64(full[24:]),
		ReadFormat: le.Uint64(full[32:]), Flags: AttrFlags(le.Uint64(full[40:])),
		WakeupEvents: le.Uint32(full[48:]), BPType: le.Uint32(full[52:]),
		Config1: le.Uint64(full[56:]), Config2: le.Uint64(full[64:]),
		BranchSampleType: le.Uint64(full[72:]), SampleRegsUser: le.Uint64(full[80:]),
		SampleStackUser: le.Uint32(full[88:]), ClockID: int32(le.Uint32(full[92:])),
		SampleRegsIntr: le.Uint64(full[96:]), AuxWatermark: le.Uint32(full[104:]),
		SampleMaxStack: le.Uint16(full[108:]), AuxSampleSize: le.Uint32(full[112:]),
		SigData: le.Uint64(full[120:]), Config3: le.Uint64(full[128:]), Raw: b[:size:size],
	}
	a.place()
	return a, nil
}

// identLen is how many bytes of a record's body say who and when.
func (a *Attr) identLen(t Type) int {
	if t == TypeSample {
		return 8 * bits.OnesCount64(a.SampleType&(trailerBits|SampleIP|SampleAddr))
	}
	return a.idLen
}

// Has reports whether all bits of f are set.
func (a *Attr) Has(f AttrFlags) bool { return a.Flags&f == f }

// HasTime reports whether the event's records carry a time.
func (a *Attr) HasTime() bool { return a.SampleType&SampleTime != 0 }
