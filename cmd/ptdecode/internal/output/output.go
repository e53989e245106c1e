// Package output writes decoded flow to a writer, one file for each format. A
// Sink takes decoder.Batch values, each stream's in order, and keeps none of their
// memory. Formats that list rows get them from decoder/rows. What the lines look
// like is docs/formats/output.md.
package output

import (
	"cmp"
	"io"
	"runtime"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Options says what to write of a flow, and how.
type Options struct {
	Format *Format
	Fields []Field // of a row
	Look   Look    // of lines

	// Formats without rows use only Gaps of these: gaps in place, as lines
	// "# gap ...", and not by Say.
	rows.Options

	Jobs int // goroutines that write rows, at most; 0: one for each CPU

	Say  func(line string)
	Hint func(*event.Gap) string // what to do about a gap; nil: nothing is said
}

// Sink takes the flow and writes it.
type Sink interface {
	decoder.Sink
	// Close writes what is left.
	Close() error
}

// Order says in which order a sink wants its batches.
type Order struct {
	Merged  bool // of all streams by time; else each stream in its order will do
	Reverse bool // newest first
}

// New returns a sink that writes to w what o asks for, a counter of what it wrote,
// and the order in which it wants batches. only are the indices of the streams
// whose batches will come, nil for all.
func New(rec rows.Recording, streams []rows.Stream, only []int, w io.Writer, o Options) (Sink, *Counter, Order) {
	c := &Counter{streams: streams, inPlace: o.Gaps, say: o.Say, hint: o.Hint}
	if only == nil {
		for i := range streams {
			only = append(only, i)
		}
	}
	if o.Format.fromFlow != nil {
		if s := o.Format.fromFlow(&o, only, lines{w: w}, c); s != nil {
			return s, c, Order{}
		}
	}
	o.Gaps, o.Events = o.Gaps || o.Format.InPlace, o.Events || o.Format.InPlace
	return newListing(rec, only, lines{w: w}, &o, c), c, Order{Merged: true, Reverse: o.Backward()}
}

// listing is a sink that writes rows.
type listing struct {
	maker   *rows.Maker
	enc     encoder
	out     lines
	render  *renderer   // writes the rows between begin and end; nil: enc does
	plain   *plainLines // writes stretches of flow; nil: there are only rows
	counter *Counter
}

func newListing(rec rows.Recording, only []int, out lines, o *Options, c *Counter) *listing {
	l := &listing{out: out, counter: c}
	o.OnGap = c.tell
	if o.Gaps {
		o.OnGap = c.gapInPlace
	}
	names := rows.NewNames(rec, len(c.streams))
	if l.plain = newPlain(names, o); l.plain != nil {
		o.Plain, o.Calls = l.stretch, l.call
	}
	l.maker = rows.New(rec, c.streams, only, o.Options, l.write)
	l.enc = o.Format.fromRows(names, o.Fields, &o.Look)
	if o.Shard.I <= 1 {
		l.out.buf = l.enc.begin(l.out.buf)
	}
	if n := o.encoders(); n > 1 {
		coders := make([]coder, n)
		for i := range coders {
			names := rows.NewNames(rec, len(c.streams))
			coders[i] = coder{o.Format.fromRows(names, o.Fields, &o.Look), newPlain(names, o)}
		}
		l.render = newRenderer(&l.out, coders)
	}
	return l
}

// stretch writes the rows of a stretch of flow.
func (l *listing) stretch(st *rows.Stream, b *decoder.Batch, n int) error {
	if l.render != nil {
		return l.render.flowOf(st, b, n)
	}
	l.out.buf = l.plain.lines(l.out.buf, st, b, n)
	return l.out.full()
}

// encoders returns how many goroutines may encode rows.
func (o *Options) encoders() int {
	if !o.Format.apart {
		return 1
	}
	return cmp.Or(o.Jobs, runtime.GOMAXPROCS(0))
}

// write writes r.
func (l *listing) write(r *rows.Row) error {
	if l.render != nil {
		return l.render.row(r)
	}
	l.out.buf = l.enc.row(l.out.buf, r)
	return l.out.full()
}

// Flow writes the rows of b.
func (l *listing) Flow(b *decoder.Batch) error { return l.maker.Flow(b) }

// Waits reports whether the listing needs flow behind its shard's part (decoder.Query.Lead).
func (l *listing) Waits() bool { return l.maker.Waits() }

// Close writes what is left.
func (l *listing) Close() error {
	err := l.maker.Close()
	if l.render != nil {
		if e := l.render.finish(); err == nil {
			err = e
		}
	}
	l.counter.Count = l.maker.Count
	if err != nil {
		return err
	}
	l.out.buf = l.enc.end(l.out.buf)
	return l.out.flush()
}
