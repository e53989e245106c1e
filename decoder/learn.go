package decoder

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/kcore"
)

// learner is what a session learns by.
type learner struct{ *Session }

// learned is what a session has learned of its code. It learns once.
type learned struct {
	mu    sync.Mutex
	done  bool
	tries int   // of ideas
	whole int   // decodings of all of the recording
	room  int64 // bytes of trace that may still be decoded to try ideas

	blocks map[reading]*flow.Cache // of the code as it was; no walker reads these
}

// defaultPasses is Config.LearnPasses where it is not said.
const defaultPasses = 3

// errRough says that contradictions lie so near to each other that the code is another one
// throughout. Nothing can be learned then, and little is certain.
var errRough = errors.New("decoder: the code is another one throughout")

// leastRoom is how much trace is decoded to try ideas, bytes, besides as much as there is.
const leastRoom = 1 << 18

// sampleJobs is of how many jobs one is decoded to find contradictions before anything
// is learned.
const sampleJobs = 8

// mayLearn reports whether the session may still learn.
func (s learner) mayLearn() bool {
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	return !s.learned.done && !s.cfg.NoLearn && s.boot == nil
}

// learn learns what code lies where trace and code contradict each other, from all of the
// recording. changed is set if the session's code is another than r's, which met a
// contradiction.
func (s learner) learn(ctx context.Context, r *run) (changed bool, err error) {
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	if s.learned.done || s.cfg.NoLearn || s.boot != nil {
		return s.code.Load() != r.code, nil
	}
	c := s.code.Load()
	s.learned.room, s.learned.blocks = leastRoom+s.size(), s.newCaches()
	defer func() { s.learned.blocks = nil }()
	g := s.source(c).Generator()
	d := &learn.Decider{Ideas: g.Ideas, Code: g.Code}
	d.Try = func(v *learn.Visit, over []learn.Idea) learn.Outcome { return s.try(c, v, over) }
	met, err := s.suppose(ctx, c, d, r)
	if err == errRough {
		s.learned.done = true
		next := *c
		next.rough = true
		s.code.Store(&next)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	tested, left, err := s.test(ctx, c, d, r.q.Jobs)
	if err != nil {
		return false, err
	}
	s.learned.done, s.learned.tries = true, d.Tries
	// What is right ends contradictions. What is wrong trades them for others.
	if len(tested) == 0 || 2*left > met {
		return false, nil
	}
	next, err := s.withLearned(learnedOf(tested))
	if err != nil {
		return false, err
	}
	s.code.Store(next)
	return true, nil
}

// suppose has d find what holds at what r met, and at a sample of all visits. Where that
// says nothing, all visits are asked for: a site may be visited rarely. met is about how
// many visits there are.
func (s learner) suppose(ctx context.Context, c *code, d *learn.Decider, r *run) (met int, err error) {
	for _, every := range []int{sampleJobs, 1} {
		var some learn.Gathered
		for i := range r.doubt {
			some.Add(&r.doubt[i])
		}
		if every == 1 {
			s.learned.whole++
		}
		before := s.decoded.Load()
		insns, err := s.contradictions(ctx, c, r.q.Jobs, every, &some)
		if err != nil {
			return 0, err
		}
		if some.Dense(insns) {
			return 0, errRough
		}
		all := s.decoded.Load()-before > s.size()*3/4
		if met = some.Len(); !all {
			met *= every
		}
		visits := some.Visits()
		d.Decide(visits)
		if d.Place(s.source(c), visits); len(d.Held) > 0 {
			return met, nil
		}
		if all {
			break // a short recording: there is hardly more
		}
	}
	left := func(list []learn.Held) (int, error) {
		next, err := s.withLearned(learnedOf(list))
		if err != nil {
			return 0, err
		}
		var all learn.Gathered
		s.learned.whole++
		_, err = s.contradictions(ctx, next, r.q.Jobs, 1, &all)
		return all.Len(), err
	}
	err = d.Settle(c.journal, met, left)
	d.Place(s.source(c), nil)
	return met, err
}

// test decodes all of the recording with what d holds, until nothing of it is contradicted
// and no more is found. It returns what no visit contradicts, and how many visits there are
// with it. Where contradictions are left, one visit alone speaks for nothing.
func (s learner) test(ctx context.Context, c *code, d *learn.Decider, jobs int) (tested []learn.Held, left int, err error) {
	passes := s.cfg.LearnPasses
	if passes <= 0 {
		passes = defaultPasses
	}
	for n := 0; n < passes && len(d.Held) > 0; n++ {
		next, err := s.withLearned(learnedOf(d.Held))
		if err != nil {
			return nil, 0, err
		}
		var all learn.Gathered
		s.learned.whole++
		if _, err := s.contradictions(ctx, next, jobs, 1, &all); err != nil {
			return nil, 0, err
		}
		left = all.Len()
		tested = slices.Clone(d.Held)
		visits := all.Visits()
		if d.Against(visits) {
			tested = nil
			continue
		}
		d.Decide(visits)
		if d.Place(s.source(c), visits); len(d.Held) == len(tested) {
			break
		}
	}
	if left > 0 { // what is right leaves nothing, or something else is wrong too
		tested = slices.DeleteFunc(tested, func(h learn.Held) bool { return h.Once() })
	}
	return tested, left, nil
}

// learnedOf is list as what was learned.
func learnedOf(list []learn.Held) (all []kcore.Learned) {
	for i := range list {
		all = append(all, list[i].Learned())
	}
	return all
}

// contradictions decodes each so many one of all jobs with c and adds where trace and
// code contradict each other. It returns how many instructions of the kernel there were.
func (s learner) contradictions(ctx context.Context, c *code, jobs, every int, to *learn.Gathered) (insns int, err error) {
	r := s.newRun(Query{Jobs: jobs})
	plain := *c
	plain.either = nil // what it leaves in doubt contradicts nothing
	r.code, r.every, r.gather = &plain, every, to.Add
	var n kernelInsns
	err = r.flow(ctx, &n)
	return int(n), err
}

// kernelInsns is a sink that counts instructions of the kernel.
type kernelInsns int

// Flow counts those of b.
func (k *kernelInsns) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		if r := &b.Ranges[i]; r.Block.Space == 0 {
			*k += kernelInsns(r.N)
		}
	}
	return nil
}

// size returns how much trace there is, bytes.
func (s learner) size() (n int64) {
	for _, st := range s.streams {
		n += st.Size - st.Head
	}
	return n
}

// source is what c is, for those who have ideas of it.
func (s learner) source(c *code) *learn.Source {
	return &learn.Source{Text: c.text.Text, Journal: c.journal, Symbols: s.symbols, ISA: s.isa, Mode: s.mode}
}
