// Package inject knows the records of virtual machines (guests) that stand inside the
// recording of their host. perf inject puts them there (--guest-data), with times that it
// made the host's. They have the mode of a guest, and ID_INDEX says of an event's id which
// process runs the machine (tools/perf/builtin-inject.c, v6.12). It also says which guest a
// call names.
package inject

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Guest is a virtual machine and the recording that was made inside of it.
type Guest struct {
	PID       int32  // of the process that runs it
	Recording string // a perf.data file or directory
	HasOffset bool
	Offset    int64 // ns: what its clock's times lack of the host's; if not HasOffset, it is found
}

// Records is what the host's recording has of one guest.
type Records struct {
	Pokes                    []kcore.Poke
	Ksymbols                 []symbols.KsymbolRecord
	Kcore, Kallsyms, Modules string // paths; "": there is none
}

// Guests finds the records of guests among those of their host. Its zero value
// is ready.
type Guests struct {
	machines map[uint64]int32 // by id of an event: the process whose guest recorded it
	by       map[int32]*Records
}

// Describe takes what the files of r tell of guests.
func (g *Guests) Describe(r *perfdata.Recording) {
	g.machines = map[uint64]int32{}
	for _, e := range r.IDIndex() {
		if e.MachinePID > 0 {
			g.machines[e.ID] = e.MachinePID
		}
	}
	for _, d := range r.KcoreDirs() {
		if d.Guest {
			x := g.of(int32(d.PID))
			x.Kcore, x.Kallsyms, x.Modules = d.Kcore, d.Kallsyms, d.Modules
		}
	}
}

// of returns what is known of the guest of a process.
func (g *Guests) of(pid int32) *Records {
	if g.by == nil {
		g.by = map[int32]*Records{}
	}
	if g.by[pid] == nil {
		g.by[pid] = &Records{}
	}
	return g.by[pid]
}

// whose returns the process whose guest recorded e; 0: it is not known which. ok is false
// where the host did.
func (g *Guests) whose(e *sideband.Record) (pid int32, ok bool) {
	if pid, ok = g.machines[e.ID]; ok {
		return pid, true
	}
	switch m := perfdata.Misc(e.Misc) & perfdata.MiscCPUModeMask; e.Type {
	case sideband.TypePoke, sideband.TypeKsymbol, sideband.TypeMmap, sideband.TypeComm:
		return 0, m == perfdata.MiscGuestKernel || m == perfdata.MiscGuestUser
	}
	return 0, false
}

// Takes reports whether a guest recorded e, and keeps what e tells.
func (g *Guests) Takes(e *sideband.Record) (taken bool, err error) {
	pid, taken := g.whose(e)
	switch {
	case !taken:
	case e.Type == sideband.TypePoke:
		var p kcore.Poke
		if p, err = e.Poke(); err == nil {
			p.Old, p.New = slices.Clone(p.Old), slices.Clone(p.New)
			g.of(pid).Pokes = append(g.of(pid).Pokes, p)
		}
	case e.Type == sideband.TypeKsymbol:
		g.of(pid).Ksymbols = append(g.of(pid).Ksymbols, e.Ksymbol())
	}
	return taken, err
}

// All returns what is known of guests, by the processes that run them. Records of which
// nothing says whose they are belong to the only guest that there is. Else they are left
// out, and so many are changes to code.
func (g *Guests) All() (by map[int32]*Records, left int) {
	by = map[int32]*Records{}
	for pid, x := range g.by {
		if pid != 0 {
			by[pid] = x
		}
	}
	if r := g.by[0]; r != nil && len(by) != 1 {
		left = len(r.Pokes)
	} else if r != nil {
		for _, x := range by {
			x.Pokes, x.Ksymbols = append(x.Pokes, r.Pokes...), append(x.Ksymbols, r.Ksymbols...)
		}
		delete(g.by, 0)
	}
	return by, left
}
