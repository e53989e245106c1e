package process

import (
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Whose address space user addresses are of.

// Traced is what of a trace stream says whose user addresses in it are.
type Traced struct {
	CPU, TID int32 // -1: a thread's; a CPU's
	States   event.Identity
}

// Processes is the processes of a recording: their threads and their address
// spaces.
type Processes struct {
	Tasks    *Tasks
	Spaces   *Spaces
	Switches bool // some event asks for records of switches
	OnExec   bool // tracing began when the process that the recorder started became a program
}

// New returns processes of which nothing is known. The files that they mapped are
// looked for in symfs ("": /) and, by build ID, in the directories buildIDs.
func New(symfs string, buildIDs []string) *Processes {
	return &Processes{Tasks: NewTasks(), Spaces: NewSpaces(symfs, buildIDs)}
}

// Seal sorts what was recorded; lookups may follow.
func (p *Processes) Seal() {
	p.Tasks.Seal()
	p.Spaces.Seal()
}

// Shared reports whether several programs may have run in tr during t, so that
// whose code is read depends on the moment.
func (p *Processes) Shared(tr Traced, t event.Time) bool {
	if len(p.Spaces.maps) == 0 {
		return false
	}
	pid := int32(-1)
	if tr.CPU < 0 {
		pid = p.Tasks.pids[tr.TID]
	} else if first, _, _, ok := p.Tasks.thread(tr.CPU, t.Lo); !p.Tasks.Alone(tr.CPU, t) {
		return true
	} else if ok {
		pid = first
	}
	return pid >= 0 && p.Spaces.At(pid, t.Lo) != p.Spaces.At(pid, t.Hi)
}

// Whose returns how user addresses in tr are told apart (flow.Config.Space), nil
// where there is one address space. seen keeps which CR3 was which process's while
// it was sure; it is emptied with each segment, so that segments do not depend on
// each other.
func (p *Processes) Whose(tr Traced, seen map[uint64]int32) func(t event.Time, states uint64) (uint32, bool) {
	if len(p.Spaces.maps) == 0 {
		return nil
	}
	if tr.States == event.PageTable {
		return p.byTime(tr, seen)
	}
	return p.byContext(tr)
}

// byTime is Whose by what the records say of who ran when.
func (p *Processes) byTime(tr Traced, seen map[uint64]int32) func(t event.Time, cr3 uint64) (uint32, bool) {
	return func(t event.Time, cr3 uint64) (uint32, bool) {
		if tr.CPU < 0 {
			pid := p.Tasks.pids[tr.TID]
			return p.Spaces.At(pid, t.Lo), p.Spaces.At(pid, t.Lo) == p.Spaces.At(pid, t.Hi)
		}
		first, _, _, ok := p.Tasks.thread(tr.CPU, t.Lo)
		if !ok || first < 0 {
			return 0, true
		}
		space := p.Spaces.At(first, t.Lo)
		// The two halves of an address space under page table isolation differ
		// in bit 12 (arch/x86/entry/calling.h, PTI_USER_PGTABLE_BIT), and below
		// it is the PCID.
		key := cr3 &^ 0x1fff
		if p.Tasks.Alone(tr.CPU, t) && space == p.Spaces.At(first, t.Hi) {
			if key != 0 {
				seen[key] = first
			}
			return space, true
		}
		if pid, ok := seen[key]; ok && key != 0 {
			space = p.Spaces.At(pid, t.Lo)
			return space, space == p.Spaces.At(pid, t.Hi)
		}
		return space, false
	}
}

// byContext is Whose of a CoreSight stream: a thread's own is of its process.
// In a CPU's stream, the contexts that an ETMv4 or ETE states name the thread. A
// 64-bit kernel keeps its number in CONTEXTIDR of the level that it runs at, if it
// was built with CONFIG_PID_IN_CONTEXTIDR. That of EL2 stands in the place of
// the VMID (tools/perf/util/cs-etm.c, cs_etm__init_pid_fmt, v6.12). Where the
// records are sure of another process, the context's is taken and not sure. The
// records are not sure if no event asks for records of switches.
func (p *Processes) byContext(tr Traced) func(t event.Time, ids uint64) (uint32, bool) {
	byTime := p.byTime(tr, map[uint64]int32{})
	return func(t event.Time, ids uint64) (uint32, bool) {
		if tr.CPU < 0 {
			return p.Spaces.Within(p.Tasks.pids[tr.TID], t, p.OnExec)
		}
		tid := int32(ids)
		if tr.States == event.ThreadInVMID {
			tid = int32(ids >> 32)
		}
		space, sure := byTime(t, 0)
		sure = sure && (p.Switches || len(p.Spaces.maps) < 2)
		pid, known := p.Tasks.pids[tid]
		if tid <= 0 || !known || tr.States == event.NoIdentity {
			if len(p.Spaces.maps) == 1 && space == 0 { // there is one program: whose should it be
				for pid := range p.Spaces.maps {
					space, _ = p.Spaces.Within(pid, t, p.OnExec)
				}
				return space, false
			}
			return space, sure
		}
		own, alone := p.Spaces.Within(pid, t, p.OnExec)
		return own, alone && (!sure || space == 0 || space == own)
	}
}

// maxPrograms bounds how many programs of one process are looked at for one
// moment that is not known well.
const maxPrograms = 64

// Within returns the address space that pid had during t, sure if it was one. It
// passes over a program of which nothing is mapped. It is sure of that where the
// program cannot have been traced: before the process began and, if onExec, before
// it first became another program. With onExec, tracing began then
// (perf_event_attr.enable_on_exec).
func (u *Spaces) Within(pid int32, t event.Time, onExec bool) (space uint32, sure bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	lo, hi := u.program(pid, t.Lo), u.program(pid, t.Hi)
	sure = hi-lo < maxPrograms
	births := u.births[pid]
	execs := slices.IndexFunc(births, func(b birth) bool { return b.parent < 0 })
	for p := hi; p >= max(lo, hi-maxPrograms+1); p-- {
		h := u.of(programKey{pid, p}, 0)
		turn := func(at uint64) uint32 {
			return h.first + uint32(sort.Search(len(h.turns), func(i int) bool { return h.turns[i].time > at }))
		}
		from, to := h.first, h.first+uint32(len(h.turns))
		if p == lo {
			from = turn(t.Lo)
		}
		if p == hi {
			to = turn(t.Hi)
		}
		if onExec && p == 0 && execs == 0 && lo != hi {
			continue // nothing of it was traced, whatever it had mapped
		}
		if len(h.maps) == 0 && lo != hi {
			unborn := p == 0 && len(births) > 0 && births[0].parent >= 0
			sure = sure && (unborn || onExec && p <= execs)
			continue
		}
		sure = sure && space == 0 && from == to
		space = from
	}
	return space, sure
}
