package decoder

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/condense"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/pieces"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
)

// Query says which part of a recording's flow is wanted, and how. Its zero value asks
// for all of it.
type Query struct {
	Streams []int // indices of streams (Stream.Index); nil: all
	// From and Until are times, ns; 0: from the start, to the end. Session.Flow leaves out
	// segments that lie outside of them as a whole, Session.Ranges each such range.
	From, Until uint64
	// Beyond asks for one segment more behind Until: it tells where the last branch before goes.
	Beyond bool
	// FromOff and UntilOff leave out segments that lie outside of them as a whole: offsets
	// in each stream, bytes; 0: from the start, to the end.
	FromOff, UntilOff int64

	Jobs    int  // workers; 0: one for each CPU of this machine
	Reverse bool // newest first: batches come last to first, and a Sink reads each backwards
	// Merged gives the flow of all streams in the order of time, as Session.Ranges always
	// does. A sink must not keep a batch then.
	Merged bool
	// SegmentBytes is how much trace a worker takes at once, bytes. 0 stands for 8 KiB:
	// then what it decodes to stays in a core's cache. It changes how the work is cut,
	// never what comes out.
	SegmentBytes int64
	// Bounds gives every moment the nearest upper bound that the trace states. Without it,
	// the upper bound may be the time at the next sync point. That costs less, and is done
	// where neither the code nor the program that runs depends on the bound.
	Bounds bool
	// NoLearn takes the code as it is where the trace contradicts it, as Config.NoLearn
	// does, for this query alone.
	NoLearn bool
	// Sift, where set, is given the flow's sink and returns one that stands in front of it.
	// That one hands on what is wanted of each batch.
	Sift func(Sink) Sink
	// Shard and Shards ask for one of Shards parts of the flow, about equal in bytes of
	// trace and counted from 1. 0 and 0 ask for all. All parts one behind the other are
	// what a call without shards gives, in the same order. A shard learns nothing of the
	// code: Config.Learned gives it what an earlier run learned. It cannot be combined
	// with Reverse.
	Shard, Shards int
	// Lead is how much of the flow before its part a shard is given too, in bytes of all
	// streams' trace. It needs Merged. The shard is also given flow behind its part, for
	// as long as the sink has a method Waits() bool that returns true. Batch.Part tells
	// both from the part itself.
	Lead int64
	// Progress is called now and then with the bytes of trace decoded and the
	// total, from one goroutine.
	Progress func(done, total int64)
}

// lane is one stream of a run: its jobs in the order in which they are delivered.
type lane struct {
	st   *stream.Stream
	plan *planner
	next *job   // not started; nil: no more
	jobs []*job // started and not over

	done    int          // jobs that were delivered
	taken   int          // jobs of which all parts were taken
	reached flow.Reached // what was delivered of the next one

	share *shardShare // nil: there are no shards

	head  []*pieces.Batch // see merger: batches of which pieces are left
	key   uint64          // of the newest piece that came: those to come do not lie before it
	given uint64          // key of the newest piece that was handed on

	timeless bool // in reverse: the stream states no time
}

// run is one call of Session.Flow. Jobs are started in the order of time, some
// ahead of what is delivered. A job hands its flow over in parts, and waits
// where too many have not been taken; then another job runs in its place.
// So what a run holds does not depend on how much a job decodes to.
type run struct {
	s        *Session
	code     *code // as of its start
	q        Query
	ctx      context.Context
	wg       sync.WaitGroup
	running  *scratches // one for each job that may run more
	todo     chan *job  // to goroutines that have nothing to do
	lanes    []*lane    // by stream
	order    []*job     // started, in the order in which they are delivered; nil if merged
	ahead    int        // jobs started and not over
	most     int        // as many are started ahead
	shares   held.Shares
	kept     held.Budget // shares.Back
	idle     *followers
	condense condense.Pool
	decode   decodes
	progress struct{ done, total int64 }

	learns bool                       // the flow ends, by errContradicted, at the first contradiction
	doubt  []learn.Visit              // that ended it
	told   *trials.Answers            // what was learned from; nil: nothing was
	paths  bool                       // the sink asks for Batch.Walked
	every  int                        // of each lane's jobs, each so many one is decoded; 0: all
	gather func(v *learn.Visit) error // is given all contradictions; nil: nobody asks
	asks   *trials.Asking             // what segments told before, and what those of this run tell
}

// Flow decodes what q asks for and gives it to sink: each stream in order, and
// across streams by the time at which their segments start. With Query.Merged all
// of it is in the order of time. A sink that returns ErrStop ends the flow without an
// error. A query that does not fit the recording is a *CallError. A session's flow may be
// asked for many times; blocks read once are kept.
//
// A merged flow can be made smaller before streams are merged. For that, the sink is a
// Restarter, and has the method Condenser() func(out, b *Batch), as calls.Tree has. Workers
// call what Condenser returned, and the sink is given only what it leaves.
//
// At the first contradiction between trace and code, Flow learns what else may lie there,
// and goes on with that code. Config.NoLearn and Query.NoLearn have it take the code as it
// is.
func (s *Session) Flow(ctx context.Context, q Query, sink flow.Sink) error {
	if q.Sift != nil {
		sink = q.Sift(sink)
	}
	return s.newRun(q).learning(ctx, sink)
}

// fits returns a CallError if q names a stream that is not among so many.
func (q *Query) fits(streams int) error {
	if q.Shards != 0 && (q.Shard < 1 || q.Shard > q.Shards || q.Reverse) || q.Shards < 0 {
		return &CallError{What: fmt.Sprintf("shard %d of %d, reverse %v: need one of 1 to %[2]d, and no reverse", q.Shard, q.Shards, q.Reverse)}
	}
	for _, i := range q.Streams {
		if i < 0 || i >= streams {
			return &CallError{What: fmt.Sprintf("stream %d: the recording has %d, counted from 0", i, streams)}
		}
	}
	return nil
}

// flow is Session.Flow.
func (r *run) flow(ctx context.Context, sink flow.Sink) error {
	if err := r.q.fits(len(r.s.streams)); err != nil {
		return err
	}
	var stop context.CancelFunc
	r.ctx, stop = context.WithCancel(ctx)
	defer r.wg.Wait()
	defer close(r.todo)
	defer stop()
	if r.q.Merged && !r.q.Reverse && !r.q.Bounds && r.q.Shards == 0 {
		r.condense.Begin(sink)
	}
	r.paths = !r.q.Merged && !r.q.Reverse && flow.AsksPaths(sink)
	var err error
	if r.q.Merged {
		m := merger{run: r, to: sink}
		err = m.merge()
	} else {
		err = r.inOrder(sink)
	}
	if err == ErrStop {
		return nil
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// newRun returns the run of q, of which nothing has been started.
func (s *Session) newRun(q Query) *run {
	workers := q.Jobs
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	r := &run{s: s, code: s.code.Load(), q: q, running: newScratches(workers), todo: make(chan *job), most: 2 * workers}
	r.decode = r.follow
	var asked []*stream.Stream
	for _, st := range s.streams {
		if q.Streams == nil || slices.Contains(q.Streams, st.Index) {
			asked = append(asked, st)
		}
	}
	for i, sh := range newShares(&q, asked) {
		r.addLane(asked[i], q.segments(asked[i], sh), sh)
		r.lanes[i].timeless = q.Reverse && q.Merged && !stream.StatesTime(asked[i])
	}
	r.share()
	return r
}

// addLane adds a lane of st, whose segments cur gives, and of these the share sh.
func (r *run) addLane(st *stream.Stream, cur stream.Segments, sh *shardShare) {
	ln := &lane{st: st, plan: newPlanner(st, cur, &r.q, sh), share: sh, reached: flow.Reached{Back: r.q.Reverse}}
	ln.next = ln.plan.next()
	for sh != nil && !r.q.Merged && ln.next != nil && ln.next.begin() < sh.begin.off {
		ln.next = ln.plan.next()
	}
	r.lanes = append(r.lanes, ln)
	r.progress.total += (st.Size - st.Head) / int64(max(1, r.q.Shards))
}

// share says what each of the run's parts may take in memory.
func (r *run) share() {
	waits := 1 // parts of a lane
	if r.q.Reverse {
		waits += held.Waiting
	}
	r.shares = held.Shared(memoryOf(&r.s.cfg), waits*len(r.lanes), r.most+len(r.lanes))
	r.kept.Left = r.shares.Back
	r.idle = &followers{most: r.shares.Idle}
}

// inOrder gives the flow of one job after the other to sink.
func (r *run) inOrder(sink flow.Sink) error {
	for {
		r.fill()
		if len(r.order) == 0 {
			return nil
		}
		j := r.order[0]
		ln := r.laneOf(j)
		for p := range j.parts {
			if err := r.look(&p); err != nil {
				return err
			}
			for _, b := range p.batches {
				size := flow.BatchSize(b) // the sink may leave another in its place
				ln.reached.Add(b)
				if err := sink.Flow(b); err != nil {
					return err
				}
				r.recycle(b, size)
			}
		}
		r.order = r.order[1:]
		if err := r.over(ln, j); err != nil {
			return err
		}
	}
}

// laneOf returns the lane of j's stream.
func (r *run) laneOf(j *job) *lane {
	i := slices.IndexFunc(r.lanes, func(ln *lane) bool { return ln.st == j.stream })
	return r.lanes[i]
}

// fill starts jobs ahead.
func (r *run) fill() {
	for r.ahead < r.most {
		ln := r.first()
		if ln == nil {
			return
		}
		r.start(ln)
	}
}

// first returns the lane whose next job comes first; nil if none is left.
func (r *run) first() (best *lane) {
	for _, ln := range r.lanes {
		if ln.next == nil || ln.share.behind(ln.next) {
			continue
		}
		switch {
		case best == nil,
			!r.q.Reverse && ln.next.at < best.next.at,
			r.q.Reverse && ln.next.at >= best.next.at:
			best = ln
		}
	}
	return best
}

// start starts the next job of ln.
func (r *run) start(ln *lane) {
	j := ln.next
	j.parts = make(chan portion, held.Waiting)
	ln.jobs = append(ln.jobs, j)
	ln.next = ln.plan.next()
	for k := 1; k < r.every && ln.next != nil; k++ {
		ln.next = ln.plan.next()
	}
	if !r.q.Merged {
		r.order = append(r.order, j)
	}
	r.ahead++
	select {
	case r.todo <- j:
	default:
		r.wg.Go(func() {
			for ok := true; ok; j, ok = <-r.todo {
				r.work(j)
			}
		})
	}
}

// over is done when all parts of j, the first of ln's jobs, were taken.
func (r *run) over(ln *lane, j *job) error {
	ln.jobs = ln.jobs[1:]
	if ln.taken++; len(ln.head) == 0 {
		ln.goesTo(ln.taken)
	}
	r.ahead--
	r.progress.done += j.bytes()
	if r.q.Progress != nil && j.err == nil {
		r.q.Progress(r.progress.done, r.progress.total)
	}
	return j.err
}

// goesTo has what is delivered next be of job number n or behind it.
func (ln *lane) goesTo(n int) {
	if n > ln.done {
		ln.done, ln.reached = n, flow.Reached{Back: ln.reached.Back}
	}
}

// work decodes j. It runs when fewer than Query.Jobs others do.
func (r *run) work(j *job) {
	defer close(j.parts)
	o := &outlet{run: r, job: j, reached: j.reached}
	o.ahead.To, o.ahead.Held = o.gather, r.s.held.Count
	o.condenser = r.condense.Lease()
	if j.err = o.resume(); j.err != nil {
		return
	}
	segment, done := r.decode(o)
	if r.q.Reverse {
		j.err = o.backwards(segment)
	} else {
		for i := 0; i < len(j.segs) && j.err == nil; i++ {
			if j.err = segment(i, o); j.err == nil {
				j.err = o.ends(&j.segs[i], i == len(j.segs)-1)
			}
		}
	}
	if j.err == nil {
		j.err = o.send()
	}
	done()
	r.condense.Return(o.condenser)
	o.pause()
}

// decodes makes what decodes segment i of an outlet's job and gives its flow to
// out; done is called when the job is over.
type decodes func(o *outlet) (segment func(i int, out flow.Sink) error, done func())

// follow decodes o's job by a follower of its stream (decodes).
func (r *run) follow(o *outlet) (segment func(i int, out flow.Sink) error, done func()) {
	s, c := machineOf(r.s, o.job.stream, r.code)
	f := r.idle.take(s, c, o.job.stream)
	o.walker, o.reading = f.walker, r.s.reading(f.st)
	if (r.learns || r.gather != nil) && s == r.s {
		f.tell = o.fellApart
	}
	o.equip()
	segment = func(i int, out flow.Sink) error { return f.segment(o.job, i, out) }
	if r.asks != nil && s == r.s {
		segment = r.asksOf(o, f)
	}
	return segment, func() {
		f.tell = nil
		r.idle.put(f)
	}
}

// recycle takes a batch that was delivered, for its memory. It took size bytes.
func (r *run) recycle(b *flow.Batch, size int64) {
	r.s.held.Count(-size)
	b.Reset()
	if !r.condense.Recycle(b) {
		r.s.spare.Put(b)
	}
}
