package perfdata

import (
	"strconv"
	"strings"
)

// Feature is a bit of the header's feature bitmap (tools/perf/util/header.h,
// enum perf_header_feature... HEADER_*).
type Feature int

// The features that are parsed; others are kept raw in Header.Sections.
const (
	FeatureTracingData    Feature = 1
	FeatureBuildID        Feature = 2
	FeatureHostname       Feature = 3
	FeatureOSRelease      Feature = 4
	FeatureVersion        Feature = 5
	FeatureArch           Feature = 6
	FeatureNrCPUs         Feature = 7
	FeatureCPUDesc        Feature = 8
	FeatureCPUID          Feature = 9
	FeatureTotalMem       Feature = 10
	FeatureCmdline        Feature = 11
	FeatureEventDesc      Feature = 12
	FeatureCPUTopology    Feature = 13
	FeaturePMUMappings    Feature = 16
	FeatureSampleTime     Feature = 21
	FeatureClockID        Feature = 23
	FeatureDirFormat      Feature = 24
	FeatureBPFProgInfo    Feature = 25
	FeatureBPFBTF         Feature = 26
	FeatureCompressed     Feature = 27
	FeatureCPUPMUCaps     Feature = 28
	FeatureClockData      Feature = 29
	FeatureHybridTopology Feature = 30
	FeaturePMUCaps        Feature = 31
)

var featureNames = [...]string{
	"RESERVED", "TRACING_DATA", "BUILD_ID", "HOSTNAME", "OSRELEASE", "VERSION",
	"ARCH", "NRCPUS", "CPUDESC", "CPUID", "TOTAL_MEM", "CMDLINE", "EVENT_DESC",
	"CPU_TOPOLOGY", "NUMA_TOPOLOGY", "BRANCH_STACK", "PMU_MAPPINGS",
	"GROUP_DESC", "AUXTRACE", "STAT", "CACHE", "SAMPLE_TIME", "MEM_TOPOLOGY",
	"CLOCKID", "DIR_FORMAT", "BPF_PROG_INFO", "BPF_BTF", "COMPRESSED",
	"CPU_PMU_CAPS", "CLOCK_DATA", "HYBRID_TOPOLOGY", "PMU_CAPS",
	"CPU_DOMAIN_INFO",
}

// String returns the feature's name without HEADER_; one that has none prints
// as its number.
func (f Feature) String() string {
	if f >= 0 && int(f) < len(featureNames) {
		return featureNames[f]
	}
	if i := int(f - FeatureFile); i >= 0 && i < len(simpleFeatures) {
		return simpleFeatures[i]
	}
	return strconv.Itoa(int(f))
}

// Header is what the features of the file header, or the HEADER_FEATURE
// records of the pipe form, say. What they do not say is zero.
type Header struct {
	Pipe           bool
	Hostname       string
	OSRelease      string // uname -r
	Version        string // of perf
	Arch           string // uname -m
	CPUsOnline     uint32
	CPUsAvail      uint32
	CPUDesc        string
	CPUID          string // x86: vendor,family,model,stepping
	TotalMem       uint64 // KiB
	Cmdline        []string
	Cores, Threads []string // sibling lists
	Topology       []CPUPlace
	PMUs           map[uint32]string // Attr.Type to name
	FirstSample    uint64            // ns
	LastSample     uint64            // ns
	ClockRes       uint64            // ns
	DirVersion     uint64
	Compression    *Compression
	Clock          *ClockData
	Hybrid         []HybridPMU
	Caps           []PMUCaps
	BPFProgs       []BPFProg
	BPFBTFs        []BPFBTF
	Sections       map[Feature][]byte // every feature, as it stands in the file
}

// CPUPlace is where a CPU sits, by its number.
type CPUPlace struct{ Core, Socket uint32 }

// Compression is how COMPRESSED records were made.
type Compression struct {
	Version, Type, Level, Ratio uint32 // Type 1: zstd
	MmapLen                     uint32 // bytes
}

// ClockData relates the events' clock to the time of day at one moment.
type ClockData struct {
	Version, ClockID uint32
	TimeOfDay        uint64 // ns since 1970
	Clock            uint64 // ns of the clock ClockID
}

// HybridPMU is one kind of core of a hybrid machine.
type HybridPMU struct{ Name, CPUs string }

// PMUCaps are a PMU's capabilities.
type PMUCaps struct {
	PMU  string
	Caps map[string]string
}

// Family returns family, model and stepping of an x86 CPU, ok false if the
// recording does not say.
func (h *Header) Family() (family, model, stepping int, ok bool) {
	f := strings.Split(h.CPUID, ",")
	if len(f) < 4 {
		return 0, 0, 0, false
	}
	var v [3]int
	for i := range v {
		n, err := strconv.Atoi(f[i+1])
		if err != nil {
			return 0, 0, 0, false
		}
		v[i] = n
	}
	return v[0], v[1], v[2], true
}

// readFeature parses one section of the feature table.
func (r *Recording) readFeature(src *source, f featureSection) {
	b, whole := f.in(src.data)
	if !whole {
		r.hints.CutShort = true
		r.trouble(src.name, int64(min(f.off, uint64(len(src.data)))), "feature %s: needs 0x%x bytes, file has 0x%x: the file is cut short", f.bit, f.size, len(b))
	}
	r.parseFeature(src, f.bit, int64(f.off), b)
}

// pipeFeature parses a HEADER_FEATURE record.
func (r *Recording) pipeFeature(src *source, off int64, body []byte) {
	c := cursor{b: body}
	bit := c.u64()
	if c.short || bit > 255 {
		r.trouble(src.name, off, "record FEATURE: size %d, need at least %d", headerSize+len(body), headerSize+8)
		return
	}
	if len(body) > 8 {
		r.parseFeature(src, Feature(bit), off+headerSize+8, body[8:])
	}
}

// text returns where the feature bit goes that is one string; nil for others.
func (h *Header) text(bit Feature) *string {
	return map[Feature]*string{
		FeatureHostname: &h.Hostname, FeatureOSRelease: &h.OSRelease, FeatureVersion: &h.Version,
		FeatureArch: &h.Arch, FeatureCPUDesc: &h.CPUDesc, FeatureCPUID: &h.CPUID,
	}[bit]
}

// number returns where the feature bit goes that is one number; nil for others.
func (h *Header) number(bit Feature) *uint64 {
	return map[Feature]*uint64{FeatureTotalMem: &h.TotalMem, FeatureClockID: &h.ClockRes, FeatureDirFormat: &h.DirVersion}[bit]
}

// parseFeature reads a feature at off of a file. Layouts: tools/perf/util/
// header.c, write_* and process_* of the same name.
func (r *Recording) parseFeature(src *source, bit Feature, off int64, b []byte) {
	h := &r.header
	if h.Sections == nil {
		h.Sections = map[Feature][]byte{}
	}
	h.Sections[bit] = b
	c := &cursor{b: b}
	if text := h.text(bit); text != nil {
		*text = c.perfString()
	}
	if number := h.number(bit); number != nil {
		*number = c.u64()
	}
	switch bit {
	case FeatureTracingData:
		r.tracing(src.name, off, b)
	case FeatureBuildID:
		r.buildIDSection(src, off, b)
	case FeatureNrCPUs:
		h.CPUsAvail, h.CPUsOnline = c.u32(), c.u32()
	case FeatureCmdline:
		h.Cmdline = c.perfStrings()
	case FeatureEventDesc:
		r.eventDesc(c)
	case FeatureCPUTopology:
		h.Cores, h.Threads = c.perfStrings(), c.perfStrings()
		for !c.short && c.left() >= 8 && len(h.Topology) < int(h.CPUsAvail) {
			h.Topology = append(h.Topology, CPUPlace{c.u32(), c.u32()})
		}
	case FeaturePMUMappings:
		n := c.count(uint64(c.u32()), 8)
		h.PMUs = map[uint32]string{}
		for range n {
			t := c.u32()
			h.PMUs[t] = c.perfString()
		}
	default:
		h.more(bit, c)
		simpleFeature(r, bit, c)
	}
	if c.short {
		r.trouble(src.name, off, "feature %s: %d bytes, need at least %d", bit, len(b), c.need)
	}
}

// more reads the features that concern neither the machine nor the events.
func (h *Header) more(bit Feature, c *cursor) {
	switch bit {
	case FeatureSampleTime:
		h.FirstSample, h.LastSample = c.u64(), c.u64()
	case FeatureBPFProgInfo:
		h.BPFProgs = bpfProgs(c)
	case FeatureBPFBTF:
		h.BPFBTFs = bpfBTFs(c)
	case FeatureCompressed:
		h.Compression = &Compression{c.u32(), c.u32(), c.u32(), c.u32(), c.u32()}
	case FeatureCPUPMUCaps:
		h.Caps = append(h.Caps, PMUCaps{"cpu", c.caps()})
	case FeatureClockData:
		h.Clock = &ClockData{c.u32(), c.u32(), c.u64(), c.u64()}
	case FeatureHybridTopology:
		n := c.count(uint64(c.u32()), 8)
		for range n {
			h.Hybrid = append(h.Hybrid, HybridPMU{c.perfString(), c.perfString()})
		}
	case FeaturePMUCaps:
		n := c.count(uint64(c.u32()), 8)
		for range n {
			caps := c.caps()
			h.Caps = append(h.Caps, PMUCaps{c.perfString(), caps})
		}
	}
}

// perfStrings reads a perf_header_string_list.
func (c *cursor) perfStrings() []string {
	n := c.count(uint64(c.u32()), 4)
	var list []string
	for range n {
		list = append(list, c.perfString())
	}
	return list
}

// caps reads u32 number, then as many pairs of strings.
func (c *cursor) caps() map[string]string {
	n := c.count(uint64(c.u32()), 8)
	m := map[string]string{}
	for range n {
		k := c.perfString()
		m[k] = c.perfString()
	}
	return m
}

// eventDesc reads EVENT_DESC: the attributes again, with names. Names go to
// the events that share an id, or a place, with them.
func (r *Recording) eventDesc(c *cursor) {
	n, size := c.u32(), c.u32()
	byFirst := map[uint64]*Attr{}
	for _, a := range r.attrs {
		if len(a.IDs) > 0 {
			byFirst[a.IDs[0]] = a
		}
	}
	for i := uint32(0); i < n && !c.short && size > 0; i++ {
		c.take(int(min(size, 1<<30)))
		nids := c.u32()
		name := c.perfString()
		ids := c.words(uint64(nids))
		if c.short {
			break
		}
		if len(ids) > 0 && byFirst[ids[0]] != nil {
			byFirst[ids[0]].Name = name
		} else if int64(i) < int64(len(r.attrs)) && len(r.attrs[i].IDs) == 0 {
			r.attrs[i].Name = name
		}
	}
}
