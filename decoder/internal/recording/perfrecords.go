package recording

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
)

// errSkip says that a record tells nothing that the event stream does not have
// from elsewhere: how the file is laid out, its attributes and its features.
var errSkip = errors.New("not in the event stream")

// eventOf makes the stream event of a record. Bytes alias the file. errSkip is
// for records that the stream has no use for.
func eventOf(rec *perfdata.Record) (sideband.Record, error) {
	e := sideband.Record{Time: rec.Time, Timed: rec.HasTime(), CPU: int(rec.CPU)}
	e.ID, e.StreamID, e.Misc = rec.ID, rec.StreamID, uint16(rec.Misc)
	if rec.Has&perfdata.SampleTID != 0 {
		e.PID, e.TID = rec.PID, rec.TID
	}
	var err error
	switch rec.Type {
	case perfdata.TypeDamaged, perfdata.TypeFinishedRound, perfdata.TypeFinishedInit, perfdata.TypeHeaderAttr, perfdata.TypeHeaderFeature:
		return e, errSkip
	case perfdata.TypeTextPoke, perfdata.TypeKsymbol, perfdata.TypeBPFEvent:
		err = textEvent(&e, rec)
	case perfdata.TypeMmap, perfdata.TypeMmap2:
		err = mmapEvent(&e, rec)
	case perfdata.TypeComm, perfdata.TypeFork, perfdata.TypeExit, perfdata.TypeItraceStart,
		perfdata.TypeSwitch, perfdata.TypeSwitchCPUWide, perfdata.TypeNamespaces:
		err = taskEvent(&e, rec)
	case perfdata.TypeLost, perfdata.TypeLostSamples, perfdata.TypeAux, perfdata.TypeAuxtrace,
		perfdata.TypeAuxOutputHWID, perfdata.TypeAuxtraceError, perfdata.TypeAuxtraceInfo, perfdata.TypeTimeConv:
		err = traceEvent(&e, rec)
	case perfdata.TypeCgroup:
		var c perfdata.Cgroup
		c, err = rec.Cgroup()
		e.Type, e.CgroupID, e.Path = sideband.TypeCgroup, c.ID, sideband.Str(c.Path)
	default:
		e.Type, e.Record, e.Raw = sideband.TypeRaw, uint32(rec.Type), rec.Body
		if rec.Type == perfdata.TypeSample {
			withoutTrace(&e, rec)
		}
	}
	return e, err
}

// withoutTrace leaves out of a sample the hardware trace that it carries: trace
// is no part of the event stream, and there may be megabytes of it.
func withoutTrace(e *sideband.Record, rec *perfdata.Record) {
	if rec.Attr == nil || rec.Attr.SampleType&perfdata.SampleAux == 0 {
		return
	}
	m, err := rec.Sample()
	if err != nil || len(m.Aux) == 0 {
		return
	}
	e.Raw = slices.Concat(rec.Body[:m.AuxOff], rec.Body[m.AuxOff+len(m.Aux):])
	e.Offset, e.Size = sideband.Hex(m.AuxOff), uint64(len(m.Aux))
}

// about says whom the event is about, where that is another than the record's
// context.
func about(e *sideband.Record, rec *perfdata.Record, pid, tid int32) {
	if rec.Has&perfdata.SampleTID != 0 && (rec.PID != pid || rec.TID != tid) {
		e.ByPID, e.ByTID = rec.PID, rec.TID
	}
	e.PID, e.TID = pid, tid
}

// numbered names a kind, or gives its number.
func numbered(n uint64, names ...string) string {
	if n < uint64(len(names)) && names[n] != "" {
		return names[n]
	}
	return strconv.FormatUint(n, 10)
}

// textEvent is eventOf for what changes text.
func textEvent(e *sideband.Record, rec *perfdata.Record) error {
	switch rec.Type {
	case perfdata.TypeTextPoke:
		p, err := rec.TextPoke()
		e.Type, e.Addr, e.Old, e.New = sideband.TypePoke, sideband.Hex(p.Addr), p.Old, p.New
		return err
	case perfdata.TypeKsymbol:
		k, err := rec.Ksymbol()
		e.Type, e.Addr, e.Len, e.Name = sideband.TypeKsymbol, sideband.Hex(k.Addr), uint64(k.Len), sideband.Str(k.Name)
		e.Kind, e.Gone = numbered(uint64(k.Kind), "", "bpf", "ool"), k.Unregister
		return err
	}
	b, err := rec.BPFEvent()
	e.Type, e.Kind, e.BPFID = sideband.TypeBPF, numbered(uint64(b.Kind), "", "load", "unload"), b.ID
	e.Flags, e.Tag = uint64(b.Flags), bytes.Clone(b.Tag[:])
	return err
}

// mmapEvent is eventOf for mappings.
func mmapEvent(e *sideband.Record, rec *perfdata.Record) error {
	m, err := rec.Mmap()
	about(e, rec, m.PID, m.TID)
	e.Type, e.Addr, e.Len, e.PgOff, e.File = sideband.TypeMmap, sideband.Hex(m.Addr), m.Len, sideband.Hex(m.PgOff), sideband.Str(m.File)
	e.Prot, e.Flags = m.Prot, uint64(m.Flags)
	e.Major, e.Minor, e.Ino, e.InoGen, e.BuildID = m.Maj, m.Min, m.Inode, m.InodeGen, m.BuildID
	if rec.Type == perfdata.TypeMmap {
		e.Record = uint32(rec.Type)
	}
	return err
}

// taskEvent is eventOf for threads.
func taskEvent(e *sideband.Record, rec *perfdata.Record) error {
	switch rec.Type {
	case perfdata.TypeComm:
		c, err := rec.Comm()
		about(e, rec, c.PID, c.TID)
		e.Type, e.Comm, e.Exec = sideband.TypeComm, sideband.Str(c.Comm), c.Exec
		return err
	case perfdata.TypeFork, perfdata.TypeExit:
		k, err := rec.Task()
		about(e, rec, k.PID, k.TID)
		if e.Type = sideband.TypeFork; rec.Type == perfdata.TypeExit {
			e.Type = sideband.TypeExit
		}
		e.PPID, e.PTID = k.PPID, k.PTID
		if !e.Timed && k.Time != 0 {
			e.Time, e.Timed = k.Time, true
		}
		return err
	case perfdata.TypeItraceStart:
		k, err := rec.ItraceStart()
		about(e, rec, k.PID, k.TID)
		e.Type = sideband.TypeItraceStart
		return err
	case perfdata.TypeNamespaces:
		n, err := rec.Namespaces()
		about(e, rec, n.PID, n.TID)
		e.Type = sideband.TypeNamespaces
		for _, l := range n.Links {
			e.Namespaces = append(e.Namespaces, sideband.Namespace{Dev: l.Dev, Ino: l.Inode})
		}
		return err
	}
	e.Type, e.PID, e.TID = sideband.TypeSwitch, rec.PID, rec.TID
	e.Out, e.Preempt = rec.SwitchOut()
	if rec.Type == perfdata.TypeSwitch {
		e.Record = uint32(rec.Type)
		return nil
	}
	k, err := rec.SwitchCPUWide()
	e.OtherPID, e.OtherTID = k.PID, k.TID
	return err
}

// traceEvent is eventOf for the trace itself and for losses.
func traceEvent(e *sideband.Record, rec *perfdata.Record) error {
	switch rec.Type {
	case perfdata.TypeLost, perfdata.TypeLostSamples:
		l, err := rec.Lost()
		if e.Type = sideband.TypeLost; rec.Type == perfdata.TypeLostSamples {
			e.Type = sideband.TypeLostSamples
		}
		e.LostID, e.Lost = l.ID, l.Lost
		return err
	case perfdata.TypeAux:
		a, err := rec.Aux()
		e.Type, e.Offset, e.Size, e.Flags = sideband.TypeAux, sideband.Hex(a.Off), a.Size, a.Flags
		return err
	case perfdata.TypeAuxtrace:
		a, err := rec.Auxtrace()
		e.Type, e.Offset, e.Size, e.Reference = sideband.TypeAuxtrace, sideband.Hex(a.Off), a.Size, sideband.Hex(a.Reference)
		e.Index, e.CPU, e.PID, e.TID = a.Index, int(max(a.CPU, -1)), -1, a.TID
		e.File, e.FileOffset = sideband.Str(filepath.Base(rec.File)), sideband.Hex(rec.Off+int64(rec.Size))
		return err
	case perfdata.TypeAuxOutputHWID:
		id, err := rec.AuxOutputHWID()
		e.Type, e.HwID = sideband.TypeHwID, sideband.Hex(id)
		return err
	case perfdata.TypeAuxtraceError:
		a, err := rec.AuxtraceError()
		e.Type, e.Kind, e.Code, e.IP = sideband.TypeTraceError, strconv.FormatUint(uint64(a.Kind), 10), int64(a.Code), sideband.Hex(a.IP)
		e.CPU, e.PID, e.TID, e.Message = int(max(a.CPU, -1)), a.PID, a.TID, sideband.Str(a.Msg)
		if a.Format >= 1 {
			e.Time, e.Timed = a.Time, true
		}
		return err
	case perfdata.TypeAuxtraceInfo:
		a, err := rec.AuxtraceInfo()
		e.Type, e.PMU = sideband.TypeTraceConfig, uint32(a.Kind)
		for _, w := range a.Priv {
			e.Priv = append(e.Priv, sideband.Hex(w))
		}
		if a.PT != nil {
			e.Filter = sideband.Str(a.PT.Filter)
		}
		return err
	}
	t, err := rec.TimeConv()
	e.Type, e.Shift, e.Mult, e.Zero = sideband.TypeTimeConv, uint16(t.Shift), uint32(t.Mult), t.Zero
	e.HasCycles, e.Cycles, e.Mask = t.Full, t.Cycles, sideband.Hex(t.Mask)
	e.CapZero, e.CapShort = t.CapZero, t.CapShort
	return err
}

// textPiece is how many bytes of text one text event holds at most.
const textPiece = 1 << 20

// headEvents gives what a recording says outside of its records: who it is,
// its events, its trace streams' losses, and the text that it holds itself.
func headEvents(r *perfdata.Recording, take func(*sideband.Record) error) error {
	h := r.Header()
	meta := map[string]sideband.Str{"kind": "perf.data"}
	device, recorder := simpleperfMeta(r.Simpleperf())
	for k, v := range map[string]string{
		"host": cmp.Or(h.Hostname, device), "release": h.OSRelease, "machine": h.Arch, "cpu": h.CPUDesc,
		"perf": cmp.Or(h.Version, recorder), "command": strings.Join(h.Cmdline, " "),
	} {
		if v != "" {
			meta[k] = sideband.Str(v)
		}
	}
	list := []sideband.Record{{Type: sideband.TypeMeta, CPU: -1, Fields: sideband.Fields{Meta: meta}}}
	if e, ok := cpuEvent(h.CPUID); ok {
		list = append(list, e)
	}
	for _, a := range r.Attrs() {
		list = append(list, sideband.Record{Type: sideband.TypeAttr, CPU: -1, Fields: sideband.Fields{
			PMU: a.Type, Config: sideband.Hex(a.Config), Attr: a.Raw, IDs: a.IDs, Name: sideband.Str(a.Name),
		}})
	}
	ps := r.Streams()
	for i := range ps {
		for _, l := range ps[i].Losses {
			e := sideband.Record{Type: sideband.TypeAuxLoss, CPU: int(max(ps[i].CPU, -1)), Fields: sideband.Fields{
				TID: ps[i].TID, Offset: sideband.Hex(l.Off), Size: uint64(l.End - l.Off), Kind: l.Why.String(),
			}}
			if l.Time != 0 {
				e.Begin = &l.Time
			}
			list = append(list, e)
		}
	}
	for _, id := range r.BuildIDs() {
		list = append(list, sideband.Record{Type: sideband.TypeBuildID, CPU: -1, Fields: sideband.Fields{
			PID: id.PID, Misc: uint16(id.Misc), File: sideband.Str(id.File), BuildID: id.ID,
		}})
	}
	for i := range list {
		if err := take(&list[i]); err != nil {
			return err
		}
	}
	for i := range h.BPFProgs {
		if err := bpfText(&h.BPFProgs[i], take); err != nil {
			return err
		}
	}
	return nil
}

// bpfText gives the machine code of a BPF program, function by function.
func bpfText(p *perfdata.BPFProg, take func(*sideband.Record) error) error {
	code := p.Jited
	for i, addr := range p.Ksyms {
		if i >= len(p.FuncLens) {
			break
		}
		n := min(int(p.FuncLens[i]), len(code))
		text := code[:n]
		code = code[n:]
		for len(text) > 0 {
			k := min(len(text), textPiece)
			e := sideband.Record{Type: sideband.TypeText, CPU: -1, Fields: sideband.Fields{
				Addr: sideband.Hex(addr), Bytes: text[:k], Name: sideband.Str(p.Name), BPFID: p.ID, Tag: p.Tag[:],
			}}
			if err := take(&e); err != nil {
				return err
			}
			addr, text = addr+uint64(k), text[k:]
		}
	}
	return nil
}

// cpuEvent makes an event of perf's CPUID string of an x86 processor,
// "VENDOR,FAMILY,MODEL,STEPPING" (tools/perf/arch/x86/util/header.c, v6.1).
func cpuEvent(s string) (sideband.Record, bool) {
	e := sideband.Record{Type: sideband.TypeCPUModel, CPU: -1}
	p := strings.Split(s, ",")
	if len(p) < 4 {
		return e, false
	}
	var n [3]int
	for i := range n {
		v, err := strconv.ParseUint(p[i+1], 10, 16)
		if err != nil {
			return e, false
		}
		n[i] = int(v)
	}
	e.Vendor, e.Family, e.Model, e.Stepping = sideband.Str(p[0]), n[0], n[1], n[2]
	return e, true
}
