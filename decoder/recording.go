package decoder

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/perfdata"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/pt"
)

// fromPerf collects the facts of a perf.data.
func (s *Session) fromPerf(f *facts) error {
	var r *perfdata.Recording
	var err error
	if s.cfg.Recording == "-" {
		if s.cfg.Stdin == nil {
			return errors.New("no standard input to read a recording from")
		}
		r, err = perfdata.OpenPipe(s.cfg.Stdin)
	} else {
		r, err = perfdata.Open(s.cfg.Recording)
	}
	if err != nil {
		return err
	}
	s.closers = append(s.closers, r)
	f.describe(r)
	w := warner{f: f}
	found, more := r.Trouble()
	for _, e := range found {
		w.add("", "%v", e)
	}
	if more > 0 {
		w.add("", "%s: %d more such places", r.Name(), more)
	}
	f.configure(r)
	if err := f.records(r, &w); err != nil {
		return err
	}
	for _, d := range r.KcoreDirs() {
		if !d.Guest {
			f.dir = kcoreFiles{d.Kcore, d.Kallsyms, d.Modules}
		}
	}
	f.perfStreams(r)
	f.hints(r, &w)
	return nil
}

// warner collects warnings.
type warner struct{ f *facts }

func (w *warner) add(hint, format string, args ...any) {
	w.f.warn = append(w.f.warn, Warning{fmt.Sprintf(format, args...), hint})
}

// describe takes what the recording says of itself.
func (f *facts) describe(r *perfdata.Recording) {
	h := r.Header()
	f.meta = Meta{
		Kind: "perf.data", Host: h.Hostname, Release: h.OSRelease, CPUModel: h.CPUDesc,
		Command: strings.Join(h.Cmdline, " "), Records: map[string]uint64{},
	}
	for t, n := range r.Counts() {
		f.meta.Records[t.String()] += n
	}
	for _, a := range r.Attrs() {
		f.meta.Attrs = append(f.meta.Attrs, AttrMeta{Name: a.Name, Type: a.Type, Config: a.Config, IDs: len(a.IDs)})
	}
	if m, ok := parseCPUID(h.CPUID); ok {
		f.meta.Model = m
		f.pt.Model = m
	}
}

// parseCPUID reads perf's CPUID string of an x86 processor,
// "VENDOR,FAMILY,MODEL,STEPPING" (tools/perf/arch/x86/util/header.c, v6.1).
func parseCPUID(s string) (m pt.Model, ok bool) {
	p := strings.Split(s, ",")
	if len(p) < 4 || p[0] != "GenuineIntel" {
		return m, false
	}
	var n [3]uint64
	for i := range n {
		v, err := strconv.ParseUint(p[i+1], 10, 16)
		if err != nil {
			return m, false
		}
		n[i] = v
	}
	m, err := pt.ParseModel(fmt.Sprintf("%d/%d/%d", n[0], n[1], n[2]))
	return m, err == nil
}

// configure takes the trace's configuration: AUXTRACE_INFO says which bits of
// the event's config mean what, TIME_CONV how its clock runs.
func (f *facts) configure(r *perfdata.Recording) {
	info := r.AuxInfo()
	if info == nil || info.PT == nil {
		return
	}
	p := info.PT
	c := &f.pt
	f.meta.Snapshot = p.Snapshot
	for _, a := range r.Attrs() {
		if a.Type != p.PMUType {
			continue
		}
		c.TSC = a.Config&p.TSCBit != 0
		c.MTC = a.Config&p.MTCBit != 0
		c.CYC = a.Config&p.CYCBit != 0
		c.NoRETComp = a.Config&p.NoRetCompBit != 0
		if p.MTCFreqBits != 0 {
			c.MTCFreq = uint8(a.Config & p.MTCFreqBits >> bits.TrailingZeros64(p.MTCFreqBits) & 15)
		}
		c.NoTNT = a.Config>>55&1 != 0
		c.EventTrace = a.Config>>31&1 != 0
		break
	}
	c.CTCNum, c.CTCDen, c.MaxNonTurboRatio = p.TSCCTCNum, p.TSCCTCDen, p.MaxNonTurbo
	c.TimeConv = pt.TimeConv{Shift: p.TimeShift, Mult: p.TimeMult, Zero: p.TimeZero, Valid: p.CapUserTimeZero}
	if t := r.TimeConv(); t != nil && t.Mult != 0 {
		c.TimeConv = pt.TimeConv{Shift: uint16(t.Shift), Mult: uint32(t.Mult), Zero: t.Zero, Valid: !t.Full || t.CapZero}
	}
}

// records takes the sideband.
func (f *facts) records(r *perfdata.Recording, w *warner) error {
	last := map[int32]uint64{} // by CPU: time of the newest record, ns
	bad := 0
	rd := r.Records()
	var rec perfdata.Record
	for rd.Next(&rec) {
		if err := f.record(&rec, last); err != nil {
			if bad++; bad <= 10 {
				w.add("", "%v", err)
			}
		}
		if rec.HasTime() {
			last[rec.CPU] = rec.Time
		}
	}
	if bad > 10 {
		w.add("", "%s: %d more records that cannot be read", r.Name(), bad-10)
	}
	return nil
}

// record takes one record. last is the time of the newest record before it, by CPU.
func (f *facts) record(rec *perfdata.Record, last map[int32]uint64) error {
	switch rec.Type {
	case perfdata.TypeTextPoke:
		p, err := rec.TextPoke()
		if err != nil {
			return err
		}
		f.pokes = append(f.pokes, kcore.RecordedPoke(rec.Time, int(rec.CPU), p.Addr, clone(p.Old), clone(p.New)))
	case perfdata.TypeLost:
		f.lost = append(f.lost, event.Time{Lo: last[rec.CPU], Hi: rec.Time})
	case perfdata.TypeAux:
		f.auxEnd[rec.CPU] = max(f.auxEnd[rec.CPU], rec.Time)
	case perfdata.TypeKsymbol:
		k, err := rec.Ksymbol()
		if err != nil {
			return err
		}
		f.ksyms = append(f.ksyms, kcore.KsymbolRecord{Time: rec.Time, Name: k.Name, Addr: k.Addr, Len: uint64(k.Len), Gone: k.Unregister})
	case perfdata.TypeComm:
		c, err := rec.Comm()
		if err != nil {
			return err
		}
		f.tasks.named(rec.Time, c.PID, c.TID, c.Comm, c.Exec)
	case perfdata.TypeFork:
		k, err := rec.Task()
		if err != nil {
			return err
		}
		f.tasks.named(rec.Time, k.PID, k.TID, f.tasks.latest(k.PTID), false)
		f.users.forked(k.PID, k.PPID, rec.Time)
	case perfdata.TypeItraceStart:
		k, err := rec.ItraceStart()
		if err != nil {
			return err
		}
		f.tasks.ran(rec.CPU, rec.Time, k.PID, k.TID)
	case perfdata.TypeSwitch, perfdata.TypeSwitchCPUWide:
		return f.switched(rec)
	case perfdata.TypeMmap, perfdata.TypeMmap2:
		m, err := rec.Mmap()
		if err != nil {
			return err
		}
		if m.Executable && m.PID >= 0 {
			f.users.mapped(m.PID, mapping{rec.Time, m.Addr, m.Len, m.PgOff, m.File, clone(m.BuildID)})
		}
	}
	return nil
}

// switched takes a context switch: who runs on the record's CPU from then on.
func (f *facts) switched(rec *perfdata.Record) error {
	out, _ := rec.SwitchOut()
	if !out {
		f.tasks.ran(rec.CPU, rec.Time, rec.PID, rec.TID)
		return nil
	}
	if rec.Type == perfdata.TypeSwitch {
		return nil
	}
	n, err := rec.SwitchCPUWide()
	if err == nil {
		f.tasks.ran(rec.CPU, rec.Time, n.PID, n.TID)
	}
	return err
}

// clone copies b, which aliases a file.
func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return append([]byte(nil), b...)
}

// perfStreams takes the AUX streams.
func (f *facts) perfStreams(r *perfdata.Recording) {
	ps := r.Streams()
	for i := range ps {
		p := &ps[i]
		st := &Stream{CPU: p.CPU, TID: p.TID, Size: p.Size, File: r.Name(), data: p}
		for _, l := range p.Losses {
			st.Losses = append(st.Losses, Loss{l.Off, l.Why.String(), l.Time})
		}
		f.streams = append(f.streams, st)
	}
}

// hints says what the recording lacks and how to get it.
func (f *facts) hints(r *perfdata.Recording, w *warner) {
	h := r.Hints()
	n := r.Name()
	if h.NoAux {
		w.add("record with perf record -e intel_pt//k --kcore", "%s: no AUX data: nothing was traced", n)
	}
	if h.NoAuxInfo {
		w.add("the trace is read with default settings; record with perf record, not by hand", "%s: no AUXTRACE_INFO: the trace's configuration is not known", n)
	}
	if h.NoTime {
		w.add("record with perf record -T, or without --no-timestamp", "%s: no timestamps: pokes and trace cannot be related in time", n)
	}
	if h.NoTextPoke && !h.NoAux {
		w.add("record with perf record --kcore, which asks for TEXT_POKE records", "%s: no event asks for TEXT_POKE records: changes to the kernel's text are not known", n)
	}
	if h.LostRecords > 0 {
		w.add("record with larger buffers: perf record -m 16M,64M", "%s: %d LOST records stand for %d records that the kernel dropped: text poked then is in doubt", n, h.LostRecords, h.LostEvents)
	}
	if f.dir.kcore == "" && !h.NoAux {
		w.add("record with perf record --kcore, or give --kcore FILE", "%s: no kcore beside the recording: the kernel's text is not known", n)
	}
}
