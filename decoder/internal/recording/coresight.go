package recording

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// CoreSight in a perf.data file. Linux, tools/perf/util/cs-etm.c, v6.12.

// coresight makes the streams of trace units of those of AUX areas.
func (f *facts) coresight() {
	if f.auxInfo == nil || f.auxInfo.CS == nil {
		return
	}
	units := f.csUnits()
	var frags []fragment
	byCPU, byTID := map[int32][]*auxRecord{}, map[int32][]*auxRecord{}
	for i := range f.auxRecords {
		r := &f.auxRecords[i]
		byCPU[r.cpu], byTID[r.tid] = append(byCPU[r.cpu], r), append(byTID[r.tid], r)
	}
	for _, st := range f.Streams {
		p, ok := st.Data.(*perfdata.Stream)
		switch {
		case !ok:
		case p.CPU >= 0:
			frags = append(frags, f.fragments(st, p, byCPU[p.CPU])...)
		default:
			frags = append(frags, f.fragments(st, p, byTID[p.TID])...)
		}
	}
	f.areas, f.Streams = len(f.Streams), nil
	// A sink that CPUs share stores each one's trace wherever it is emptied: the
	// order is that of time.
	slices.SortStableFunc(frags, func(a, b fragment) int { return cmp.Compare(a.time, b.time) })
	b := csBuilder{f: f, units: units, byID: map[uint8][]int32{}, streams: map[csKey]*csStream{}, areas: map[*perfdata.Stream][]*csStream{}, strangers: map[uint8]int{}}
	for cpu, c := range units {
		if c.ID != 0 {
			b.byID[c.ID] = append(b.byID[c.ID], cpu)
		}
	}
	for i := range frags {
		b.fragment(&frags[i])
	}
	b.finish()
}

// csUnits returns the trace units by CPU: what AUXTRACE_INFO says of them, with
// the trace IDs that AUX_OUTPUT_HW_ID records give. Where there are such, they
// alone count: they may give one CPU what another would have by the old rule. A
// CPU of which they say nothing has no trace ID: 0.
func (f *facts) csUnits() map[int32]coresight.Config {
	units := map[int32]coresight.Config{}
	for i := range f.auxInfo.CS.CPUs {
		u := &f.auxInfo.CS.CPUs[i]
		c := csConfig(u)
		if len(f.hwIDs) > 0 {
			c.ID = f.hwIDs[int32(u.CPU)].TraceID
		} else if c.ID = uint8(u.TRACEIDR & 0x7f); c.ID == 0 {
			c.ID = perfdata.LegacyTraceID(u.CPU)
		}
		if c.ID > coresight.MaxID {
			c.ID = 0 // of CPU 48 and up by the old rule: raw trace needs none
		}
		if err := c.Validate(); err != nil {
			f.Damagedf("", "%s+0x0: AUXTRACE_INFO: CPU %d: %v: its trace is not decoded", f.Name, u.CPU, err)
			continue
		}
		units[int32(u.CPU)] = c
	}
	return units
}

// csConfig is what a CPU's block says. perf leaves the core's architecture out:
// an ETMv4.4 and later, and an ETE, belong to 64-bit cores of v8.3 and later.
func csConfig(u *perfdata.CSCPU) coresight.Config {
	c := coresight.Config{
		Arch: coresight.Arch{Major: 8, Profile: 'A'},
		V4: coresight.ETMv4Registers{
			CONFIGR: u.CONFIGR, TRACEIDR: u.TRACEIDR, IDR0: u.IDR0, IDR1: u.IDR1, IDR2: u.IDR2, IDR8: u.IDR8, DEVARCH: u.DEVARCH,
		},
		V3: coresight.ETMv3Registers{CR: u.CR, TRACEIDR: u.TRACEIDR, CCER: u.CCER, IDR: u.IDR},
	}
	switch u.Kind {
	case perfdata.CSETMv3:
		c.Arch = coresight.Arch{Major: 7, Profile: 'A'}
		c.Protocol = coresight.ETMv3
		if u.IDR>>8&0xf == 3 { // major version: PFT 1 (IHI0035, "ETMIDR")
			c.Protocol = coresight.PTM
		}
	case perfdata.CSETMv4, perfdata.CSETE:
		c.Protocol, c.V4.DEVARCH = v4Protocol(u)
		c.Arch.AA64 = c.Protocol == coresight.ETE || c.AtLeast(4, 4)
	}
	return c
}

// v4Protocol tells the ETMv4 and the ETE apart, whatever the block is called.
// simpleperf calls it ETE's if the kernel shows TRCDEVARCH, which newer kernels do
// of an ETMv4 too. Before it knew ETE, it called all ETMv4's. An ETE's TRCIDR1
// says version 15 (DDI0487, TRCIDR1.TRCARCHMAJ): TRCDEVARCH is then made up, as that of
// the newest version. Older ones send nothing that it reads in another way.
func v4Protocol(u *perfdata.CSCPU) (coresight.Protocol, uint32) {
	const (
		etmv4, ete = 4, 5       // TRCDEVARCH.ARCHVER
		newestETE  = 0x47735a13 // TRCDEVARCH
		inDEVARCH  = 0xf        // TRCIDR1.TRCARCHMAJ
	)
	switch version, major := u.DEVARCH>>12&0xf, u.IDR1>>8&0xf; {
	case u.DEVARCH != 0 && version == ete:
		return coresight.ETE, u.DEVARCH
	case u.DEVARCH != 0 && version == etmv4 && major == 4:
		return coresight.ETMv4, 0
	case major == inDEVARCH:
		return coresight.ETE, cmp.Or(u.DEVARCH, newestETE)
	case u.Kind == perfdata.CSETE && u.DEVARCH != 0:
		return coresight.ETE, u.DEVARCH
	}
	return coresight.ETMv4, 0
}

// csKey is what streams of trace units are told apart by. A thread's goes on
// from CPU to CPU while their trace units are alike.
type csKey struct {
	tid  int32 // -1: of a CPU
	cpu  int32 // -1: of a thread
	unit coresight.Config
}

// csStream is the stream of a trace unit in the making.
type csStream struct {
	st     *stream.Stream
	data   []byte
	places *csPlaces
}

// csBuilder makes streams of fragments.
type csBuilder struct {
	f         *facts
	units     map[int32]coresight.Config
	byID      map[uint8][]int32 // CPUs
	streams   map[csKey]*csStream
	order     []*csStream
	areas     map[*perfdata.Stream][]*csStream // whose trace each AUX area holds
	strangers map[uint8]int                    // bytes of trace IDs that no CPU has
	unknown   int                              // bytes of CPUs that have no trace unit
	unnamed   int                              // bytes of frames without any trace ID
	troubles  int
	frames    coresight.Deframer
}

// fragment adds what was stored at once.
func (b *csBuilder) fragment(g *fragment) {
	if g.loss != nil {
		for _, s := range b.areas[g.aux] {
			at := int64(len(s.data))
			s.st.Losses = append(s.st.Losses, stream.Loss{Off: at, End: at, Why: g.loss.Why, Time: g.loss.Time})
		}
	}
	data := g.aux.Bytes(g.from, g.end-g.from)
	if g.untold && len(bytes.Trim(data, padding)) == 0 {
		return
	}
	if g.raw = g.raw || beginsRaw(data); g.raw {
		c, ok := b.rawUnit(g.cpu)
		if !ok {
			b.unknown += len(data)
			return
		}
		b.add(g, g.cpu, c, data, nil)
		return
	}
	d := &b.frames
	d.Recycle()
	d.Write(data)
	d.Close()
	if list, more := d.Troubles(); len(list) > 0 {
		if b.troubles == 0 {
			file, at, ok := g.aux.FileOff(g.from + list[0].Off)
			if !ok {
				file, at = b.f.Name, 0 // no file has it as it is
			}
			b.f.Damagedf("", "%s+0x%x: frames: %v", file, at, list[0].What)
		}
		b.troubles += len(list) + more
	}
	const empty = "\x00\xff\x7f" // null bytes, and words of synchronisation
	if len(d.Streams()) == 0 && len(bytes.Trim(data, empty)) > 0 {
		b.unnamed += len(data)
	}
	for _, s := range d.Streams() {
		cpu, ok := b.tracedBy(s.ID, g.cpu)
		if !ok {
			b.strangers[s.ID] += len(s.Data)
			continue
		}
		b.add(g, cpu, b.units[cpu], s.Data, s.Breaks)
	}
}

// ignoreV4 is the Ignore packet of ETMv4 and ETE (DDI0487, "Ignore packet"), with which a
// buffer is padded (drivers/hwtracing/coresight/coresight-trbe.c, trbe_pad_buf, v6.12).
const ignoreV4 = "\x70"

// padding is what fills an area behind the trace: where the sink has to be aligned, or
// the file (tools/perf/util/auxtrace.c, __auxtrace_mmap__read, v6.12).
const padding = ignoreV4 + "\x00"

// beginsRaw reports whether bytes that no record calls raw are a source's own. They begin
// with an A-Sync of ETMv4 or ETE, eleven zeros and 0x80, maybe behind Ignore packets
// (IHI0064, "A-Sync"; DDI0487, "Ignore"). Frames begin with a trace ID, which is odd.
func beginsRaw(data []byte) bool {
	data = bytes.TrimLeft(data, ignoreV4)
	return bytes.HasPrefix(data, []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"))
}

// unsynced reports whether a stretch begins with trace that no sync point precedes: it
// cannot be decoded, and may be a part of what was traced before. What is ignored may
// come before the sync point, of an ETE's buffer that is padded (IHI0064, IHI0035B, IHI0014Q,
// "A-Sync"; DDI0487, "Ignore").
func unsynced(p *stream.Protocol, data []byte) bool {
	data = bytes.TrimLeft(data, p.Ignored)
	behind := bytes.TrimLeft(data, "\x00")
	return p.ASync > 0 && len(data) > 0 && (len(data)-len(behind) < p.ASync || len(behind) == 0 || behind[0] != 0x80)
}

// lacks says what a stretch lacks with which a trace unit begins that was switched off
// meanwhile; "": nothing. So bytes were lost, though no record says so.
func lacks(st *stream.Stream, data []byte) string {
	switch p := st.Protocol; {
	case unsynced(p, data):
		return "no sync point"
	case p.GoesOn != nil && p.GoesOn(st, data):
		return "no start of tracing"
	}
	return ""
}

// tracedBy returns the CPU whose trace unit has a trace ID in what CPU by stored; by is
// -1 where it is not known. Trace IDs are unique in the recording, or only in each sink
// (perfdata.CSHWID). It is false where none has it, or several have.
func (b *csBuilder) tracedBy(id uint8, by int32) (cpu int32, ok bool) {
	at, known := b.f.hwIDs[by]
	for _, k := range b.byID[id] {
		if x := b.f.hwIDs[k]; known && at.HasSink && x.HasSink && x.Sink != at.Sink {
			continue
		}
		if ok {
			return -1, false
		}
		cpu, ok = k, true
	}
	return cpu, ok
}

// rawUnit returns the trace unit whose bytes a CPU stored. Where records do not
// say the CPU, as those of a thread's before v6.3, any does if all are alike.
func (b *csBuilder) rawUnit(cpu int32) (c coresight.Config, ok bool) {
	if cpu >= 0 {
		c, ok = b.units[cpu]
		return c, ok
	}
	for _, x := range b.units {
		x = withoutID(x)
		if ok && x != c {
			return c, false
		}
		c, ok = x, true
	}
	return c, ok
}

// withoutID returns c without what tells one CPU's trace unit from another's
// like it.
func withoutID(c coresight.Config) coresight.Config {
	c.ID, c.V4.TRACEIDR, c.V3.TRACEIDR = 0, 0, 0
	return c
}

// add adds bytes of a CPU's trace unit.
func (b *csBuilder) add(g *fragment, cpu int32, c coresight.Config, data []byte, breaks []coresight.Break) {
	k := csKey{tid: -1, cpu: cpu, unit: c}
	if g.aux.CPU < 0 {
		k.tid, k.cpu = g.aux.TID, -1
		k.unit = withoutID(c)
	}
	s := b.streams[k]
	if s == nil {
		st := &stream.Stream{
			Protocol: stream.ForUnit(c.Protocol), CPU: k.cpu, TID: k.tid, ID: fmt.Sprintf("%x", c.ID), File: g.of.File, Unit: c, Clock: b.f.csClock(),
		}
		s = &csStream{st: st, places: &csPlaces{}}
		st.Origin = s.places.fileOff
		b.streams[k], b.order = s, append(b.order, s)
	}
	if !slices.Contains(b.areas[g.aux], s) {
		b.areas[g.aux] = append(b.areas[g.aux], s)
	}
	at := int64(len(s.data))
	if g.time > 0 && !g.untold {
		s.st.Stored = append(s.st.Stored, stream.Storing{Off: at, Time: event.Time{Lo: g.since, Hi: g.time}})
	} else {
		s.st.Stored = append(s.st.Stored, stream.Storing{Off: at, Time: event.Always})
	}
	if at > 0 {
		s.st.Restarts = append(s.st.Restarts, at)
		why := lacks(s.st, data)
		if n := len(s.st.Losses); why != "" && (n == 0 || s.st.Losses[n-1].Off < at) {
			s.st.Losses = append(s.st.Losses, stream.Loss{Off: at, End: at, Why: why, Time: g.time})
		}
	}
	for _, x := range breaks {
		s.st.Losses = append(s.st.Losses, stream.Loss{Off: at + x.Off, End: at + x.Off, Why: x.Fault.String(), Time: g.time})
	}
	s.data = append(s.data, data...)
	s.places.parts = append(s.places.parts, csPart{at, g.aux, g.from, g.end, g.raw, c.ID})
}

// finish gives the streams to the facts and tells what was left out.
func (b *csBuilder) finish() {
	for _, s := range b.order {
		s.st.Data, s.st.Size = stream.Memory(s.data), int64(len(s.data))
		b.f.Streams = append(b.f.Streams, s.st)
	}
	if b.troubles > 1 {
		b.f.Damagedf("", "%s+0x0: frames: %s", b.f.Name, plural.Count(b.troubles-1, "more such place"))
	}
	if b.unknown > 0 {
		b.f.Damagedf("", "%s+0x0: AUXTRACE_INFO: %s of trace of CPUs of which it says nothing", b.f.Name, plural.Count(b.unknown, "byte"))
	}
	if b.unnamed > 0 {
		b.f.Damagedf("", "%s+0x0: frames: %s without a trace ID: whose trace %s is not known", b.f.Name, plural.Count(b.unnamed, "byte"), plural.Word(b.unnamed, "it holds", "they hold"))
	}
	if len(b.strangers) == 0 {
		return
	}
	var ids []string
	size := 0
	for id, n := range b.strangers {
		ids = append(ids, fmt.Sprintf("%x", id))
		size += n
	}
	slices.Sort(ids)
	b.f.Damagedf("record with the perf of the kernel that made the trace: newer kernels give trace IDs by AUX_OUTPUT_HW_ID records",
		"%s+0x0: trace IDs %s: %s of trace of which neither AUXTRACE_INFO nor AUX_OUTPUT_HW_ID records say one CPU", b.f.Name, strings.Join(ids, ", "), plural.Count(size, "byte"))
}

// csClock returns how timestamps become the records' time: by TIME_CONV, where
// every trace unit counts the virtual counter.
func (f *facts) csClock() event.TimeConv {
	if f.timeConv == nil || f.auxInfo == nil || f.auxInfo.CS == nil {
		return event.TimeConv{}
	}
	for i := range f.auxInfo.CS.CPUs {
		if f.auxInfo.CS.CPUs[i].TSSource != 1 {
			return event.TimeConv{}
		}
	}
	return *f.timeConv
}

// converts reports whether the trace's clock becomes that of the records.
func (f *facts) converts() bool {
	if f.auxInfo != nil && f.auxInfo.CS != nil {
		return f.csClock().Valid
	}
	return f.conversion().Valid
}
