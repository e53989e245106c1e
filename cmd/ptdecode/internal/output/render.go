package output

import (
	"io"
	"sync"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// chunkRows is how many rows one goroutine encodes at once.
const chunkRows = 512

// renderer encodes rows in several goroutines and writes the lines in the order
// of the rows. It is for formats in which a row's lines depend on that row alone.
// Memory: two chunks for each goroutine, of chunkRows rows and their lines.
type renderer struct {
	out  io.Writer
	now  *chunk      // takes rows
	free chan *chunk // have neither rows nor lines
	todo chan *chunk // to be encoded
	next chan *chunk // the same ones, in order, to be written

	work sync.WaitGroup
	mu   sync.Mutex
	err  error // of writing
}

// chunk is rows and stretches of flow and, once done, their lines.
type chunk struct {
	rows  []rows.Row
	parts []stretch
	flow  decoder.Batch // of the stretches
	calls []call        // the same
	times []moment      // of calls
	lines []byte
	done  chan struct{} // receives one value when lines are there
}

// stretch is a stretch of flow in place of rows: the first n of ranges from..until, or
// calls from..until.
type stretch struct {
	st             *rows.Stream // nil: calls
	rows           int          // that come before it
	from, until, n int          // of the chunk's flow
	onward         *decoder.Block
}

// coder encodes rows, and stretches of flow where plain is set.
type coder struct {
	encoder
	plain *plainLines
}

// chunkRanges is how many ranges of flow one goroutine encodes at once.
const chunkRanges = 4096

func newRenderer(out io.Writer, encoders []coder) *renderer {
	r := &renderer{out: out}
	n := 2*len(encoders) + 1
	r.free, r.todo, r.next = make(chan *chunk, n), make(chan *chunk, n), make(chan *chunk, n)
	for range n {
		r.free <- &chunk{rows: make([]rows.Row, 0, chunkRows), done: make(chan struct{}, 1)}
	}
	r.now = <-r.free
	for _, e := range encoders {
		r.work.Go(func() { r.encode(e) })
	}
	r.work.Go(r.writeLines)
	return r
}

// encode makes lines of chunks.
func (r *renderer) encode(e coder) {
	for c := range r.todo {
		i := 0
		for _, p := range c.parts {
			for ; i < p.rows; i++ {
				c.lines = e.row(c.lines, &c.rows[i])
			}
			if p.st == nil {
				c.lines = e.plain.callLines(c.lines, c.calls[p.from:p.until], c.times)
				continue
			}
			c.lines = e.plain.lines(c.lines, p.st, &decoder.Batch{Ranges: c.flow.Ranges[p.from:p.until], Stamps: c.flow.Stamps, Onward: p.onward}, p.n)
		}
		for ; i < len(c.rows); i++ {
			c.lines = e.row(c.lines, &c.rows[i])
		}
		clear(c.rows) // they hold notes
		c.parts = c.parts[:0]
		c.flow.Reset()
		c.calls, c.times = c.calls[:0], c.times[:0]
		c.done <- struct{}{}
	}
}

// writeLines writes the lines of chunks, in order. After an error it drops them.
func (r *renderer) writeLines() {
	for c := range r.next {
		<-c.done
		if r.failed() == nil {
			if _, err := r.out.Write(c.lines); err != nil {
				r.mu.Lock()
				r.err = err
				r.mu.Unlock()
			}
		}
		c.rows, c.lines = c.rows[:0], c.lines[:0]
		r.free <- c
	}
}

// failed returns the error of writing.
func (r *renderer) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// row takes a row, which is lent.
func (r *renderer) row(x *rows.Row) error {
	r.now.rows = append(r.now.rows, x.Clone())
	if len(r.now.rows) < chunkRows {
		return nil
	}
	return r.hand()
}

// flowOf takes a stretch of flow, which is lent: the rows of its first n ranges.
func (r *renderer) flowOf(st *rows.Stream, b *decoder.Batch, n int) error {
	c := r.now
	f := &c.flow
	at, stamp := len(f.Ranges), ^uint32(0)
	f.Ranges = append(f.Ranges, b.Ranges...)
	for i := at; i < len(f.Ranges); i++ {
		x := &f.Ranges[i]
		if x.Stamp != stamp {
			stamp = x.Stamp
			f.Stamps = append(f.Stamps, b.Stamps[stamp])
		}
		x.Stamp = uint32(len(f.Stamps) - 1)
	}
	c.parts = append(c.parts, stretch{st, len(c.rows), at, len(f.Ranges), n, b.Onward})
	if len(f.Ranges) < chunkRanges {
		return nil
	}
	return r.hand()
}

// call takes a call, which is lent but for its row.
func (r *renderer) call(x call, at moment) error {
	c := r.now
	if n := len(c.times); n == 0 || c.times[n-1] != at {
		c.times = append(c.times, at)
	}
	x.at = uint32(len(c.times) - 1)
	if n := len(c.parts) - 1; n < 0 || c.parts[n].st != nil || c.parts[n].rows != len(c.rows) {
		c.parts = append(c.parts, stretch{rows: len(c.rows), from: len(c.calls)})
	}
	c.calls = append(c.calls, x)
	c.parts[len(c.parts)-1].until = len(c.calls)
	if len(c.calls) < chunkRanges {
		return nil
	}
	return r.hand()
}

// hand has the rows at hand encoded and written.
func (r *renderer) hand() error {
	r.next <- r.now
	r.todo <- r.now
	r.now = <-r.free
	return r.failed()
}

// finish waits until all is written.
func (r *renderer) finish() error {
	err := r.hand()
	close(r.todo)
	close(r.next)
	r.work.Wait()
	if err == nil {
		err = r.failed()
	}
	return err
}
