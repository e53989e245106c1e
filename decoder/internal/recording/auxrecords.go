package recording

import (
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
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
