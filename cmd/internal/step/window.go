package step

import (
	"context"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/cmd/internal/source"
	"github.com/ptdecode/ptdecode/decoder"
)

// item is a range as executed, with what lies between it and the one before.
type item struct {
	block   *decoder.Block
	n       int // instructions of it
	verdict decoder.Verdict
	stamp   decoder.Stamp
	notes   []decoder.Note // before it
}

// addr returns the address of instruction i.
func (x *item) addr(i int) uint64 {
	a := x.block.Addr
	for _, l := range x.block.Lens[:i] {
		a += uint64(l)
	}
	return a
}

// window is a stretch of one stream's flow: what was decoded of it so far. It grows at
// both ends when it is asked for more.
type window struct {
	s      *decoder.Session
	of     *decoder.Session // the machine that executed the stream: s, or a guest of it
	stream int
	at     uint64 // ns: where it began
	items  []item
	tail   []decoder.Note // behind the last item, at the end of the stream
	first  bool           // nothing lies before items
	last   bool           // nothing lies behind
	most   int            // items to read at once
	front  int            // items put in front since the window began
	files  source.Files   // where their lines are shown
	read   int            // items decoded, for tests: also those that were had already
}

// newWindow returns a window of a stream from the time at on, ns. It holds the first
// range that may have run at that time, and some behind it.
func newWindow(ctx context.Context, s *decoder.Session, stream int, at uint64) (*window, error) {
	w := &window{s: s, of: machines.Of(s, s.Streams()[stream].Guest), stream: stream, at: at, most: 4096}
	return w, w.more(ctx)
}

// more reads what follows the window.
func (w *window) more(ctx context.Context) error {
	if w.last {
		return nil
	}
	r := forward{growth: growth{w: w}, had: len(w.items)}
	q := decoder.Query{Streams: []int{w.stream}, From: w.at, Jobs: 1, Bounds: true}
	if n := len(w.items); n > 0 {
		end := w.items[n-1].stamp
		q.From, r.off = max(1, end.Time.Lo), end.Off
		for i := n - 1; i >= 0 && w.items[i].stamp.Off == end.Off; i-- {
			r.skip++
		}
	}
	switch err := w.s.Flow(ctx, q, &r); {
	case r.enough:
	case err != nil:
		return err
	default:
		w.last, w.tail = true, r.notes
	}
	return nil
}

// growth is what makes a window grow.
type growth struct {
	w      *window
	enough bool // no more is to be read at once
}

// full ends the reading where so many items are as many as are read at once.
func (g *growth) full(items int) error {
	if g.enough = items >= g.w.most; g.enough {
		return decoder.ErrStop
	}
	return nil
}

// forward is a sink that adds to the end of a window.
type forward struct {
	growth
	off   int64 // of the last item that is there
	skip  int   // items at off that are there
	had   int
	notes []decoder.Note
}

// Flow takes b.
func (r *forward) Flow(b *decoder.Batch) error {
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			r.notes = append(r.notes, kept(&b.Notes[n]))
		}
		if i < len(b.Ranges) {
			r.add(b, &b.Ranges[i])
		}
	}
	return r.full(len(r.w.items) - r.had)
}

// add adds a range, unless the window has it.
func (r *forward) add(b *decoder.Batch, x *decoder.BatchRange) {
	r.w.read++
	st := b.Stamps[x.Stamp]
	notes := r.notes
	r.notes = nil
	switch {
	case r.had == 0 && st.Time.Hi < r.w.at:
		return // before the time asked for, for certain
	case r.had > 0 && st.Off < r.off:
		return
	case r.had > 0 && st.Off == r.off && r.skip > 0:
		r.skip--
		return
	}
	r.w.items = append(r.w.items, item{x.Block, int(x.N), x.Verdict, st, notes})
}

// kept returns a note that may be kept.
func kept(n *decoder.Note) decoder.Note {
	k := *n
	k.Others = slices.Clone(n.Others)
	return k
}

// before reads what precedes the window. It returns how many items it put in front.
func (w *window) before(ctx context.Context) (int, error) {
	if w.first {
		return 0, nil
	}
	r := backward{growth: growth{w: w}}
	q := decoder.Query{Streams: []int{w.stream}, Jobs: 1, Bounds: true, Reverse: true}
	switch {
	case len(w.items) > 0:
		begin := w.items[0].stamp
		r.has, r.off = true, begin.Off
		for i := 0; i < len(w.items) && w.items[i].stamp.Off == begin.Off; i++ {
			r.skip++
		}
		if hi := begin.Time.Hi; hi != 0 && hi < 1<<63 {
			q.Until = hi
		}
	case w.at > 0:
		q.Until = w.at
	}
	switch err := w.s.Flow(ctx, q, &r); {
	case r.enough:
	case err != nil:
		return 0, err
	default:
		w.first = true
		if n := len(r.items); n > 0 {
			r.items[n-1].notes = append(r.notes, r.items[n-1].notes...)
		}
	}
	slices.Reverse(r.items)
	for i := range r.items {
		slices.Reverse(r.items[i].notes)
	}
	if len(w.items) > 0 && len(r.seam) > 0 && w.items[0].notes == nil {
		slices.Reverse(r.seam)
		w.items[0].notes = r.seam
	}
	w.items = append(r.items, w.items...)
	w.front += len(r.items)
	return len(r.items), nil
}

// backward is a sink that collects what lies before a window, the newest first.
type backward struct {
	growth
	has   bool
	off   int64 // of the first item that is there
	skip  int   // items at off that are there
	items []item
	notes []decoder.Note // those that no item was seen behind yet
	seam  []decoder.Note // those before the first item that is there
}

// Flow takes b, which is read backwards.
func (r *backward) Flow(b *decoder.Batch) error {
	n := len(b.Notes) - 1
	for i := len(b.Ranges); i >= 0; i-- {
		if i < len(b.Ranges) {
			r.ran(b, &b.Ranges[i])
		}
		for ; n >= 0 && b.Notes[n].At >= i; n-- {
			r.note(&b.Notes[n])
		}
	}
	return r.full(len(r.items))
}

// ran adds a range, unless the window has it.
func (r *backward) ran(b *decoder.Batch, x *decoder.BatchRange) {
	r.w.read++
	st := b.Stamps[x.Stamp]
	switch {
	case r.has && st.Off > r.off:
		return
	case r.has && st.Off == r.off && r.skip > 0:
		r.skip--
		return
	case !r.has && st.Time.Hi >= r.w.at && r.w.at > 0:
		return
	}
	r.items = append(r.items, item{x.Block, int(x.N), x.Verdict, st, nil})
}

// note adds a note: it lies before the item that was added last.
func (r *backward) note(n *decoder.Note) {
	switch {
	case len(r.items) > 0:
		x := &r.items[len(r.items)-1]
		x.notes = append(x.notes, kept(n))
	case r.has && r.skip == 0:
		r.seam = append(r.seam, kept(n))
	}
}
