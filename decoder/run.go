package decoder

import (
	"context"
	"runtime"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/stream"
)

// Query says which part of a recording's flow is wanted, and how.
type Query struct {
	Streams []int  // indices of streams; nil: all
	From    uint64 // ns; 0: from the start
	Until   uint64 // ns; 0: to the end
	Jobs    int    // workers; 0: one a CPU of this machine
	Reverse bool   // newest first: batches come last to first, each to be read backwards
	// SegmentBytes is how much trace a worker takes at once, bytes; 0: 8 KiB, so that what
	// it becomes stays in a core's cache.
	// It changes how the work is cut, never what comes out.
	SegmentBytes int64
	// Bounds gives every moment the nearest upper bound that the trace tells.
	// Else it may be that of the segment, the time at the next sync point,
	// where neither text nor the program that runs depends on it.
	Bounds bool
	// Progress is called now and then with the bytes of trace decoded and the
	// total, from one goroutine.
	Progress func(done, total int64)
}

// job is a stretch of one stream for one worker.
type job struct {
	stream *stream.Stream
	segs   []event.Segment
	bounds bool   // Query.Bounds
	at     uint64 // ns: its place among the jobs of other streams
	done   chan struct{}
	out    []*flow.Batch
	err    error
}

// bytes returns how much trace j holds.
func (j *job) bytes() int64 {
	return j.segs[len(j.segs)-1].End - j.segs[0].Off
}

// Flow decodes what q asks for and gives it to sink: each stream in order, and
// across streams by the time at which their segments start. A sink that returns
// ErrStop ends the flow without an error. A session's flow may be
// asked for many times; blocks read once are kept.
func (s *Session) Flow(ctx context.Context, q Query, sink flow.Sink) error {
	jobs := s.plan(q)
	var total, done int64
	for _, j := range jobs {
		total += j.bytes()
	}
	workers := q.Jobs
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	order := s.start(ctx, &wg, jobs, workers, q.Reverse)
	for j := range order {
		<-j.done
		if err := ctx.Err(); err != nil {
			return err
		}
		if j.err != nil {
			return j.err
		}
		for _, b := range j.out {
			if err := sink.Flow(b); err == ErrStop {
				return nil
			} else if err != nil {
				return err
			}
			b.Reset()
			s.spare.Put(b)
		}
		done += j.bytes()
		j.out = nil
		if q.Progress != nil {
			q.Progress(done, total)
		}
	}
	return ctx.Err()
}

// start hands jobs to workers and returns them in order; a job is done when
// its channel is closed. What is under way or waits to be delivered is bounded
// by the number of workers.
func (s *Session) start(ctx context.Context, wg *sync.WaitGroup, jobs []*job, workers int, reverse bool) <-chan *job {
	todo := make(chan *job)             // to the workers, in order
	order := make(chan *job, 2*workers) // the same, to the collector: bounds what is held
	wg.Go(func() {
		defer close(todo)
		defer close(order)
		for _, j := range jobs {
			j.done = make(chan struct{})
			select {
			case order <- j:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- j:
			case <-ctx.Done():
				close(j.done)
				return
			}
		}
	})
	for range workers {
		wg.Go(func() {
			wk := newWorker(s)
			for j := range todo {
				j.err = wk.run(ctx, j, reverse)
				close(j.done)
			}
		})
	}
	return order
}
