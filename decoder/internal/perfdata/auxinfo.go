package perfdata

import "fmt"

// AuxKind is what an AUX area holds (tools/perf/util/auxtrace.h, enum
// auxtrace_type).
type AuxKind uint32

// The kinds of AUX areas.
const (
	AuxUnknown AuxKind = iota
	AuxIntelPT
	AuxIntelBTS
	AuxCSETM
	AuxArmSPE
	AuxS390
	AuxHisiPTT
	AuxVPAPMU // v6.16
)

var auxKindNames = [...]string{"unknown", "intel_pt", "intel_bts", "cs_etm", "arm_spe", "s390_cpumsf", "hisi_ptt", "vpa_pmu"}

// String returns the kind's PMU name.
func (k AuxKind) String() string {
	return kindName(auxKindNames[:], uint32(k))
}

// kindName returns the name of kind k, its number where names has none.
func kindName(names []string, k uint32) string {
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// AuxInfo is an AUXTRACE_INFO record: how the trace was configured.
type AuxInfo struct {
	Kind AuxKind
	Priv []uint64 // the private area, as words
	PT   *IntelPT // AuxIntelPT
	CS   *CSETM   // AuxCSETM
}

// IntelPT is the private area of Intel PT's AUXTRACE_INFO
// (tools/perf/util/intel-pt.h; written by tools/perf/arch/x86/util/intel-pt.c,
// intel_pt_info_fill). Older perf wrote a shorter area; fields that it lacks
// are zero and Words says how many there are.
type IntelPT struct {
	Words            int    // how many words of the fixed part are there, at most 17
	PMUType          uint32 // Attr.Type of Intel PT events
	TimeShift        uint16 // perf ns = TimeZero + (TSC * TimeMult >> TimeShift)
	TimeMult         uint32
	TimeZero         uint64 // ns, modulo 2^64
	CapUserTimeZero  bool   // the three above are valid
	TSCBit           uint64 // mask in Attr.Config: TSC packets enabled
	NoRetCompBit     uint64 // mask in Attr.Config: RET compression disabled
	HaveSchedSwitch  uint64 // 0 none, 1 sched:sched_switch, 2 SWITCH, 3 SWITCH_CPU_WIDE by dummy
	Snapshot         bool
	PerCPU           bool   // one stream a CPU, else one a thread
	MTCBit           uint64 // mask in Attr.Config: MTC packets enabled
	MTCFreqBits      uint64 // mask in Attr.Config: MTC period
	TSCCTCNum        uint32 // TSC ticks = CTC ticks * Num / Den (CPUID 15H EBX, EAX)
	TSCCTCDen        uint32
	CYCBit           uint64 // mask in Attr.Config: CYC packets enabled
	MaxNonTurbo      uint8  // P1: TSC frequency / bus frequency
	Filter           string // address filter as the user wrote it
	CapEventTrace    bool   // MODE.Exec carries IF (v5.18)
	HasCapEventTrace bool   // the file says so either way
}

// intelPTWords is INTEL_PT_AUXTRACE_PRIV_MAX: words of the fixed part.
const intelPTWords = 17

// AuxtraceInfo reads an AUXTRACE_INFO record.
func (rec *Record) AuxtraceInfo() (m AuxInfo, err error) {
	c := rec.cursor(TypeAuxtraceInfo)
	m.Kind = AuxKind(c.u32())
	c.u32()
	if c.short {
		return m, rec.done(&c)
	}
	m.Priv = c.words(uint64(c.left() / 8))
	switch m.Kind {
	case AuxIntelPT:
		m.PT, err = rec.intelPT(m.Priv)
	case AuxCSETM:
		m.CS, err = rec.csETM(m.Priv)
	}
	return m, err
}

func (rec *Record) intelPT(priv []uint64) (*IntelPT, error) {
	w := make([]uint64, intelPTWords)
	n := copy(w, priv)
	p := &IntelPT{
		Words: n, PMUType: uint32(w[0]), TimeShift: uint16(w[1]), TimeMult: uint32(w[2]),
		TimeZero: w[3], CapUserTimeZero: w[4] != 0, TSCBit: w[5], NoRetCompBit: w[6],
		HaveSchedSwitch: w[7], Snapshot: w[8] != 0, PerCPU: w[9] != 0,
		MTCBit: w[10], MTCFreqBits: w[11], TSCCTCNum: uint32(w[12]), TSCCTCDen: uint32(w[13]),
		CYCBit: w[14], MaxNonTurbo: uint8(w[15]),
	}
	if len(priv) < intelPTWords {
		return p, nil
	}
	rest := cursor{b: rec.Body[8+8*intelPTWords:]}
	if l := w[16]; l > 0 {
		// The string ends with a zero and is padded to a word.
		padded := (l + 8) &^ 7
		if l > 1<<16 || padded > uint64(rest.left()) {
			return p, rec.errorf("filter string of %d bytes, have %d", l, rest.left())
		}
		p.Filter = cstring(rest.take(int(padded)))
	}
	if rest.left() >= 8 {
		p.CapEventTrace, p.HasCapEventTrace = rest.u64() != 0, true
	}
	return p, nil
}

// TimeConv is a TIME_CONV record: perf's time from the trace's clock. Old
// perf wrote only the first three fields (before v5.10).
type TimeConv struct {
	Shift, Mult, Zero uint64 // ns = Zero + (ticks * Mult >> Shift), modulo 2^64
	Cycles, Mask      uint64 // for a short clock: ticks = Cycles + ((ticks - Cycles) & Mask)
	CapZero           bool   // Zero is valid
	CapShort          bool   // Cycles and Mask are valid
	Full              bool   // the record has all fields
}

// TimeConv reads a TIME_CONV record of either length.
func (rec *Record) TimeConv() (m TimeConv, err error) {
	c := rec.cursor(TypeTimeConv)
	m.Shift, m.Mult, m.Zero = c.u64(), c.u64(), c.u64()
	if c.short {
		return m, rec.done(&c)
	}
	if c.left() < 24 {
		m.CapZero = true
		return m, nil
	}
	m.Cycles, m.Mask = c.u64(), c.u64()
	m.CapZero, m.CapShort = c.u8() != 0, c.u8() != 0
	m.Full = true
	return m, rec.done(&c)
}

// Auxtrace is an AUXTRACE record: a piece of an AUX area, which follows it.
type Auxtrace struct {
	Size      uint64 // bytes that follow, a multiple of 8: up to 7 may be padding
	Off       uint64 // of the piece in the AUX area, bytes
	Reference uint64
	Index     uint32 // of the AUX area
	TID       int32  // -1: per CPU
	CPU       int32  // -1: per thread
}

// Auxtrace reads an AUXTRACE record; the data is rec.Data.
func (rec *Record) Auxtrace() (m Auxtrace, err error) {
	c := rec.cursor(TypeAuxtrace)
	m = Auxtrace{c.u64(), c.u64(), c.u64(), c.u32(), c.i32(), c.i32()}
	return m, rec.done(&c)
}

// AuxtraceError is an AUXTRACE_ERROR record: trouble while perf recorded or
// decoded. Format 0 lacks the time, formats 0 and 1 lack the guest.
type AuxtraceError struct {
	Kind, Code    uint32
	CPU, PID, TID int32
	Format        uint32
	IP            uint64
	Time          uint64 // ns; format 1 and 2
	Msg           string
	MachinePID    int32 // of a guest; format 2
	VCPU          int32
}

// AuxtraceError reads an AUXTRACE_ERROR record (tools/perf/util/auxtrace.c,
// auxtrace_synth_guest_error).
func (rec *Record) AuxtraceError() (m AuxtraceError, err error) {
	if err = rec.is(TypeAuxtraceError); err != nil {
		return
	}
	const msgLen = 64
	c := cursor{b: rec.Body}
	m.Kind, m.Code = c.u32(), c.u32()
	m.CPU, m.PID, m.TID, m.Format = c.i32(), c.i32(), c.i32(), c.u32()
	m.IP = c.u64()
	if c.short {
		return m, rec.done(&c)
	}
	if m.Format >= 1 {
		m.Time = c.u64()
	}
	m.Msg = cstring(c.take(min(msgLen, c.left())))
	if m.Format >= 2 && c.left() >= 8 {
		m.MachinePID, m.VCPU = c.i32(), c.i32()
	}
	return m, rec.done(&c)
}
