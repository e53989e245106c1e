package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Whose address space user addresses are of.

// spaces returns how user addresses of st are told apart, nil where there is
// one address space. seen keeps which CR3 was which process's while it was sure; it is
// emptied with each segment, so that segments do not depend on each other.
func (s *Session) spaces(st *Stream, seen map[uint64]int32) func(t event.Time, cr3 uint64) (uint32, bool) {
	if len(s.users.maps) == 0 {
		return nil
	}
	if st.CPU >= 0 && (st.Protocol == ETMv4 || st.Protocol == ETE) && s.kernel == isa.UpperHalf {
		return s.contextSpaces(st)
	}
	return s.timeSpaces(st, seen)
}

// timeSpaces is spaces by what the records say of who ran when.
func (s *Session) timeSpaces(st *Stream, seen map[uint64]int32) func(t event.Time, cr3 uint64) (uint32, bool) {
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

// contextSpaces is spaces by the contexts that an ETMv4 or ETE states: a 64-bit
// kernel keeps the thread's number in CONTEXTIDR of the level that it runs at, if
// it was built so (Linux, CONFIG_PID_IN_CONTEXTIDR). That of EL2 stands in the
// place of the VMID (tools/perf/util/cs-etm.c, cs_etm__init_pid_fmt, v6.12). Where
// the records are sure of another process, neither is.
func (s *Session) contextSpaces(st *Stream) func(t event.Time, ids uint64) (uint32, bool) {
	const vmid, vmidOpt = 1 << 7, 1 << 15 // TRCCONFIGR
	byTime := s.timeSpaces(st, map[uint64]int32{})
	return func(t event.Time, ids uint64) (uint32, bool) {
		tid := int32(ids)
		if st.CS.V4.CONFIGR&(vmid|vmidOpt) != 0 {
			tid = int32(ids >> 32)
		}
		space, sure := byTime(t, 0)
		pid, known := s.tasks.pids[tid]
		if tid <= 0 || !known {
			return space, sure
		}
		own := s.users.at(pid, t.Lo)
		if sure && space != 0 && space != own {
			return own, false
		}
		return own, own == s.users.at(pid, t.Hi)
	}
}
