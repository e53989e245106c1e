package items

// Scan looks for the first item of a stream that is wanted, or for the last: a decoder.Sink.
type Scan struct {
	Walk
	Back   bool // the last one is looked for
	Passed bool // the place was come to
	Hit    Item
	HasHit bool
	Nth    int // of Hit: its number among the visits of one moment, from 0

	wanted func(before, it *Item) bool
	place  func(*Item) bool
	was    Item // the instruction, or the visit, before
	ran    bool // there is one
	nth    int  // of the last visit
}

// Restart begins anew (decoder.Restarter).
func (s *Scan) Restart() bool {
	s.Passed, s.ran, s.HasHit, s.nth = false, false, false, 0
	return s.Walk.Restart()
}

// NewScan returns a scan for what is wanted behind a place, or before it: before is the instruction
// before it, nil if there is none. Items up to the place do not count, or from there on.
func NewScan(back bool, place func(*Item) bool, wanted func(before, it *Item) bool) *Scan {
	s := &Scan{Back: back, wanted: wanted, place: place}
	s.Each = s.next
	return s
}

// next looks at an item. It returns false where no more is wanted.
func (s *Scan) next(it *Item) bool {
	at := !s.Passed && s.place(it)
	if at {
		s.Passed = true
		if s.Back {
			return false
		}
	}
	var before *Item
	if s.ran {
		before = &s.was
	}
	if s.wanted(before, it) && (s.Passed && !at || s.Back) {
		s.Hit, s.HasHit = *it, true
		if !s.Back {
			return false
		}
	}
	if it.Note == nil {
		s.was, s.ran = *it, true
	}
	return true
}

// Visit is a place among the executions of something: a moment, and a number among those of
// that moment in a stream, from 0.
type Visit struct {
	At  uint64
	Nth int
}

// Visits returns a scan for the execution that follows v in a stream, or for the one before it. Several may have
// one moment, which axis gives: calls that no timing packet parts.
func Visits(back bool, v Visit, axis func(*Item) uint64, is func(*Item) bool) *Scan {
	s := &Scan{Back: back}
	s.Each = func(it *Item) bool {
		at := axis(it)
		if is(it) {
			s.nth++
			if !s.ran || at != axis(&s.was) {
				s.nth = 0
			}
			s.was, s.ran = *it, true
			behind := at > v.At || at == v.At && s.nth > v.Nth
			before := at < v.At || at == v.At && s.nth < v.Nth
			if !back && behind || back && before {
				s.Hit, s.Nth, s.HasHit = *it, s.nth, true
			}
			if !back && behind {
				return false
			}
		}
		s.Passed = s.Passed || at > v.At
		return !back || !s.Passed
	}
	return s
}
