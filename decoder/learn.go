package decoder

import (
	"context"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// learned is what a session has learned of its code. It learns once.
type learned struct {
	mu    sync.Mutex
	done  bool
	tries int // of ideas
	whole int // decodings of all of the recording
}

// defaultPasses is Config.LearnPasses where it is not said.
const defaultPasses = 3

// sampleJobs is of how many jobs one is decoded to find contradictions before anything
// is learned.
const sampleJobs = 8

// mayLearn reports whether the session may still learn.
func (s *Session) mayLearn() bool {
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	return !s.learned.done && !s.cfg.NoLearn
}

// learn learns what code lies where trace and code contradict each other, from all of the
// recording. changed is set if the session's code is another than r's, which met a
// contradiction.
func (s *Session) learn(ctx context.Context, r *run) (changed bool, err error) {
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	if s.learned.done || s.cfg.NoLearn {
		return s.code.Load() != r.code, nil
	}
	c := s.code.Load()
	d := &learn.Decider{Ideas: s.generator(c).Ideas}
	d.Try = func(v *learn.Visit, over []learn.Idea) learn.Outcome { return s.try(c, v, over) }
	var some learn.Gathered
	for i := range r.doubt {
		some.Add(&r.doubt[i])
	}
	if err := s.contradictions(ctx, c, r.q.Jobs, sampleJobs, &some); err != nil {
		return false, err
	}
	d.Decide(some.Visits())
	s.place(c, d, some.Visits())
	if len(d.Held) == 0 { // rare sites need all visits
		some = learn.Gathered{}
		s.learned.whole++
		if err := s.contradictions(ctx, c, r.q.Jobs, 1, &some); err != nil {
			return false, err
		}
		d.Decide(some.Visits())
		s.place(c, d, some.Visits())
	}
	passes := s.cfg.LearnPasses
	if passes <= 0 {
		passes = defaultPasses
	}
	var tested []learn.Held // constant or not, as a pass over all visits left them
	for range passes {
		if len(d.Held) == 0 {
			break
		}
		next, err := s.withLearned(learnedOf(d.Held))
		if err != nil {
			return false, err
		}
		var all learn.Gathered
		s.learned.whole++
		if err := s.contradictions(ctx, next, r.q.Jobs, 1, &all); err != nil {
			return false, err
		}
		tested = slices.Clone(d.Held)
		before := len(d.Held)
		visits := all.Visits()
		if d.Against(visits) {
			tested = nil
			continue
		}
		d.Decide(visits)
		s.place(c, d, visits)
		if len(d.Held) == before {
			break
		}
	}
	s.learned.done, s.learned.tries = true, d.Tries
	if len(tested) == 0 {
		return false, nil
	}
	next, err := s.withLearned(learnedOf(tested))
	if err != nil {
		return false, err
	}
	s.code.Store(next)
	return true, nil
}

// learnedOf is list as what was learned.
func learnedOf(list []learn.Held) (all []kcore.Learned) {
	for i := range list {
		all = append(all, list[i].Learned())
	}
	return all
}

// contradictions decodes each so many one of all jobs with c and adds where trace and
// code contradict each other.
func (s *Session) contradictions(ctx context.Context, c *code, jobs, every int, to *learn.Gathered) error {
	r := s.newRun(Query{Jobs: jobs})
	r.code, r.every, r.gather = c, every, to.Add
	return r.flow(ctx, nothing{})
}

// nothing is a sink that drops what it is given.
type nothing struct{}

// Flow drops b.
func (nothing) Flow(*flow.Batch) error { return nil }

// generator returns what has ideas of c's code.
func (s *Session) generator(c *code) *learn.Generator {
	g := &learn.Generator{ISA: s.isa, Mode: s.mode, Known: c.text.Contested}
	end := event.Epoch(c.text.Len())
	g.Code = func(dst []byte, addr uint64) int {
		n, _ := c.text.Text.Fetch(dst, addr, end)
		return n
	}
	g.Tracers = sync.OnceValue(func() []uint64 { return s.tracers(c) })
	g.Calls = sync.OnceValue(func() []uint64 { return s.staticCallees(c) })
	g.Symbol = func(addr uint64) (y symbols.Symbol, ok bool) {
		if s.symbols != nil {
			y, _, ok = s.symbols.Lookup(addr, 0)
		}
		return y, ok
	}
	cold := sync.OnceValue(s.coldParts)
	g.Cold = func(name string) (y symbols.Symbol, ok bool) {
		y, ok = cold()[name]
		return y, ok
	}
	return g
}
