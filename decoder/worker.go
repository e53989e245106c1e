package decoder

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/stream"
)

// worker decodes jobs in one goroutine. What it builds for a stream it keeps
// for the stream's next job.
type worker struct {
	s      *Session
	stream map[int]*follower
}

// follower is a stream's decoder and walker.
type follower struct {
	dec    stream.Decoder // where nothing depends on the moment inside the segment
	ahead  stream.Decoder // where the moment matters: with near upper bounds on every time
	walk   *flow.Walker
	seg    event.Segment
	seen   map[uint64]int32 // see process.Processes.Whose
	margin int64            // bytes behind the segment that are read with it
	buf    []byte           // of the segment, where it is read from a file
}

func newWorker(s *Session) *worker {
	return &worker{s: s, stream: make(map[int]*follower)}
}

// follower returns the worker's decoder and walker for st.
func (wk *worker) follower(st *stream.Stream) *follower {
	f := wk.stream[st.Index]
	if f == nil {
		f = &follower{seen: map[uint64]int32{}, dec: st.Decoder(false), ahead: st.Decoder(true), margin: st.Margin()}
		cfg := wk.s.walk
		cfg.ISA, cfg.Rules = wk.s.instructions(st), st.Rules()
		cfg.Stream, cfg.Guests = st.Index, st.Host
		cfg.ModeBefore = func() isa.Mode { return st.ModeBefore(f.seg.Index) }
		cfg.Progress = f.progress
		cfg.Space = wk.s.rec.Processes.Whose(wk.s.traced(st), f.seen)
		f.walk = flow.NewWalker(wk.s.text, wk.s.caches[wk.s.reading(st)], cfg)
		wk.stream[st.Index] = f
	}
	return f
}

// progress says how far into the segment off lies, 0 to 1.
func (f *follower) progress(off int64) float64 {
	n := f.seg.End - f.seg.Off
	if n <= 0 {
		return 0
	}
	return min(1, max(0, float64(off-f.seg.Off)/float64(n)))
}

// fetch reads the bytes of segment i of j; those of a file a job at a time.
func (f *follower) fetch(j *job, i int) {
	n := f.seg.End - f.seg.Off + f.margin
	if j.stream.CutShort(f.seg.Off) {
		n -= f.margin
	}
	r, ok := j.stream.Data.(*stream.File)
	if !ok {
		if p, ok := j.stream.Data.(lender); ok {
			f.seg.Buf = p.Into(&f.buf, f.seg.Off, n)
		} else {
			f.seg.Buf = j.stream.Data.Bytes(f.seg.Off, n)
		}
		return
	}
	from := j.segs[0].Off
	if i == 0 {
		f.buf = r.Into(f.buf, from, j.bytes()+f.margin)
	}
	have := int64(len(f.buf))
	at := min(f.seg.Off-from, have)
	f.seg.Buf = f.buf[at:min(at+n, have)]
}

// lender gives the bytes of a stream as a whole where they lie so, else read
// into buf.
type lender interface {
	Into(buf *[]byte, off, n int64) []byte
}

// tellGaps gives out the gaps that lie before segment i of st.
func tellGaps(st *stream.Stream, i int, out flow.Sink) error {
	list := st.GapsBefore(i)
	if len(list) == 0 {
		return nil
	}
	b := flow.Batch{Stream: st.Index}
	for _, g := range list {
		b.Notes = append(b.Notes, flow.Note{Kind: flow.NoteGap, Poke: -1, IP: g.IP, Gap: g})
	}
	return out.Flow(&b)
}

// run decodes j's segments into j.out.
func (wk *worker) run(ctx context.Context, j *job, reverse bool) error {
	c := &collector{ctx: ctx, spare: &wk.s.spare, complete: wk.s.complete}
	if err := wk.walk(j, c); err != nil {
		return err
	}
	j.out = c.out
	if reverse {
		slices.Reverse(j.out)
	}
	return nil
}

// walk decodes j's segments and gives their flow to out.
func (wk *worker) walk(j *job, out flow.Sink) error {
	f := wk.follower(j.stream)
	for i := range j.segs {
		f.seg = j.segs[i]
		if err := tellGaps(j.stream, f.seg.Index, out); err != nil {
			return err
		}
		f.fetch(j, i)
		if wk.s.pokedDuring(f.seg.Time) {
			f.seg.Time = j.stream.TimeOf(f.seg.Index)
		}
		clear(f.seen)
		d := f.dec
		if j.bounds || wk.s.pokedDuring(f.seg.Time) || wk.s.rec.Processes.Shared(wk.s.traced(j.stream), f.seg.Time) {
			d = f.ahead
		}
		d.Reset(f.seg)
		if err := f.walk.Run(d, out); err != nil {
			return err
		}
		if f.seg.Last {
			if err := tellGaps(j.stream, f.seg.Index+1, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// collector keeps the batches it is lent.
type collector struct {
	ctx   context.Context
	spare *sync.Pool // of *flow.Batch: empty, with memory to write to
	out   []*flow.Batch

	complete uint64 // ns: up to here no record is missing
}

// Flow keeps b's contents and leaves it an empty batch. What was executed when
// records are missing is not settled: a change may be among them, of any text.
func (c *collector) Flow(b *flow.Batch) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.complete != math.MaxUint64 {
		for i := range b.Ranges {
			if r := &b.Ranges[i]; b.Stamps[r.Stamp].Time.Hi > c.complete {
				r.Verdict = flow.Ambiguous
			}
		}
	}
	x, ok := c.spare.Get().(*flow.Batch)
	if !ok {
		x = &flow.Batch{}
	}
	*x, *b = *b, *x
	c.out = append(c.out, x)
	return nil
}
