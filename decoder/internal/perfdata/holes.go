package perfdata

import "math"

// Hole is an interval in which a change to text may have been recorded, in a record that
// was damaged, ns.
type Hole struct{ From, To uint64 }

// GuessedPoke is a TEXT_POKE record that was mended: it is likely what it says, and not
// surely.
type GuessedPoke struct {
	Addr     uint64
	Time     uint64 // as it is read now, ns
	From, To uint64 // when it was made, ns
}

// holes follows damaged stretches among the records of a part.
type holes struct {
	cpu  int32         // of the last record that states a time
	time uint64        // its time, ns; 0: there is none yet
	open bool          // a stretch came behind it
	late map[int32]int // by CPU: the hole that its next record ends, too
}

// pokeLen is the least size of a TEXT_POKE record without its sample_id.
const pokeLen = headerSize + 16

// begin notes a damaged stretch: one that is large enough for a TEXT_POKE record.
func (h *holes) begin(s *scanner) {
	least := pokeLen
	if len(s.ev.attrs) > 0 {
		least += s.ev.attrs[0].idLen
	}
	h.open = h.open || s.rec.Size >= least && s.rec.Misc&miscHidesPoke != 0
}

// see takes a record that states a time. A CPU's records stand together, in order. So what
// was lost before it is of its own CPU, or of that of the record before the stretch. It is
// no older than what came last of these, and no later than what comes next of them.
func (h *holes) see(s *scanner) {
	list, cpu, to := s.r.hints.Holes, s.rec.CPU, s.rec.Time
	if i, ok := h.late[cpu]; ok {
		list[i].To = max(list[i].To, to)
		delete(h.late, cpu)
	}
	if h.open {
		from := h.time
		if cpu != h.cpu || to < from {
			from = min(from, s.round.done)
			if cpu >= 0 && int(cpu) < len(s.seen) {
				from = min(h.time, s.seen[cpu])
			}
			if h.late == nil {
				h.late = map[int32]int{}
			}
			h.late[h.cpu] = len(list)
		}
		s.r.hints.Holes = append(list, Hole{from, max(to, h.time)})
	}
	h.open, h.cpu, h.time = false, cpu, to
}

// finishPart ends what is open at the end of a part.
func (h *holes) finishPart(s *scanner) {
	for _, i := range h.late {
		s.r.hints.Holes[i].To = math.MaxUint64
	}
	if h.open {
		s.r.hints.Holes = append(s.r.hints.Holes, Hole{h.time, math.MaxUint64})
	}
	*h = holes{cpu: -1}
}
