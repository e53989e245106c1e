// Package rows turns decoded flow into rows, as a tool lists them. A row is an
// instruction, a block, a taken branch, a call, a gap, or an element of the
// protocol. A breakpoint exception is one row: its handler's flow is folded away.
//
// A Maker is a decoder.Sink. It takes the batches of all streams in order of time,
// or newest first. It filters them as its Options say, and hands on one Row after
// the other. Names finds the symbols, the thread and the instruction of a row.
//
// This package knows no format. cmd/ptdecode writes rows as text and as JSON
// Lines. Where calls are wanted as values, with how long each took, package calls has
// them.
//
// Start reading in row.go, for what a row says, and in this file, for how rows are made.
// traps.go folds breakpoint exceptions, branches.go and calls.go find branches and calls.
package rows

import (
	"errors"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// Options says which rows are wanted.
type Options struct {
	Level Level
	TIDs  []int32  // threads; nil: all
	From  uint64   // ns; 0: from the start
	Until uint64   // ns; 0: to the end
	Syms  []string // functions, of branches also into them; nil: all
	Last  int      // rows at most, the last in time; 0: all
	First int      // rows at most, of those that come first; 0: all

	// Where, where set, is one more filter: it is called for each row that the filters above
	// let pass, but not for gaps, and reports whether the row is wanted.
	Where func(*Names, *Row) bool

	Reverse  bool // newest first
	RawTraps bool // at the levels branch and call: traps with their handlers' flow
	Thunks   bool // at the level call: also thunks, which only lead on to a function, as retpolines and PLT stubs do
	Gaps     bool // also rows of KindGap
	// Rare leaves out all branches but those in the handler of a trap of which the end is not
	// seen, and does not count. It is for the level branch, forwards.
	Rare bool

	Shard  Shard // what of the flow is listed; zero: all
	Events bool  // also rows of KindEvent: the trace events between instructions

	// Plain, where set, is given whole stretches of flow where that is as good as single
	// rows, which costs less. Names.Rows makes the rows of the first n ranges of b, and
	// b.After says where the flow goes on behind one. b is lent. Other flow still comes as
	// rows to New's take: with filters or shards, at levels that do not allow it, and where
	// a row waits for others.
	Plain func(st *Stream, b *flow.Batch, n int) error
	// Calls, at the level call, needs Plain: it is given single calls in place of their rows.
	// r holds what is the same at each such call; it stays valid and must not be changed.
	// Row.Number says where in a table something about r may be kept. t, v and depth are
	// those of this call.
	Calls func(st *Stream, r *Row, t event.Time, v flow.Verdict, depth int) error

	// OnGap, where set, is called for each gap as it is met, whether the gap
	// becomes a row or not.
	OnGap func(*Stream, *event.Gap)
}

// Backward reports whether batches must come newest first, each to be read
// backwards.
func (o *Options) Backward() bool { return o.Reverse || o.Last > 0 }

// Filters reports whether some of the flow may be left out.
func (o *Options) Filters() bool {
	return o.TIDs != nil || o.From != 0 || o.Until != 0 || o.Syms != nil || o.Last > 0 || o.First > 0 || o.Where != nil
}

// ErrEnough is returned by a Maker that wants no more flow; it is no error.
var ErrEnough = errors.New("rows: enough")

// Count says how much became rows.
type Count struct {
	Rows        uint64 // rows of what was executed
	Insns       uint64 // instructions in them; at the levels branch and call, in the flow of the time asked for
	Ambiguous   uint64 // of these, those with the verdict flow.Ambiguous
	Unconfirmed uint64 // and those with flow.Unconfirmed
}

// Add counts n instructions of a verdict.
func (c *Count) Add(n int, v flow.Verdict) {
	c.Insns += uint64(n)
	switch v {
	case flow.Ambiguous:
		c.Ambiguous += uint64(n)
	case flow.Unconfirmed:
		c.Unconfirmed += uint64(n)
	}
}

// Maker makes rows of flow.
type Maker struct {
	Count Count // of what was handed on so far

	o       Options
	plain   bool // stretches go to Options.Plain
	take    func(*Row) error
	streams []listing // by index
	only    []int     // those to which batches may come
	ended   bool      // at the level element: the ends of the streams were listed
	names   Names
	queue   queue
	syms    symbolFilter
	tree    *callTree   // at the level call, forwards
	back    *callsBack  // the same backwards
	calls   []plainCall // room for those of one batch
	segment segment     // what is handed on at once, so that it is not allocated

	shard shardState

	last     []Row // with Options.Last: newest first
	lastRows int   // rows of the level in last
}

// listing makes the rows of one stream, in the order in which its flow comes.
type listing interface {
	ran(b *flow.Batch, r *flow.Range) error
	note(n *flow.Note) error
	end() error // nothing follows
}

// New returns a Maker that hands the rows asked for to take, each lent until
// take returns. streams are the recording's; only are the indices of those
// whose batches will come, nil for all.
func New(rec Recording, streams []Stream, only []int, o Options, take func(*Row) error) *Maker {
	m := &Maker{o: o, plain: o.plainly(), take: take, names: *NewNames(rec, len(streams)), only: only, tree: newCallTree(), back: newCallsBack(o.Last > 0)}
	m.queue.take, m.queue.handOn = m.hand, m.handOn
	if only == nil {
		for i := range streams {
			m.only = append(m.only, i)
		}
	}
	for i := range streams {
		m.streams = append(m.streams, m.listing(&streams[i]))
	}
	m.syms = newSymbolFilter(rec, o.Syms)
	return m
}

// listing returns what makes the rows of st at the level asked for.
func (m *Maker) listing(st *Stream) listing {
	s := stream{m: m, st: st}
	switch m.o.Level {
	case LevelElement:
		return &elements{stream: s}
	case LevelBranch, LevelCall:
		f := folder{stream: s, backward: m.o.Backward()}
		switch {
		case m.o.Level == LevelCall && f.backward:
			f.back = m.back
		case m.o.Level == LevelCall:
			f.tree = m.tree
		}
		if f.backward {
			return &branchesBack{folder: f}
		}
		return &branches{folder: f}
	}
	return &instructions{stream: s}
}

// Names returns what names the rows.
func (m *Maker) Names() *Names { return &m.names }

// Flow makes rows of b.
func (m *Maker) Flow(b *flow.Batch) error {
	s := m.streams[b.Stream]
	if m.o.Shard.Of > 0 {
		if err := m.goTo(b); err != nil {
			return err
		}
	}
	if m.o.Backward() {
		return m.flowBack(b, s)
	}
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		if m.o.Rare {
			i = s.(*branches).rare(b, i, n)
		}
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			if err := s.note(&b.Notes[n]); err != nil {
				return err
			}
		}
		end := len(b.Ranges)
		if n < len(b.Notes) {
			end = b.Notes[n].At
		}
		if m.plain && (i+1 < end || i < end && b.After(i) != nil) {
			var err error
			if i, err = m.stretch(s, b, i, end); err != nil {
				return err
			}
		} else if i < len(b.Ranges) && !(m.o.Rare && s.(*branches).idle()) {
			if err := s.ran(b, &b.Ranges[i]); err != nil {
				return err
			}
		}
	}
	if l, ok := s.(*branches); ok {
		return l.lent(b)
	}
	return nil
}

// flowBack is Flow, backwards.
func (m *Maker) flowBack(b *flow.Batch, s listing) error {
	if err := m.listEnds(); err != nil {
		return err
	}
	n := len(b.Notes)
	for i := len(b.Ranges); i >= 0; i-- {
		for ; n > 0 && b.Notes[n-1].At >= i; n-- {
			if err := s.note(&b.Notes[n-1]); err != nil {
				return err
			}
		}
		if i > 0 {
			if err := s.ran(b, &b.Ranges[i-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// listEnds lists the ends of the streams, once, at the level element. Backwards
// they come first.
func (m *Maker) listEnds() error {
	if m.ended || m.o.Level != LevelElement {
		return nil
	}
	m.ended = true
	for i := range m.only {
		if m.o.Backward() {
			i = len(m.only) - 1 - i
		}
		if err := m.streams[m.only[i]].(*elements).bare(endOfTrace, event.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// Close hands on the rows that still wait. With Options.Last these are all.
func (m *Maker) Close() error {
	if m.shard.failed {
		return nil
	}
	m.queue.others = m.o.Shard.I < m.o.Shard.Of // what follows is of the last shard
	for _, s := range m.streams {
		if m.o.Last > 0 && m.lastRows == m.o.Last {
			break
		}
		if err := s.end(); err != nil && err != ErrEnough {
			return err
		}
	}
	if err := m.listEnds(); err != nil && err != ErrEnough {
		return err
	}
	if err := m.queue.release(true); err != nil && err != ErrEnough {
		return err
	}
	if settleDepths(m.last); !m.o.Reverse {
		slices.Reverse(m.last)
	}
	for i := range m.last {
		if err := m.take(&m.last[i]); err != nil {
			return err
		}
	}
	return nil
}

// add hands r on, in its order, if the filters let it pass.
func (m *Maker) add(r *Row) error {
	if !m.wants(r) {
		return nil
	}
	return m.queue.push(r)
}

// hand counts r and hands it on, or keeps it for the end.
func (m *Maker) hand(r *Row) error {
	if m.o.First > 0 && m.Count.Rows == uint64(m.o.First) {
		return ErrEnough
	}
	switch r.Kind {
	case KindGap:
		if m.o.OnGap != nil {
			m.o.OnGap(r.Stream, &r.Note.Gap)
		}
		if !m.o.Gaps {
			return nil
		}
	case KindInsn, KindBlock, KindElement:
		m.Count.Add(r.N, r.Verdict)
	}
	if r.Kind != KindGap && r.Kind != KindEvent {
		m.Count.Rows++
	}
	if m.o.Last > 0 {
		return m.keep(r)
	}
	return m.take(r)
}

// keep keeps r for the end. Gaps and events do not count as rows of
// Options.Last, but their number is bounded, too.
func (m *Maker) keep(r *Row) error {
	if m.lastRows == m.o.Last {
		return ErrEnough // it waited behind the last one
	}
	if r.Kind == KindGap || r.Kind == KindEvent || r.Element == endOfTrace {
		if len(m.last)-m.lastRows < 2*m.o.Last+1024 {
			m.last = append(m.last, r.Clone())
		}
		return nil
	}
	m.last = append(m.last, r.Clone())
	if m.lastRows++; m.lastRows == m.o.Last {
		return ErrEnough
	}
	return nil
}

// counts counts what is in x, a range of b, at the levels branch and call.
func (m *Maker) counts(b *flow.Batch, x *flow.Range) {
	if m.o.within(&b.Stamps[x.Stamp].Time) {
		m.Count.Add(int(x.N), x.Verdict)
	}
}

// within reports whether what has time t may have happened in the time that is asked for.
func (o *Options) within(t *event.Time) bool {
	return t.Hi >= o.From && (t.Lo <= o.Until || o.Until == 0)
}

// wants reports whether the filters let r pass.
func (m *Maker) wants(r *Row) bool {
	if !m.o.within(&r.Time) {
		return false
	}
	if r.Kind == KindGap {
		return true // nobody knows what ran in a gap
	}
	if m.o.TIDs != nil {
		if tid, _ := m.names.Thread(r); !slices.Contains(m.o.TIDs, tid) {
			return false
		}
	}
	return m.syms.passes(&m.names, r) && (m.o.Where == nil || m.o.Where(&m.names, r))
}

// symbolFilter is functions asked for by name.
type symbolFilter struct {
	names []string
	spans []span // of those names that the kernel's symbols hold; a guest's are asked for
	held  int    // so many names they hold
}

// span is addresses from <= a < until.
type span struct{ from, until uint64 }

func newSymbolFilter(rec Recording, names []string) symbolFilter {
	f := symbolFilter{names: names}
	for _, n := range names {
		y := rec.Symbols()
		if y == nil {
			continue
		}
		list := y.Named(func(name string) bool { return name == n }) // several functions may have one name
		if sym, ok := y.Find(n); ok {
			list = append(list, sym) // which may be an alias
		}
		for _, sym := range list {
			f.spans = append(f.spans, span{sym.Addr, sym.Addr + sym.Len})
		}
		if len(list) > 0 {
			f.held++
		}
	}
	return f
}

// passes reports whether r lies in one of the functions, or leads into one.
func (f *symbolFilter) passes(names *Names, r *Row) bool {
	if f.names == nil || f.holds(names, r, r.IP) {
		return true
	}
	return r.HasAddr && (r.Kind == KindBranch || r.Kind == KindTrap) && f.holds(names, r, r.Addr)
}

// holds reports whether addr, an address of r, lies in one of the functions.
func (f *symbolFilter) holds(names *Names, r *Row, addr uint64) bool {
	if r.Stream.Machine == nil {
		for _, s := range f.spans {
			if s.from <= addr && addr < s.until {
				return true
			}
		}
		if f.held == len(f.names) && names.machine(r).Kernel(addr) {
			return false
		}
	}
	return slices.Contains(f.names, names.At(r, addr).Sym)
}

// stream is what all kinds of listing have in common.
type stream struct {
	m   *Maker
	st  *Stream
	row Row // of the last note; here, so that it is not allocated
}

// rangeRow returns a row of x, a range of b, at its first address.
func rangeRow(st *Stream, b *flow.Batch, x *flow.Range) Row {
	k := x.Block
	return Row{
		Stream: st, Time: b.Stamps[x.Stamp].Time, Verdict: x.Verdict, Poke: -1,
		Space: k.Space, Mode: k.Mode, Span: k.Span, IP: k.Addr,
	}
}

// other makes the row of a note that moves nothing.
func (s *stream) other(n *flow.Note) error {
	if n.Kind != flow.NoteGap && !s.m.o.Events {
		return nil
	}
	r := &s.row
	*r = Row{Kind: KindEvent, Stream: s.st, Time: n.Event.Time, IP: n.IP, Poke: n.Poke, Verdict: n.Verdict, Note: n}
	if n.Kind == flow.NoteGap {
		r.Kind, r.Time, r.IP = KindGap, n.Gap.Time, n.Gap.IP
	}
	return s.m.add(r)
}
