package decoder

import (
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/repair"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// follower is a stream's decoder and walker.
type follower struct {
	s      *Session
	code   *code
	st     *stream.Stream
	dec    stream.Decoder // where nothing depends on the moment inside the segment
	ahead  stream.Decoder // where the moment matters: with near upper bounds on every time
	walker *flow.Walker
	seg    event.Segment
	near   bool             // of seg: the moment matters
	seen   map[uint64]int32 // see process.Processes.Whose
	bytes  stream.Fetched
	tell   func(*flow.Contradiction) error // nil: nobody asks
	marks  flow.Marks                      // of a trial
	watch  *flow.Watch                     // nil: nobody asks what code is read
	asks   *trials.Asking                  // what segments told before; nil: nobody asks
	told   []*flow.Kept                    // of the segment; nil: it has to be walked
}

// littleTrace is how much trace is little to learn from, bytes (flow.Config.Little).
const littleTrace = 1 << 20

// newFollower returns a follower of st that reads c.
func newFollower(s *Session, c *code, st *stream.Stream) *follower {
	f := &follower{s: s, code: c, st: st, seen: map[uint64]int32{}}
	cfg := s.walk
	cfg.ISA, cfg.Rules = s.instructions(st), st.Rules()
	cfg.Stream, cfg.Guests = st.Index, st.Host()
	cfg.ModeBefore = func() isa.Mode { return st.ModeBefore(f.seg.Off) }
	cfg.Progress = f.progress
	cfg.Spare = &s.spare
	cfg.MaxUnconfirmed = held.UnconfirmedShare(memoryOf(&s.cfg))
	if whose := s.rec.Processes.Whose(s.traced(st), f.seen); whose != nil {
		cfg.Space = func(t event.Time, states uint64) (uint32, bool) { return whose(st.Recorded(f.seg.Off, t), states) }
	}
	cfg.Confirmed, cfg.Rough, cfg.Brief = c.confirmed, c.rough, c.confirmed != nil
	cfg.Contradicted = func(x *flow.Contradiction) error {
		if f.tell != nil {
			return f.tell(x)
		}
		return nil
	}
	if c.watched {
		f.watch = new(flow.Watch)
		cfg.Watch, cfg.Little = f.watch, learner{s}.size() < littleTrace
		if c.confirmed != nil {
			cfg.Marks = &f.marks
		}
	}
	f.walker = flow.NewWalker(c.reads(), c.caches[s.reading(st)], cfg)
	return f
}

// followers are those that wait for their streams' next jobs. What one has built
// it keeps.
type followers struct {
	mu   sync.Mutex
	list []*follower // the one that waits longest first
	most int
}

// take returns a follower of st.
func (fs *followers) take(s *Session, c *code, st *stream.Stream) *follower {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := len(fs.list) - 1; i >= 0; i-- {
		if f := fs.list[i]; f.st == st {
			fs.list = slices.Delete(fs.list, i, i+1)
			f.code = c
			return f
		}
	}
	return newFollower(s, c, st)
}

// put lets f wait.
func (fs *followers) put(f *follower) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.list = append(fs.list, f); len(fs.list) > fs.most {
		fs.list = slices.Delete(fs.list, 0, 1)
	}
}

// progress says how far into the segment off lies, 0 to 1.
func (f *follower) progress(off int64) float64 {
	n := f.seg.End - f.seg.Off
	if n <= 0 {
		return 0
	}
	return min(1, max(0, float64(off-f.seg.Off)/float64(n)))
}

// fetch reads the bytes of the segment, of job j; those of a file a job at a time.
// What it returns is to be called when they are no longer needed.
func (f *follower) fetch(j *job) (done func()) {
	return f.bytes.Fetch(f.st, &f.seg, j.segs[0].Off, j.bytes())
}

// begin returns what decodes the segment, from its begin on.
func (f *follower) begin() (d stream.Decoder) {
	at := &f.dec
	if f.near {
		at = &f.ahead
	}
	if *at == nil {
		*at = f.st.Decoder(f.near)
	}
	d = *at
	d.Reset(f.seg)
	return d
}

// place has f be at segment i of j.
func (f *follower) place(j *job, i int) {
	f.seg = j.segs[i]
	poked := f.code.pokedDuring(f.seg.Time)
	if poked {
		f.seg.Time = f.st.TimeOf(f.seg)
		poked = f.code.pokedDuring(f.seg.Time)
	}
	if len(f.seen) > 0 {
		clear(f.seen)
	}
	f.near = j.bounds || poked || f.s.rec.Processes.Shared(f.s.traced(f.st), f.st.Recorded(f.seg.Off, f.seg.Time))
}

// walk walks the segment.
func (f *follower) walk(out flow.Sink) error {
	f.s.decoded.Add(f.seg.End - f.seg.Off)
	return f.walker.Run(f.begin(), out)
}

// watched walks segment i of j, gives what its walker gives to out, and notes what code it reads besides that.
func (f *follower) watched(j *job, i int, out flow.Sink) error {
	f.place(j, i)
	defer f.fetch(j)()
	f.watch.Clear()
	return f.walk(out)
}

// segment decodes segment i of j and gives its flow to out, with the gaps before
// it, and behind the last.
func (f *follower) segment(j *job, i int, out flow.Sink) error {
	f.place(j, i)
	err := flow.TellGaps(f.st.Index, f.st.GapsBefore(&f.seg), out)
	if err != nil {
		return err
	}
	done := f.fetch(j)
	to := f.s.rec.Doubts.Sink(out)
	if spaces := f.s.rec.Processes.Spaces; spaces.Makes() {
		to = repair.Mark(to, func(r *flow.Range, at event.Time) bool { return spaces.Unmade(r.Block.Space, r.Block.Addr, at) })
	}
	if f.s.boot != nil {
		to = f.s.boot.Doubts(to, f.again)
	}
	if f.code.either != nil {
		to = f.code.either.Doubts(to, f.again, f.kept)
	}
	if f.told != nil {
		err = f.asks.Retell(f.told, to)
	} else {
		err = f.walk(to)
	}
	done()
	if err != nil || !f.seg.Last {
		return err
	}
	return flow.TellGaps(f.st.Index, f.st.GapsBehind(&f.seg), out)
}
