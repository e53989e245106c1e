package recording

import (
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// What AUX records say: how much trace was stored, when, and so how late it can be.

// auxRecord is what an AUX record says: so much trace was stored at once. The
// sink was stopped and started again before and behind it.
type auxRecord struct {
	cpu, tid  int32
	off, size uint64 // in the AUX area, bytes
	raw       bool   // one source's bytes, not frames
	over      bool   // the buffer is overwritten in a ring: off is where the trace ends
	time      uint64 // ns
}

// keepAux takes an event of the storing of trace.
func (f *facts) keepAux(e *sideband.Record) {
	cpu := int32(e.CPU)
	switch e.Type {
	case sideband.TypeAux:
		f.WrittenBy[cpu] = max(f.WrittenBy[cpu], e.Time)
		f.auxSize[cpu] = max(f.auxSize[cpu], uint64(e.Offset)+e.Size)
		f.auxRecords = append(f.auxRecords, auxRecord{
			cpu: cpu, tid: e.TID, off: uint64(e.Offset), size: e.Size, time: e.Time,
			raw: e.Flags&perfdata.AuxFormatCoreSightRaw != 0, over: e.Flags&perfdata.AuxOverwrite != 0,
		})
	case sideband.TypeHwID:
		id, ok := perfdata.CSHWIDOf(uint64(e.HwID))
		if !ok { // of a version to come: the CPU has none, and not what the old rule gives
			id = perfdata.CSHWID{}
		}
		f.hwIDs[cpu] = id
	case sideband.TypeAuxLoss:
		l := stream.Loss{Off: int64(e.Offset), End: int64(e.Offset) + int64(e.Size), Why: e.Kind}
		if e.Begin != nil {
			l.Time = *e.Begin
		}
		f.losses[cpu] = append(f.losses[cpu], l)
	}
}

// Written returns when all of st had been written, ns; 0: not known.
func (r *Recording) Written(st *stream.Stream) uint64 {
	if !st.Protocol.RecorderTime {
		return 0 // timestamps may be another clock's, and do not bound a segment
	}
	return r.WrittenBy[st.CPU]
}

// untraced tells of CPUs whose trace is not in the recording called n, though AUX records say
// that perf took it. It says so only where that is certain. A CPU's first bytes are taken with
// the record of them or before, so later ones may lie in the file that was written next. What is
// overwritten in a ring need not be taken, and a sink may have the trace of all CPUs.
func untraced(f *facts, c *Config, n string) {
	if c.Recording == "" || f.Meta.Snapshot || f.auxInfo == nil || f.auxInfo.PT == nil {
		return
	}
	lacks := map[int32]bool{}
	for i := range f.auxRecords {
		a := &f.auxRecords[i]
		if a.over {
			return
		}
		if a.cpu >= 0 && a.off == 0 && a.size > 0 {
			lacks[a.cpu] = true
		}
	}
	for _, st := range f.Streams {
		if st.CPU < 0 {
			return // a thread's, on whatever CPU it ran
		}
		delete(lacks, st.CPU)
	}
	for i := range c.Raw {
		delete(lacks, c.Raw[i].CPU)
	}
	if len(f.Streams) == 0 {
		return
	}
	for _, cpu := range slices.Sorted(maps.Keys(lacks)) {
		f.Damagedf("end perf record by SIGINT, and give the file as perf record left it; or give this CPU's trace with --pt CPU:FILE",
			"%s: AUXTRACE: 0 records of CPU %d, need 1: AUX records tell of %s of its trace, but it is not in the file", n, cpu, plural.Count(f.auxSize[cpu], "byte"))
	}
}
