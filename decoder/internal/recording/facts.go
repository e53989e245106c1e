package recording

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/pt"
)

// facts is what was read of a recording so far, with what only its reading needs.
type facts struct {
	Recording

	auxSize    map[int32]uint64 // by CPU: bytes of trace that AUX records tell of
	auxRecords []auxRecord
	hwIDs      map[int32]perfdata.CSHWID // CoreSight: trace IDs by CPU, as AUX_OUTPUT_HW_ID records give them
	events     int                       // taken
	losses     map[int32][]stream.Loss   // by CPU: of streams that are given apart from their events
	last       map[int]uint64            // by CPU: time of the newest event, ns
	bpf        []bpfCode                 // code of BPF programs, until placeBPF
	loads      map[uint32]uint64         // by id of the BPF program: when it was loaded, ns
	kept       sideband.Kept             // copies of what aliases a file

	// What configure needs, and what missing tells of.
	auxInfo     *perfdata.AuxInfo
	timeConv    *event.TimeConv
	tickFreq    uint64 // of a snapshot's timestamps, Hz; 0: not said
	attrCount   int
	onExec      map[uint32]bool // by PMU type: its event is enabled on exec
	inKernel    map[uint32]bool // by PMU type: one of its events counts in the kernel, too
	noAux       bool
	timed       bool // some event has a time
	areas       int  // of CoreSight trace, before they became streams
	asksPokes   bool // some event asks for TEXT_POKE records
	mended      bool // records were damaged
	branchList  bool // by simpleperf, which kept no trace
	lostRecords uint64
	lostEvents  uint64
}

// newFacts returns facts of nothing yet.
func newFacts(c *Config) *facts {
	return &facts{
		Recording: *New(c),
		auxSize:   map[int32]uint64{}, losses: map[int32][]stream.Loss{}, loads: map[uint32]uint64{},
		last: map[int]uint64{}, hwIDs: map[int32]perfdata.CSHWID{}, onExec: map[uint32]bool{}, inKernel: map[uint32]bool{}, noAux: true,
	}
}

// Where struct perf_event_attr has what is asked of it here, bytes
// (include/uapi/linux/perf_event.h).
const (
	attrSampleType = 24
	attrFlags      = 40
)

// note takes of an event only what missing tells of.
func (f *facts) note(e *sideband.Record, at place) {
	f.timed = f.timed || e.Timed
	f.events++
	switch e.Type {
	case sideband.TypePoke:
		f.asksPokes = true
	case sideband.TypeAux, sideband.TypeAuxtrace:
		f.noAux = false
	case sideband.TypeTraceConfig:
		if f.auxInfo == nil {
			f.auxInfo = auxInfoOf(e)
		}
	case sideband.TypeTimeConv:
		if e.Mult != 0 && !convertsAlike(f.timeConv, f.auxInfo) {
			f.timeConv = &event.TimeConv{
				Shift: e.Shift, Mult: e.Mult, Zero: e.Zero, Valid: !e.HasCycles || e.CapZero,
				Cycles: e.Cycles, Mask: uint64(e.Mask), Short: e.HasCycles && e.CapShort,
			}
		}
	case sideband.TypeAttr:
		f.attrCount++
		f.Processes.Spaces.Clock.Told(e.Attr)
		if len(e.Attr) >= attrFlags+8 {
			st := binary.LittleEndian.Uint64(e.Attr[attrSampleType:])
			flags := perfdata.AttrFlags(binary.LittleEndian.Uint64(e.Attr[attrFlags:]))
			f.timed = f.timed || st&perfdata.SampleTime != 0
			f.asksPokes = f.asksPokes || flags&perfdata.AttrTextPoke != 0
			f.Processes.Switches = f.Processes.Switches || flags&perfdata.AttrContextSwitch != 0
			f.onExec[e.PMU] = flags&perfdata.AttrEnableOnExec != 0
			f.inKernel[e.PMU] = f.inKernel[e.PMU] || flags&perfdata.AttrExcludeKernel == 0
		}
	case sideband.TypeLost:
		if f.LostAt == (place{}) {
			f.LostAt = at
		}
		if e.Begin != nil { // not by the kernel
			break
		}
		f.lostRecords++
		f.lostEvents += e.Lost
	}
}

// programsOnly reports whether the trace is of programs alone: its events leave out the kernel, of
// which nothing need be known then.
func programsOnly(f *facts) bool {
	if f.auxInfo == nil {
		return false
	}
	pmu := uint32(0)
	switch {
	case f.auxInfo.PT != nil:
		pmu = f.auxInfo.PT.PMUType
	case f.auxInfo.CS != nil:
		pmu = f.auxInfo.CS.PMUType
	}
	traced, known := f.inKernel[pmu]
	return known && !traced
}

// auxInfoOf reads an auxtrace_info event back as the record that it stands
// for; nil if its words cannot be one.
func auxInfoOf(e *sideband.Record) *perfdata.AuxInfo {
	b := binary.LittleEndian.AppendUint64(nil, uint64(e.PMU))
	for _, w := range e.Priv {
		b = binary.LittleEndian.AppendUint64(b, uint64(w))
	}
	rec := perfdata.Record{Type: perfdata.TypeAuxtraceInfo, Body: b}
	info, err := rec.AuxtraceInfo()
	if err != nil && info.PT == nil && info.Kind != perfdata.AuxCSETM {
		return nil
	}
	return &info
}

// take takes an event.
func (f *facts) take(e *sideband.Record, at place) error {
	guest, err := f.Inside.Takes(e)
	if !guest {
		f.note(e, at)
		err = f.keep(e)
		if e.Timed {
			f.last[e.CPU] = e.Time
		}
	}
	if err != nil {
		return &badEvent{at, e.Type, err}
	}
	return nil
}

// badEvent is an event that says what cannot be.
type badEvent struct {
	at  place
	typ string
	err error
}

// Error renders file+0xoff: type: what.
func (b *badEvent) Error() string { return fmt.Sprintf("%s: %s: %v", b.at, b.typ, b.err) }

// Unwrap returns what cannot be.
func (b *badEvent) Unwrap() error { return b.err }

// keep takes what an event tells of the machine.
func (f *facts) keep(e *sideband.Record) error {
	switch e.Type {
	case sideband.TypePoke:
		return f.keepPoke(e)
	case sideband.TypeLost:
		lo := f.last[e.CPU]
		if e.Begin != nil {
			lo = *e.Begin
			if e.Time == math.MaxUint64 {
				f.CompleteTo = min(f.CompleteTo, lo)
			}
		}
		f.Lost = append(f.Lost, event.Time{Lo: lo, Hi: e.Time})
	case sideband.TypeAux, sideband.TypeHwID, sideband.TypeAuxLoss:
		f.keepAux(e)
	case sideband.TypeKsymbol:
		f.Ksymbols = append(f.Ksymbols, e.Ksymbol())
	case sideband.TypeText:
		f.keepText(e)
	case sideband.TypeBPF:
		if e.Kind == "load" {
			f.loads[e.BPFID] = e.Time
		}
	case sideband.TypeBreakEntry:
		f.Breaks = append(f.Breaks, uint64(e.Addr))
	case sideband.TypeComm, sideband.TypeFork, sideband.TypeItraceStart, sideband.TypeSwitch:
		f.keepTask(e)
	case sideband.TypeMmap:
		f.anchored(e)
		old := e.Record == uint32(perfdata.TypeMmap)
		exec := perfdata.Misc(e.Misc)&perfdata.MiscMmapData == 0 && (old || e.Prot&protExec != 0)
		if e.PID >= 0 {
			f.Processes.Spaces.Mapped(e.PID, process.Mapping{
				Time: e.Time, Addr: uint64(e.Addr), Len: e.Len, Off: uint64(e.PgOff), Path: string(e.File), BuildID: f.kept.Clone(e.BuildID), Exec: exec,
			})
		}
	case sideband.TypeBuildID:
		f.Processes.Spaces.Listed(string(e.File), e.BuildID)
	default:
		f.keepConfig(e)
	}
	return nil
}

// keepPoke takes a change to text.
func (f *facts) keepPoke(e *sideband.Record) error {
	timed := e.Timed
	e.Timed = true
	p, err := e.Poke()
	if e.Timed = timed; err != nil {
		return err
	}
	if !timed { // only the order is known
		p.Begin, p.End = 0, math.MaxUint64
	}
	if e.PID > 0 && e.TID > 0 {
		f.Processes.Tasks.Belongs(e.PID, e.TID)
	}
	p.Old, p.New = f.kept.Clone(p.Old), f.kept.Clone(p.New)
	if e.Scheme == "" && f.auxInfo != nil && f.auxInfo.CS != nil {
		p.Scheme = kcore.RecordedScheme(isa.ModeA64, p.Addr, p.Old, p.New)
	}
	if len(f.Pokes) == cap(f.Pokes) { // append would make many more copies of a long list
		f.Pokes = slices.Grow(f.Pokes, len(f.Pokes)+1)
	}
	f.Pokes = append(f.Pokes, p)
	return nil
}

// protExec is PROT_EXEC (include/uapi/asm-generic/mman-common.h).
const protExec = 4

// keepTask takes an event of a thread.
func (f *facts) keepTask(e *sideband.Record) {
	cpu := int32(e.CPU)
	switch e.Type {
	case sideband.TypeComm:
		f.Processes.Tasks.Named(e.Time, e.PID, e.TID, string(e.Comm), e.Exec)
		if e.Exec {
			f.Processes.Spaces.Execed(e.PID, e.Time)
		}
	case sideband.TypeFork:
		f.Processes.Tasks.Named(e.Time, e.PID, e.TID, f.Processes.Tasks.Latest(e.PTID), false)
		f.Processes.Spaces.Forked(e.PID, e.PPID, e.Time)
	case sideband.TypeItraceStart:
		f.Processes.Tasks.Ran(cpu, e.Time, e.PID, e.TID)
	case sideband.TypeSwitch:
		switch {
		case !e.Out:
			f.Processes.Tasks.Ran(cpu, e.Time, e.PID, e.TID)
		case e.Record != uint32(perfdata.TypeSwitch): // the record says who comes
			f.Processes.Tasks.Ran(cpu, e.Time, e.OtherPID, e.OtherTID)
		}
	}
}

// keepConfig takes an event of the recording itself.
func (f *facts) keepConfig(e *sideband.Record) {
	switch e.Type {
	case sideband.TypeMeta:
		m := &f.Meta
		m.Host, m.Release, m.CPUModel, m.Command = string(e.Meta["host"]), string(e.Meta["release"]), string(e.Meta["cpu"]), string(e.Meta["command"])
		m.Machine = string(e.Meta["machine"])
	case sideband.TypeCPUModel:
		if e.Vendor != "GenuineIntel" {
			return
		}
		if m, err := pt.ParseModel(fmt.Sprintf("%d/%d/%d", e.Family, e.Model, e.Stepping)); err == nil {
			f.Meta.Model, f.Meta.PT.Model = m, m
		}
	case sideband.TypeAttr:
		f.Meta.Attrs = append(f.Meta.Attrs, AttrMeta{Name: string(e.Name), Type: e.PMU, Config: uint64(e.Config), IDs: len(e.IDs)})
	}
}

// configure takes the trace's configuration: AUXTRACE_INFO says which bits of
// the event's config mean what, TIME_CONV how its clock runs.
func (f *facts) configure(c *Config) {
	m := &f.Meta.PT
	if f.auxInfo != nil && f.auxInfo.PT != nil {
		p := f.auxInfo.PT
		f.Meta.Snapshot, f.Meta.Filter = p.Snapshot, p.Filter
		for _, a := range f.Meta.Attrs {
			if a.Type != p.PMUType {
				continue
			}
			m.TSC = a.Config&p.TSCBit != 0
			m.MTC = a.Config&p.MTCBit != 0
			m.CYC = a.Config&p.CYCBit != 0
			m.NoRETComp = a.Config&p.NoRetCompBit != 0
			if p.MTCFreqBits != 0 {
				m.MTCFreq = uint8(a.Config & p.MTCFreqBits >> bits.TrailingZeros64(p.MTCFreqBits) & 15)
			}
			m.NoTNT = a.Config>>55&1 != 0
			m.EventTrace = a.Config>>31&1 != 0
			break
		}
		m.CTCNum, m.CTCDen, m.MaxNonTurboRatio = p.TSCCTCNum, p.TSCCTCDen, p.MaxNonTurbo
	}
	if f.auxInfo != nil && f.auxInfo.CS != nil {
		f.Meta.Snapshot = f.auxInfo.CS.Snapshot
	}
	m.TimeConv = f.conversion()
	if traced := !f.noAux || len(c.Raw) > 0; traced && f.Meta.Kind == "perf.data" && !f.converts() {
		for i := range f.Pokes { // the trace's clock is another than theirs
			f.Pokes[i].Begin, f.Pokes[i].End = 0, math.MaxUint64
		}
	}
}

// conversion returns how the trace's clock becomes that of the records: what a
// TIME_CONV record says, or else AUXTRACE_INFO. The TSC has 64 bits, and kernels of
// x86 never say that it has fewer (arch/x86/events/core.c,
// arch_perf_update_userpage, v6.1): a record that does is not believed.
func (f *facts) conversion() (t event.TimeConv) {
	if c := f.timeConv; c != nil && (c.Valid || !f.mended || f.auxInfo == nil || f.auxInfo.PT == nil) {
		return event.TimeConv{Shift: c.Shift, Mult: c.Mult, Zero: c.Zero, Valid: c.Valid && (!c.Short || c.Mask == math.MaxUint64)}
	}
	if f.auxInfo != nil && f.auxInfo.PT != nil {
		p := f.auxInfo.PT
		t = event.TimeConv{Shift: p.TimeShift, Mult: p.TimeMult, Zero: p.TimeZero, Valid: p.CapUserTimeZero}
	}
	return t
}

// convertsAlike reports whether TIME_CONV and AUXTRACE_INFO say the same. Then another
// TIME_CONV is none: a damaged record has become one.
func convertsAlike(c *event.TimeConv, a *perfdata.AuxInfo) bool {
	return c != nil && a != nil && a.PT != nil && c.Mult == a.PT.TimeMult && c.Shift == a.PT.TimeShift && c.Zero == a.PT.TimeZero
}

// takeFilters takes the address filters of the call, else those of the recording.
func (f *facts) takeFilters(c *Config) {
	if len(c.Filters) > 0 {
		var list []string
		for _, x := range c.Filters {
			list = append(list, x.String())
		}
		f.Filters, f.Meta.Filter = c.Filters, strings.Join(list, ", ")
		return
	}
	var err error
	if f.Filters, err = addrfilter.Parse(f.Meta.Filter); err != nil {
		f.Warnf(hintFilter, "%s+0x0: AUXTRACE_INFO: %v", f.Name, err)
	}
}
