package perfdata

import "fmt"

// CSETM is the private area of CoreSight's AUXTRACE_INFO
// (tools/perf/util/cs-etm.h; written by tools/perf/arch/arm/util/cs-etm.c,
// cs_etm_info_fill; v6.12). A recording that perf wrote has a block for each
// CPU that was traced.
type CSETM struct {
	// Version is 0, 1 or 2. From 1 on, blocks count their parameters; from 2 on,
	// trace IDs may come from AUX_OUTPUT_HW_ID records.
	Version  uint64
	PMUType  uint32 // Attr.Type of cs_etm events
	Snapshot bool
	CPUs     []CSCPU
}

// CSKind is what trace unit a CPU has.
type CSKind uint8

// The kinds of trace units. ETMv3 is PTM too: Registers' IDR tells.
const (
	CSUnknown CSKind = iota
	CSETMv3
	CSETMv4
	CSETE
)

var csKindNames = [...]string{"unknown", "etmv3", "etmv4", "ete"}

// String returns the kind's name as output prints it.
func (k CSKind) String() string {
	return kindName(csKindNames[:], uint32(k))
}

// CSCPU is a CPU's block: the registers of its trace unit. Registers that its
// kind has not are 0.
type CSCPU struct {
	CPU  uint64
	Kind CSKind

	TRACEIDR uint32 // ETMTRACEIDR, TRCTRACEIDR as written; see TraceID

	CR, CCER, IDR uint32 // ETMv3: ETMCR, ETMCCER, ETMIDR

	// ETMv4, ETE: TRCCONFIGR and so on. perf makes CONFIGR from the event's options,
	// so it may lack bits that the driver sets.
	CONFIGR, IDR0, IDR1, IDR2, IDR8, AUTHSTATUS uint32

	DEVARCH uint32 // ETE: TRCDEVARCH

	// TSSource is what timestamps count: 1 the virtual counter, so that TIME_CONV
	// turns them into ns; -1 not known; 0 where the block does not say (before
	// v6.3).
	TSSource int64

	Params []uint64 // the block's parameters as words, also those without a name here
}

// TraceID returns the trace ID that the block names. ok says that a source can
// have this ID and that it counts. It does not count where bit 31 is set: then
// it is only the ID that old tools expect (v6.3 to v6.10), and AUX_OUTPUT_HW_ID
// records name the real one.
func (c *CSCPU) TraceID() (id uint8, ok bool) {
	id = uint8(c.TRACEIDR & 0x7F)
	return id, id >= 0x01 && id <= 0x6F && c.TRACEIDR>>31 == 0
}

// LegacyTraceID is the trace ID that kernels before v6.3 gave a CPU
// (include/linux/coresight-pmu.h, CORESIGHT_LEGACY_CPU_TRACE_ID), and that
// AUX_OUTPUT_HW_ID records replace. It fits 48 CPUs.
func LegacyTraceID(cpu uint64) uint8 { return uint8((0x10 + cpu*2) & 0x7F) }

// What blocks start with, and how many parameters they have at least. In
// version 0, which does not count them, they have exactly as many.
const (
	csMagicETMv3 = 0x3030303030303030
	csMagicETMv4 = 0x4040404040404040
	csMagicETE   = 0x5050505050505050

	csParamsETMv3 = 4
	csParamsETMv4 = 7
	csParamsETE   = 8
)

// csVersionMax is the newest version known.
const csVersionMax = 2

// csHead is the length of the private area before the blocks, words.
const csHead = 3

func (rec *Record) csETM(priv []uint64) (*CSETM, error) {
	if len(priv) < csHead {
		return nil, rec.errorf("cs_etm: %d words, need %d", len(priv), csHead)
	}
	m := &CSETM{Version: priv[0], PMUType: uint32(priv[1] >> 32), Snapshot: priv[2] != 0}
	if m.Version > csVersionMax {
		return m, rec.errorf("cs_etm: version %d, known are 0 to %d", m.Version, csVersionMax)
	}
	rest := priv[csHead:]
	n := uint32(priv[1])
	for i := range n {
		c, took, err := csBlock(rest, m.Version)
		if err != "" {
			return m, rec.errorf("cs_etm: block %d of %d: %s", i, n, err)
		}
		m.CPUs = append(m.CPUs, c)
		rest = rest[took:]
	}
	return m, nil
}

// csBlock reads the block at the start of w. err says what is wrong.
func csBlock(w []uint64, version uint64) (c CSCPU, took int, err string) {
	head := 3 // magic, CPU, number of parameters
	if version == 0 {
		head = 2
	}
	if len(w) < head {
		return c, 0, fmt.Sprintf("%d words left, need %d", len(w), head)
	}
	c.CPU = w[1]
	need := 0
	switch w[0] {
	case csMagicETMv3:
		c.Kind, need = CSETMv3, csParamsETMv3
	case csMagicETMv4:
		c.Kind, need = CSETMv4, csParamsETMv4
	case csMagicETE:
		c.Kind, need = CSETE, csParamsETE
	}
	if version == 0 && (c.Kind == CSUnknown || c.Kind == CSETE) {
		return c, 0, fmt.Sprintf("magic 0x%x, known in version 0 are 0x%x and 0x%x", w[0], uint64(csMagicETMv3), uint64(csMagicETMv4))
	}
	n := uint64(need)
	if version > 0 {
		n = w[2]
	}
	if n < uint64(need) {
		return c, 0, fmt.Sprintf("%d parameters, need %d of %v", n, need, c.Kind)
	}
	if have := uint64(len(w) - head); n > have {
		return c, 0, fmt.Sprintf("%d parameters, have %d words", n, have)
	}
	c.Params = w[head : head+int(n)]
	c.name()
	return c, head + int(n), ""
}

// name gives the parameters their names, in the order of the enums of
// tools/perf/util/cs-etm.h.
func (c *CSCPU) name() {
	p := c.Params
	reg := func(i int) uint32 { return uint32(p[i]) }
	switch c.Kind {
	case CSETMv3:
		c.CR, c.TRACEIDR, c.CCER, c.IDR = reg(0), reg(1), reg(2), reg(3)
	case CSETMv4, CSETE:
		c.CONFIGR, c.TRACEIDR = reg(0), reg(1)
		c.IDR0, c.IDR1, c.IDR2, c.IDR8, c.AUTHSTATUS = reg(2), reg(3), reg(4), reg(5), reg(6)
		next := csParamsETMv4
		if c.Kind == CSETE {
			c.DEVARCH = reg(7)
			next = csParamsETE
		}
		if len(p) > next {
			c.TSSource = int64(p[next])
		}
	}
}

// CSHWID is the word of an AUX_OUTPUT_HW_ID record of a cs_etm event: which
// trace ID a CPU's trace unit has (include/linux/coresight-pmu.h,
// CS_AUX_HW_ID_*, v6.12). The CPU is the record's.
type CSHWID struct {
	TraceID uint8 // bits 7..0

	// Sink is the sink that the trace goes to, bits 39..8, from minor version 1 on:
	// trace IDs are unique for each sink then, and for the whole recording before.
	Sink    uint32
	HasSink bool

	Major, Minor uint8 // version, bits 63..60 and 59..56; fields of another major version than 0 are not known
}

// CSHWIDOf reads the word; ok is false if its major version is not 0, or if no
// source can have the trace ID.
func CSHWIDOf(word uint64) (m CSHWID, ok bool) {
	m = CSHWID{TraceID: uint8(word), Minor: uint8(word >> 56 & 0xF), Major: uint8(word >> 60)}
	if m.Minor >= 1 {
		m.Sink, m.HasSink = uint32(word>>8), true
	}
	return m, m.Major == 0 && m.TraceID >= 0x01 && m.TraceID <= 0x6F
}
