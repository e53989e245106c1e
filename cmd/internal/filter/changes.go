package filter

import "github.com/ptdecode/ptdecode/decoder"

// NextChange returns the number of the change that is the next at the place of change n; -1:
// there is none.
func NextChange(s *decoder.Session, n int) int {
	j := s.Text().Journal()
	next, at := -1, j.Poke(n)
	for i := range j.Len() {
		if p := j.Poke(i); p.Addr == at.Addr && p.Time > at.Time && (next < 0 || p.Time < j.Poke(next).Time) {
			next = i
		}
	}
	return next
}
