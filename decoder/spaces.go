package decoder

import (
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/stream"
)

// Whose address space user addresses are of.

// spaces returns how user addresses of st are told apart (flow.Config.Space), nil
// where there is one address space. seen keeps which CR3 was which process's while
// it was sure; it is emptied with each segment, so that segments do not depend on
// each other.
func (s *Session) spaces(st *stream.Stream, seen map[uint64]int32) func(t event.Time, whose uint64) (uint32, bool) {
	if len(s.users.maps) == 0 {
		return nil
	}
	if st.Protocol != stream.IntelPT {
		return s.contextSpaces(st)
	}
	return s.timeSpaces(st, seen)
}

// timeSpaces is spaces by what the records say of who ran when.
func (s *Session) timeSpaces(st *stream.Stream, seen map[uint64]int32) func(t event.Time, cr3 uint64) (uint32, bool) {
	return func(t event.Time, cr3 uint64) (uint32, bool) {
		if st.CPU < 0 {
			pid := s.tasks.pids[st.TID]
			return s.users.at(pid, t.Lo), s.users.at(pid, t.Lo) == s.users.at(pid, t.Hi)
		}
		first, ok := s.tasks.on(st.CPU, t.Lo)
		if !ok || first.PID < 0 {
			return 0, true
		}
		space := s.users.at(first.PID, t.Lo)
		// The two halves of an address space under page table isolation differ
		// in bit 12 (arch/x86/entry/calling.h, PTI_USER_PGTABLE_BIT), and below
		// it is the PCID.
		key := cr3 &^ 0x1fff
		if s.tasks.alone(st.CPU, t) && space == s.users.at(first.PID, t.Hi) {
			if key != 0 {
				seen[key] = first.PID
			}
			return space, true
		}
		if pid, ok := seen[key]; ok && key != 0 {
			space = s.users.at(pid, t.Lo)
			return space, space == s.users.at(pid, t.Hi)
		}
		return space, false
	}
}

// contextSpaces is spaces of a CoreSight stream: a thread's own is of its process.
// Of a CPU's, the contexts that an ETMv4 or ETE states name the thread: a 64-bit
// kernel keeps its number in CONTEXTIDR of the level that it runs at, if it was
// built so (Linux, CONFIG_PID_IN_CONTEXTIDR). That of EL2 stands in the place of
// the VMID (tools/perf/util/cs-etm.c, cs_etm__init_pid_fmt, v6.12). Where the
// records are sure of another process, the context's is taken and not sure; they
// are not sure, if no event asks for records of switches.
func (s *Session) contextSpaces(st *stream.Stream) func(t event.Time, ids uint64) (uint32, bool) {
	const vmid, vmidOpt = 1 << 7, 1 << 15 // TRCCONFIGR
	byTime := s.timeSpaces(st, map[uint64]int32{})
	return func(t event.Time, ids uint64) (uint32, bool) {
		if st.CPU < 0 {
			return s.users.within(s.tasks.pids[st.TID], t, s.onExec)
		}
		tid := int32(ids)
		if st.CS.V4.CONFIGR&(vmid|vmidOpt) != 0 {
			tid = int32(ids >> 32)
		}
		space, sure := byTime(t, 0)
		sure = sure && (s.switches || len(s.users.maps) < 2)
		pid, known := s.tasks.pids[tid]
		if tid <= 0 || !known || s.kernel != isa.UpperHalf || st.Protocol != stream.ETMv4 && st.Protocol != stream.ETE {
			if len(s.users.maps) == 1 && space == 0 { // there is one program: whose should it be
				for pid := range s.users.maps {
					space, _ = s.users.within(pid, t, s.onExec)
				}
				return space, false
			}
			return space, sure
		}
		own, alone := s.users.within(pid, t, s.onExec)
		return own, alone && (!sure || space == 0 || space == own)
	}
}

// maxPrograms bounds how many programs of one process are looked at for one
// moment that is not known well.
const maxPrograms = 64

// within returns the address space that pid had during t, sure if it was one. A
// program of which nothing is mapped is passed over; surely so, if it cannot have
// been traced: before the process began, and, if onExec, before it first became
// another program, which is when tracing began (perf_event_attr.enable_on_exec).
func (u *users) within(pid int32, t event.Time, onExec bool) (space uint32, sure bool) {
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
