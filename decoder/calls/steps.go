package calls

import "github.com/ptdecode/ptdecode/decoder"

// stepsOf is what a Tree tells Tree.OnSteps.
type stepsOf struct {
	Rows // those that wait: of Begin, Ended, Function, Insns and Verdict, and of Ran the first
	t    *Tree
	ranPlaces
}

// handOver hands on what waits.
func (s *stepsOf) handOver() {
	if s != nil && s.N > 0 {
		s.t.OnSteps(&s.Rows)
		s.N = 0
	}
}

// ranAt has what follows be of a place.
func (s *stepsOf) ranAt(ran *ranIn) {
	if s.Ran[0] != ran {
		s.handOver()
		s.Ran[0] = ran
	}
}

// step adds a step of a call at a moment, ns.
func (s *stepsOf) step(at uint64, how Way, function int, insns uint64, v decoder.Verdict) {
	if s.N == maxRows {
		s.handOver()
	}
	z := s.N & (maxRows - 1)
	s.N++
	s.Begin[z], s.Ended[z], s.Function[z], s.Insns[z], s.Verdict[z] = at, how, uint32(function), insns, v
}

// callBegins adds the beginning of a call that is an object.
func (s *stepsOf) callBegins(c *Call) {
	s.ranAt(s.stands(ranIn{c.Stream, c.TID, c.Comm}))
	s.step(c.Begin.Likely(), InProgress, c.Function, 0, 0)
}

// callEnds adds the end of a call that is an object.
func (s *stepsOf) callEnds(c *Call) {
	at := c.End.Likely()
	if c.Ended == AtEnd {
		at = c.End.Lo
	}
	s.ranAt(s.stands(ranIn{c.Stream, c.TID, c.Comm}))
	s.step(at, c.Ended, c.Function, c.Insns, c.Verdict)
}
