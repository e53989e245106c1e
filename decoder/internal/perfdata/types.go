package perfdata

import "strconv"

// Type is a record's type (perf_event_header.type). Types below 64 are
// written by the kernel (include/uapi/linux/perf_event.h, enum
// perf_event_type), those from 64 on by perf itself
// (tools/lib/perf/include/perf/event.h, enum perf_user_event_type).
type Type uint32

// The record types, v6.1 unless a tag stands beside them.
const (
	TypeMmap Type = 1 + iota
	TypeLost
	TypeComm
	TypeExit
	TypeThrottle
	TypeUnthrottle
	TypeFork
	TypeRead
	TypeSample
	TypeMmap2
	TypeAux
	TypeItraceStart
	TypeLostSamples
	TypeSwitch
	TypeSwitchCPUWide
	TypeNamespaces
	TypeKsymbol
	TypeBPFEvent
	TypeCgroup
	TypeTextPoke
	TypeAuxOutputHWID
	TypeCallchainDeferred // v6.19
)

// firstUserType is the first type that perf itself writes.
const firstUserType Type = 64

// The types that perf itself writes.
const (
	TypeHeaderAttr = firstUserType + iota
	TypeHeaderEventType
	TypeHeaderTracingData // followed by its data
	TypeHeaderBuildID
	TypeFinishedRound
	TypeIDIndex
	TypeAuxtraceInfo
	TypeAuxtrace // followed by its data
	TypeAuxtraceError
	TypeThreadMap
	TypeCPUMap
	TypeStatConfig
	TypeStat
	TypeStatRound
	TypeEventUpdate
	TypeTimeConv
	TypeHeaderFeature
	TypeCompressed
	TypeFinishedInit
	TypeCompressed2     // v6.16
	TypeBPFMetadata     // v6.17
	TypeSchedstatCPU    // v7.0
	TypeSchedstatDomain // v7.0
	numTypes
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
	SampleIP = 1 << iota
	SampleTID
	SampleTime
	SampleAddr
	SampleRead
	SampleCallchain
	SampleID
	SampleCPU
	SamplePeriod
	SampleStreamID
	SampleRaw
	SampleBranchStack
	SampleRegsUser
	SampleStackUser
	SampleWeight
	SampleDataSrc
	SampleIdentifier
	SampleTransaction
	SampleRegsIntr
	SamplePhysAddr
	SampleAux
	SampleCgroup
	SampleDataPageSize
	SampleCodePageSize
	SampleWeightStruct
)

const sampleWeightAny = SampleWeight | SampleWeightStruct

// The bits of Attr.ReadFormat (enum perf_event_read_format).
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
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
