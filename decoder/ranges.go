package decoder

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Range is instructions that ran one behind the other, as Session.Ranges gives them.
type Range struct {
	Addr         uint64     // of the first instruction
	End          uint64     // behind the last instruction
	Instructions int        // how many ran, 1 or more; 0: see Session.Ranges on gaps
	Time         event.Time // of the last event before them, ns: they ran no earlier, and before the next event
	Stream       *Stream    // the trace that says so: its CPU, its thread, its name
	Space        uint32     // the address space of Addr, for Session.Code; 0: the kernel's, or the only one
	Epochs       event.Span // as of which the code at Addr is what ran, for Session.Code
	Mode         isa.Mode   // how the code is read
	Verdict      Verdict    // how sure it is that this code ran
	session      *Session
}

// Symbol names Addr as of the range's time, as symbol+0xoffset, with a module's name in
// brackets behind it, or user code as file+0xoffset. It is "" where nothing has a name
// there.
func (r *Range) Symbol() string {
	name, off, file, ok := r.session.Symbol(r.Space, r.Addr, r.Time.Likely())
	switch {
	case !ok:
		return ""
	case name == "":
		return fmt.Sprintf("%s+0x%x", file, off)
	case off != 0:
		name = fmt.Sprintf("%s+0x%x", name, off)
	}
	if file != kernelFile && strings.HasPrefix(file, "[") {
		name += " " + file // a module's
	}
	return name
}

// Ranges decodes what q asks for and gives what ran, of all streams in order of time:
// of each range, the lower bound of its time counts. With Query.Reverse the newest
// comes first. Unlike Session.Flow, Ranges leaves out what ran before Query.From or
// after Query.Until for certain. It honours all other fields of the Query but Merged,
// which it always sets.
//
// A *event.Gap in place of a nil error is a stretch that could not be followed. It
// comes where it lies among the ranges, and the iteration goes on behind it. The range
// beside it has no instructions, and the gap's stream, address and time. Any other
// error is the last that comes: that of ctx, or one of reading.
//
//	var gap *event.Gap
//	if errors.As(err, &gap) { ... }
//
// Breaking out of the loop ends the work. The iterator may be used again, and each
// use decodes anew.
func (s *Session) Ranges(ctx context.Context, q Query) iter.Seq2[Range, error] {
	q.Merged = true
	return func(yield func(Range, error) bool) { s.newRun(q).ranges(ctx, yield) }
}

// ranges is Session.Ranges.
func (r *run) ranges(ctx context.Context, yield func(Range, error) bool) {
	if err := r.learning(ctx, &rangeSink{r, yield}); err != nil {
		yield(Range{session: r.s}, err)
	}
}

// rangeSink gives the ranges and gaps of batches to yield.
type rangeSink struct {
	*run
	yield func(Range, error) bool
}

// Flow gives what b holds. b is read backwards where the query says so.
func (k *rangeSink) Flow(b *flow.Batch) error {
	st := k.stream(b.Stream)
	list := b.All()
	if k.q.Reverse {
		list = b.Backward()
	}
	for n, r := range list {
		if n != nil && !k.gap(st, n) || r != nil && !k.executed(st, b, r) {
			return ErrStop
		}
	}
	return nil
}

// stream returns the run's stream with an index.
func (r *run) stream(index int) *Stream {
	for _, ln := range r.lanes {
		if ln.st.Index == index {
			return ln.st
		}
	}
	return nil
}

// inTime reports whether the query's times let through what happened at t.
func (k *rangeSink) inTime(t event.Time) bool {
	return t.Hi >= k.q.From && (k.q.Until == 0 || t.Lo <= k.q.Until)
}

// executed gives a range of b. It returns false where no more is wanted.
func (k *rangeSink) executed(st *Stream, b *flow.Batch, x *flow.Range) bool {
	t := b.Stamps[x.Stamp].Time
	if !k.inTime(t) {
		return true
	}
	return k.yield(Range{
		Addr: x.Block.Addr, End: x.End(), Instructions: int(x.N), Time: t, Stream: st,
		Space: x.Block.Space, Epochs: x.Block.Span, Mode: x.Block.Mode, Verdict: x.Verdict, session: k.s,
	}, nil)
}

// gap gives n where it is a gap. It returns false where no more is wanted.
func (k *rangeSink) gap(st *Stream, n *flow.Note) bool {
	if n.Kind != flow.NoteGap || !k.inTime(n.Gap.Time) {
		return true
	}
	g := n.Gap // n is lent
	return k.yield(Range{Addr: g.IP, End: g.IP, Time: g.Time, Stream: st, Epochs: event.EveryEpoch, Verdict: flow.Ambiguous, session: k.s}, &g)
}
