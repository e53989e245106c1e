package decoder

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// learner is what a session learns by.
type learner struct{ *Session }

// learned is what a session has learned of its code. It learns once.
type learned struct {
	mu         sync.Mutex
	done       bool
	tries      int               // of ideas
	switches   uint64            // where the kernel goes on with another task (learn.Source.Switch)
	approaches trials.Approaches // of visits at which ideas are tried
	tryouts    map[int]*tryout   // by stream
	scratch    learn.Outcome     // of try
	room       int64             // bytes of trace that may still be decoded to try ideas

	caches   map[reading]*flow.Cache // of the code as it was; ideas, and what is learned, are laid over it
	blocks   *trials.Blocks          // in caches
	passed   passed
	whole    int             // decodings of all of the recording
	earlier  []*passed       // of these, all with what was learned
	answers  *trials.Answers // of decodings to learn from
	watchers watchers        // who makes these
}

// passed is the last decoding of all of the recording that came to its end (learner.pass).
type passed struct {
	code    *code // nil: there was none
	met     *learn.Gathered
	running *scratches   // of its run
	asked   *trials.Code // by which it asked what was told before
}

// errEnough ends a decoding that has met more contradictions than need be known.
var errEnough = errors.New("decoder: enough contradictions")

// defaultPasses is Config.LearnPasses where it is not said.
const defaultPasses = 3

// errRough says that contradictions lie so near to each other that the code is another one
// throughout. Nothing can be learned then, and little is certain.
var errRough = errors.New("decoder: the code is another one throughout")

// leastRoom is how much trace may be decoded to try ideas, bytes, where there is less.
const leastRoom = 1 << 16

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
	r.running, r.told = nil, nil
	if s.learned.done || s.cfg.NoLearn || s.boot != nil {
		return s.code.Load() != r.code, nil
	}
	c := s.code.Load()
	s.learned.room = max(leastRoom, s.size())
	s.blocks()
	r.told = s.learned.answers
	r.told.Clear(&trials.Code{Learned: c.learned}, r.clear())
	defer func() {
		s.learned.caches, s.learned.blocks, s.learned.passed, s.learned.answers = nil, nil, passed{}, nil
		s.learned.approaches.Leave()
		s.learned.watchers = watchers{}
		s.learned.tryouts, s.learned.scratch, s.learned.earlier = nil, learn.Outcome{}, nil
	}()
	g := s.source(c).Generator()
	s.learned.switches = s.source(c).Switch()
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
	if !met.Halved(left) {
		tested = nil // what is right ends contradictions: what is wrong trades them for others
	}
	if tested = d.Possible(tested); len(tested) == 0 {
		return false, nil
	}
	next, err := s.withLearned(learn.LearnedOf(tested))
	if err != nil {
		return false, err
	}
	p, still := &s.learned.passed, s.learned.blocks.Has(next.text.Text)
	shared := s.read(next, c)
	if p.is(next) && (still || !shared) {
		r.running = p.running // what was built there serves the flow, too
	}
	if shared {
		s.learned.blocks.Keep()
	}
	s.code.Store(next)
	return true, nil
}

// suppose has d find what holds at what r met, and at a sample of all visits. Where that
// says nothing, all visits are asked for: a site may be visited rarely. met is about how
// many visits there are.
func (s learner) suppose(ctx context.Context, c *code, d *learn.Decider, r *run) (met learn.Tally, err error) {
	for _, every := range []int{sampleJobs, 1} {
		var some learn.Gathered
		for i := range r.doubt {
			some.Add(&r.doubt[i])
		}
		own := *c
		own.caches, own.shared = s.learned.caches, true
		s.learned.blocks.Lift()
		run, err := s.contradictions(ctx, &own, r.q.Jobs, every, math.MaxInt, &some)
		if err != nil {
			return met, err
		}
		if some.Dense(int(run.asks.Insns.Load())) {
			if s.learned.answers.Clear(nil, nil) { // how much was executed there counts, too
				return s.suppose(ctx, c, d, r)
			}
			return met, errRough
		}
		all := every == 1 || run.progress.done > s.size()*3/4 // else met is about how many there are
		left := func(list []learn.Held, most int) (int, error) {
			left, err := s.pass(ctx, list, r.q.Jobs, most)
			return left.Len(), err
		}
		if met = some.Tally(); !all {
			met = met.Times(every)
		}
		visits := some.Visits()
		d.Decide(visits)
		if d.Place(s.source(c), visits); len(d.Held) > 0 {
			return met, nil
		}
		// In a short recording there is hardly more.
		if err = d.Settle(c.journal, met.All, !all, left); err != nil || len(d.Held) > 0 || all {
			d.Place(s.source(c), nil)
			return met, err
		}
	}
	return met, nil
}

// test decodes all of the recording with what d holds, until nothing of it is contradicted
// and no more is found. It returns what no visit contradicts, and how many visits there are
// with it. Where contradictions are left, one visit alone speaks for nothing.
func (s learner) test(ctx context.Context, c *code, d *learn.Decider, jobs int) (tested []learn.Held, left learn.Tally, err error) {
	passes := s.cfg.LearnPasses
	if passes <= 0 {
		passes = defaultPasses
	}
	for n := 0; n < passes && len(d.Held) > 0; n++ {
		all, err := s.pass(ctx, d.Held, jobs, math.MaxInt)
		if err != nil {
			return nil, left, err
		}
		left = all.Tally()
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
	if left.All > 0 { // what is right leaves nothing, or something else is wrong too
		tested = slices.DeleteFunc(tested, func(h learn.Held) bool { return h.Once() })
	}
	return tested, left, nil
}

// pass decodes all of the recording with list, until it met more visits than most. It returns
// those that it met. The decoding before is not repeated.
func (s learner) pass(ctx context.Context, list []learn.Held, jobs, most int) (*learn.Gathered, error) {
	all := learn.GatheredWith(list)
	next, err := s.withLearned(learn.LearnedOf(list))
	if p := &s.learned.passed; err != nil || p.is(next) {
		return cmp.Or(p.met, all), err
	}
	s.read(next, s.code.Load())
	r, err := s.contradictions(ctx, next, jobs, 1, most, all)
	if err == errEnough {
		return all, nil
	}
	p := &passed{next, all, r.running, r.asks.Code}
	s.learned.passed, s.learned.earlier = *p, append(s.learned.earlier, p)
	return all, err
}

// blocks returns the blocks that are read to learn. Where there are none yet, nothing is kept of what segments told.
func (s learner) blocks() *trials.Blocks {
	if s.learned.blocks == nil {
		s.learned.tryouts = map[int]*tryout{}
		s.learned.caches, s.learned.answers = s.newCaches(), &trials.Answers{Most: held.ToldShare(memoryOf(&s.cfg)), Spare: &s.spare}
		s.learned.blocks = trials.NewBlocks(slices.Collect(maps.Values(s.learned.caches)))
	}
	return s.learned.blocks
}

// read gives c, which is base with what was learned, blocks to read. It reports whether they are those that
// were read to learn.
func (s learner) read(c, base *code) (shared bool) {
	b := s.blocks()
	if c.shared = b.Learn(base.text.Text, c.text.Text, c.learned); c.shared {
		c.caches = s.learned.caches
	} else if c.caches == nil {
		c.caches = s.newCaches()
	}
	return c.shared
}

// is reports whether p was of c, or of code that is the same.
func (p *passed) is(c *code) bool { return p.code != nil && p.code.text.Text == c.text.Text }

// contradictions decodes each so many one of all jobs with c, and adds where trace and code
// contradict each other. It returns the run. The error is errEnough where there are more than most.
func (s learner) contradictions(ctx context.Context, c *code, jobs, every, most int, to *learn.Gathered) (r *run, err error) {
	r = s.newRun(Query{Jobs: jobs})
	plain := *c
	plain.either = nil // what it leaves in doubt contradicts nothing
	if plain.watched = true; every == 1 {
		s.learned.whole++
	}
	r.code, r.every = &plain, every
	r.asks = trials.Ask(s.learned.answers, c.learned)
	for _, w := range s.learned.earlier {
		r.asks.Twins = append(r.asks.Twins, trials.Twin{Bears: boot.NewTwin(w.code.learned, c.learned, w.code.reader, c.reader).Bears, Of: w.asked})
	}
	r.gather = func(v *learn.Visit) error {
		if to.Add(v); to.Len() > most {
			return errEnough
		}
		return nil
	}
	if c.shared {
		s.learned.watchers.watch(r, &plain, s.learned.blocks)
	}
	if err = r.flow(ctx, new(trials.Insns)); err != nil {
		s.learned.watchers = watchers{} // it was stopped, in the midst of something
	}
	return r, err
}

// size returns how much trace there is, bytes.
func (s learner) size() int64 { return stream.Bytes(s.streams) }

// source is what c is, for those who have ideas of it.
func (s learner) source(c *code) *learn.Source {
	return &learn.Source{Text: c.text.Text, Journal: c.journal, Symbols: s.symbols, ISA: s.isa, Mode: s.mode, Given: s.from.given}
}
