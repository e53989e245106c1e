package items

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// Stack finds the calls that an item of a stream ran in, or those around a call: a decoder.Sink.
type Stack struct {
	calls.Tree                        // its Session must be set
	Item       func(*Item) bool       // reports whether an item is the one; nil: a call is looked for
	Call       func(*calls.Call) bool // is told of each call as it begins, and reports whether it is the one

	Found bool
	Calls []calls.Call // the innermost first, as they were then
	Way   calls.Way    // how the outermost was entered, or what was there before and jumped to it

	walk     Walk
	in       *calls.Call // that ran last
	ways     map[*calls.Call]calls.Way
	replaced calls.Way // of what the next call takes the place of; InProgress: of nothing
	part     decoder.Batch
}

// Restart begins anew (decoder.Restarter).
func (s *Stack) Restart() bool {
	s.Found, s.Calls, s.in, s.ways, s.replaced = false, nil, nil, map[*calls.Call]calls.Way{}, calls.InProgress
	s.walk.Each = func(it *Item) bool {
		if s.Item != nil && s.Item(it) {
			s.keeps(s.in)
		}
		return !s.Found
	}
	s.OnBegin = func(c *calls.Call) {
		if c.Caller == nil {
			s.ways[c] = c.How
			if c.How == calls.Jumped && s.replaced != calls.InProgress {
				s.ways[c] = s.replaced
			}
		}
		s.replaced = calls.InProgress
		if s.Call(c) && !s.Found {
			s.keeps(c)
		}
	}
	s.OnEnd = func(c *calls.Call) {
		if c.Ended == calls.Replaced {
			s.replaced = s.ways[c]
		}
		delete(s.ways, c)
	}
	s.OnRan = func(c *calls.Call, _ *decoder.BatchRange) { s.in = c }
	s.walk.Restart()
	return s.Tree.Restart()
}

// keeps notes the calls from c outwards.
func (s *Stack) keeps(c *calls.Call) {
	s.Found = true
	for ; c != nil; c = c.Caller {
		s.Calls = append(s.Calls, *c)
		s.Way = s.ways[c]
	}
}

// Flow takes the ranges of b one by one: an item belongs to the call that its range runs in.
func (s *Stack) Flow(b *decoder.Batch) error {
	for i, n := 0, 0; i <= len(b.Ranges); i++ {
		s.part = decoder.Batch{Stream: b.Stream, Stamps: b.Stamps, Notes: s.part.Notes[:0]}
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			s.part.Notes = append(s.part.Notes, b.Notes[n])
			s.part.Notes[len(s.part.Notes)-1].At = 0
		}
		if err := s.walk.Flow(&s.part); err != nil { // notes belong to what ran before them
			return err
		}
		if i < len(b.Ranges) {
			s.part.Ranges = b.Ranges[i : i+1]
		}
		if err := s.Tree.Flow(&s.part); err != nil || s.Found {
			return stopped(err)
		}
		s.part.Notes = s.part.Notes[:0]
		if err := s.walk.Flow(&s.part); err != nil {
			return err
		}
	}
	return nil
}

// stopped is err, or what ends a flow of which no more is wanted.
func stopped(err error) error {
	if err == nil {
		return decoder.ErrStop
	}
	return err
}
