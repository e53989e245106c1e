package perfdata

import "strconv"

// Type is a record's type (perf_event_header.type). Types below 64 are
// written by the kernel (include/uapi/linux/perf_event.h, enum
// perf_event_type), those from 64 on by perf itself
// (tools/lib/perf/include/perf/event.h, enum perf_user_event_type).
type Type uint32

// The record types, v6.1 unless a tag stands beside them.
const (
	TypeMmap              Type = 1
	TypeLost              Type = 2
	TypeComm              Type = 3
	TypeExit              Type = 4
	TypeThrottle          Type = 5
	TypeUnthrottle        Type = 6
	TypeFork              Type = 7
	TypeRead              Type = 8
	TypeSample            Type = 9
	TypeMmap2             Type = 10
	TypeAux               Type = 11
	TypeItraceStart       Type = 12
	TypeLostSamples       Type = 13
	TypeSwitch            Type = 14
	TypeSwitchCPUWide     Type = 15
	TypeNamespaces        Type = 16
	TypeKsymbol           Type = 17
	TypeBPFEvent          Type = 18
	TypeCgroup            Type = 19
	TypeTextPoke          Type = 20
	TypeAuxOutputHWID     Type = 21
	TypeCallchainDeferred Type = 22 // v6.19

	TypeHeaderAttr        Type = 64
	TypeHeaderEventType   Type = 65
	TypeHeaderTracingData Type = 66 // followed by its data
	TypeHeaderBuildID     Type = 67
	TypeFinishedRound     Type = 68
	TypeIDIndex           Type = 69
	TypeAuxtraceInfo      Type = 70
	TypeAuxtrace          Type = 71 // followed by its data
	TypeAuxtraceError     Type = 72
	TypeThreadMap         Type = 73
	TypeCPUMap            Type = 74
	TypeStatConfig        Type = 75
	TypeStat              Type = 76
	TypeStatRound         Type = 77
	TypeEventUpdate       Type = 78
	TypeTimeConv          Type = 79
	TypeHeaderFeature     Type = 80
	TypeCompressed        Type = 81
	TypeFinishedInit      Type = 82
	TypeCompressed2       Type = 83 // v6.16
	TypeBPFMetadata       Type = 84 // v6.17
	TypeSchedstatCPU      Type = 85 // v7.0
	TypeSchedstatDomain   Type = 86 // v7.0

	// firstUserType is the first type that perf itself writes.
	firstUserType Type = 64
	numTypes           = 87
)

// typeNames are the names as perf script -D prints them after PERF_RECORD_
// (tools/perf/util/event.c, perf_event__names).
var typeNames = [numTypes]string{
	1: "MMAP", 2: "LOST", 3: "COMM", 4: "EXIT", 5: "THROTTLE", 6: "UNTHROTTLE",
	7: "FORK", 8: "READ", 9: "SAMPLE", 10: "MMAP2", 11: "AUX",
	12: "ITRACE_START", 13: "LOST_SAMPLES", 14: "SWITCH",
	15: "SWITCH_CPU_WIDE", 16: "NAMESPACES", 17: "KSYMBOL", 18: "BPF_EVENT",
	19: "CGROUP", 20: "TEXT_POKE", 21: "AUX_OUTPUT_HW_ID",
	22: "CALLCHAIN_DEFERRED", 64: "ATTR", 65: "EVENT_TYPE",
	66: "TRACING_DATA", 67: "BUILD_ID", 68: "FINISHED_ROUND",
	69: "ID_INDEX", 70: "AUXTRACE_INFO", 71: "AUXTRACE", 72: "AUXTRACE_ERROR",
	73: "THREAD_MAP", 74: "CPU_MAP", 75: "STAT_CONFIG", 76: "STAT",
	77: "STAT_ROUND", 78: "EVENT_UPDATE", 79: "TIME_CONV",
	80: "FEATURE", 81: "COMPRESSED", 82: "FINISHED_INIT",
	83: "COMPRESSED2", 84: "BPF_METADATA", 85: "SCHEDSTAT_CPU",
	86: "SCHEDSTAT_DOMAIN",
}

// String returns the type's name without PERF_RECORD_; a type that has none
// prints as its number.
func (t Type) String() string {
	if t < numTypes && typeNames[t] != "" {
		return typeNames[t]
	}
	if i := t - TypeSimpleKernelSymbol; t > TypeSimpleStart && int(i) < len(simpleNames) {
		return simpleNames[i]
	}
	if t == TypeDamaged {
		return "DAMAGED"
	}
	return "type " + strconv.FormatUint(uint64(t), 10)
}

// Misc is perf_event_header.misc (include/uapi/linux/perf_event.h,
// PERF_RECORD_MISC_*). Bits 13 and 14 mean different things by type.
type Misc uint16

// The bits of Misc.
const (
	MiscCPUModeMask   Misc = 7
	MiscKernel        Misc = 1
	MiscUser          Misc = 2
	MiscHypervisor    Misc = 3
	MiscGuestKernel   Misc = 4
	MiscGuestUser     Misc = 5
	MiscMmapData      Misc = 1 << 13 // MMAP, MMAP2: not executable
	MiscCommExec      Misc = 1 << 13 // COMM: due to exec
	MiscForkExec      Misc = 1 << 13 // FORK: before exec (perf only)
	MiscSwitchOut     Misc = 1 << 13 // SWITCH*: out, else in
	MiscExactIP       Misc = 1 << 14 // SAMPLE
	MiscSwitchPreempt Misc = 1 << 14 // SWITCH*: switched out still runnable
	MiscMmapBuildID   Misc = 1 << 14 // MMAP2: build-id form
	MiscBuildIDSize   Misc = 1 << 15 // HEADER_BUILD_ID: the size is stated
	MiscLostBPF       Misc = 1 << 15 // LOST_SAMPLES: dropped by a BPF filter (v6.12)
)

// The bits of Attr.SampleType (include/uapi/linux/perf_event.h, enum
// perf_event_sample_format).
const (
	SampleIP           = 1 << 0
	SampleTID          = 1 << 1
	SampleTime         = 1 << 2
	SampleAddr         = 1 << 3
	SampleRead         = 1 << 4
	SampleCallchain    = 1 << 5
	SampleID           = 1 << 6
	SampleCPU          = 1 << 7
	SamplePeriod       = 1 << 8
	SampleStreamID     = 1 << 9
	SampleRaw          = 1 << 10
	SampleBranchStack  = 1 << 11
	SampleRegsUser     = 1 << 12
	SampleStackUser    = 1 << 13
	SampleWeight       = 1 << 14
	SampleDataSrc      = 1 << 15
	SampleIdentifier   = 1 << 16
	SampleTransaction  = 1 << 17
	SampleRegsIntr     = 1 << 18
	SamplePhysAddr     = 1 << 19
	SampleAux          = 1 << 20
	SampleCgroup       = 1 << 21
	SampleDataPageSize = 1 << 22
	SampleCodePageSize = 1 << 23
	SampleWeightStruct = 1 << 24

	sampleWeightAny = SampleWeight | SampleWeightStruct
)

// The bits of Attr.ReadFormat (enum perf_event_read_format).
const (
	readEnabled = 1 << 0
	readRunning = 1 << 1
	readID      = 1 << 2
	readGroup   = 1 << 3
	readLost    = 1 << 4
)

// The bits of Attr.BranchSampleType that change a branch stack's layout
// (enum perf_branch_sample_type).
const (
	branchHWIndex  = 1 << 17 // a word before the entries
	branchCounters = 1 << 19 // a word an entry, after them (v6.8)
)

// The bits of AUX.Flags (PERF_AUX_FLAG_*).
const (
	AuxTruncated  = 0x01 // data was dropped: the buffer was full
	AuxOverwrite  = 0x02 // snapshot mode
	AuxPartial    = 0x04 // the data has gaps
	AuxCollision  = 0x08 // the sample collided with another
	AuxFormatMask = 0xff00

	// AuxFormatCoreSightRaw: the data is a source's own, not formatted
	// frames (PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW).
	AuxFormatCoreSightRaw = 0x0100
)
