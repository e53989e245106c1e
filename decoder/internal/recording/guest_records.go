package recording

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
)

// Records of virtual machines inside the recording of their host. perf inject puts them
// there (--guest-data), with times that it made the host's. They have the mode of a guest,
// and ID_INDEX says of an event's id which process runs the machine
// (tools/perf/builtin-inject.c, v6.12).

// guestOf returns the process whose virtual machine recorded e; 0: it is not known which.
// ok is false where the host did.
func guestOf(f *facts, e *sideband.Record) (pid int32, ok bool) {
	if pid, ok = f.machines[e.ID]; ok {
		return pid, true
	}
	switch m := perfdata.Misc(e.Misc) & perfdata.MiscCPUModeMask; e.Type {
	case sideband.TypePoke, sideband.TypeKsymbol, sideband.TypeMmap, sideband.TypeComm:
		return 0, m == perfdata.MiscGuestKernel || m == perfdata.MiscGuestUser
	}
	return 0, false
}

// insideOf returns the recording of the virtual machine that a process runs.
func insideOf(f *facts, pid int32) *Recording {
	r := f.Inside[pid]
	if r == nil {
		if f.Inside == nil {
			f.Inside = map[int32]*Recording{}
		}
		r = &Recording{Meta: Meta{Kind: "perf.data"}, Processes: process.New("", nil), WrittenBy: map[int32]uint64{}, CompleteTo: math.MaxUint64, tree: f.tree}
		f.Inside[pid] = r
	}
	return r
}

// keepGuest takes e, which a virtual machine recorded.
func keepGuest(f *facts, pid int32, e *sideband.Record) error {
	r := insideOf(f, pid)
	switch e.Type {
	case sideband.TypePoke:
		p, err := e.Poke()
		if err != nil {
			return err
		}
		p.Old, p.New = clone(p.Old), clone(p.New)
		r.Pokes = append(r.Pokes, p)
	case sideband.TypeKsymbol:
		r.Ksymbols = append(r.Ksymbols, e.Ksymbol())
	}
	return nil
}

// injected readies what was recorded inside of virtual machines. Where it is not known
// whose records are, they are those of the only one.
func injected(f *facts) {
	r := f.Inside[0]
	delete(f.Inside, 0)
	for pid, in := range f.Inside {
		in.Name = f.Name + " (" + GuestName(pid) + ")"
		if r != nil && len(f.Inside) == 1 {
			in.Pokes, in.Ksymbols, r = append(in.Pokes, r.Pokes...), append(in.Ksymbols, r.Ksymbols...), nil
		}
	}
	if r != nil && len(r.Pokes) > 0 {
		f.Warnf("inject it with perf v6.0 or later, whose ID_INDEX records name the process, or give what the guest recorded with --guest PID=FILE",
			"%s+0x0: TEXT_POKE: %d records of a virtual machine, and nothing says of which: left out", f.Name, len(r.Pokes))
	}
}

// Injected returns the processes whose virtual machines the recording itself has records
// of, ascending.
func (r *Recording) Injected() (pids []int32) {
	for pid := range r.Inside {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}
