package counts

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Options says what is counted.
type Options struct {
	CPUs    bool   // a table for each stream
	Threads bool   // a table for each thread
	Time    bool   // the time that passed, too
	Runs    bool   // runs, too
	Blocks  bool   // no edges, but where something has to pass a filter, or goes to several tables
	Bare    bool   // no tables: only Gaps and Instructions, whatever else is set
	Since   uint64 // gaps that ended before do not count, ns

	// Each goes with Blocks, where everything counts. It is told of each range of a block that it asks for: where it
	// returned true for one. Of those of others it is told of some, and of the first. So it need not go over all.
	Each func(b *decoder.Batch, r *decoder.BatchRange) (more bool)

	// Name, where set, has a table for each name that it gives to ranges: of that with an index
	// in the Batch at hand.
	Name func(i int) string
}

// Group is what a table is of.
type Group struct {
	Guest  int32 // the process whose virtual machine it is; 0: the host
	Stream int   // index; -1: all
	TID    int32 // -1: all, or not known
	Comm   string
	Name   string // of Options.Name
}

// Counter counts flow.
type Counter struct {
	Gaps         uint64
	Instructions Count
	Traps        map[uint64]uint64 // breakpoint exceptions of the host, by where they were taken

	s       *decoder.Session
	o       Options
	filter  *rows.Maker // nil: everything counts
	streams []following
	tables  map[Group]*Table
	passed  []decoder.BatchRange // of the batch at hand, of Options.Bare: what the filter lets pass
	others  Time                 // of what the filter does not let pass
	walked  int                  // of the batch at hand: what of Batch.Walked comes begins there
}

// following is what a Counter has in hand of one stream.
type following struct {
	table *Table
	last  *node // executed whole just before; nil: something lies between
	doubt bool  // that was ambiguous
	clock Clock
	off   int64 // of Options.Time: where the trace led to what ran last, bytes
	run   running
}

// New returns a Counter of what f lets through of the flow of s.
func New(s *decoder.Session, f *host.Filter, o Options) *Counter {
	c := &Counter{s: s, o: o}
	c.filter = Passing(s, f)
	c.Restart()
	return c
}

// Passing returns what tells whether f lets ranges of the flow of s pass; nil: all pass.
func Passing(s *decoder.Session, f *host.Filter) *rows.Maker {
	if !f.Options.Filters() {
		return nil
	}
	return rows.New(s, f.Streams, f.Query.Streams, rows.Options{
		Level: rows.LevelBlock, TIDs: f.Options.TIDs, From: f.Options.From, Until: f.Options.Until, Syms: f.Options.Syms, Where: f.Options.Where,
	}, nil)
}

// Restart begins anew (decoder.Restarter).
func (c *Counter) Restart() bool {
	c.Gaps, c.Instructions, c.Traps = 0, Count{}, map[uint64]uint64{}
	c.streams, c.tables = make([]following, len(c.s.Streams())), map[Group]*Table{}
	return true
}

// Close ends the counting.
func (c *Counter) Close() error {
	for i := range c.streams {
		f := &c.streams[i]
		if f.endRun(); c.o.Time && f.table != nil {
			f.clock.End(c.s.Streams()[i], f.off)
		}
	}
	return nil
}

// Groups returns what there are tables of, in order.
func (c *Counter) Groups() []Group {
	return slices.SortedFunc(maps.Keys(c.tables), func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Guest, b.Guest), cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.TID, b.TID), cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Name, b.Name))
	})
}

// Table returns the table of g.
func (c *Counter) Table(g Group) *Table { return c.tables[g] }

// Guests returns the processes whose virtual machines executed something; the host is 0.
func (c *Counter) Guests() (list []int32) {
	for _, g := range c.Groups() {
		if !slices.Contains(list, g.Guest) {
			list = append(list, g.Guest)
		}
	}
	return list
}

// All returns the sum of the tables of a machine: 0 is the host. It may be a table of the
// Counter, so it is only read.
func (c *Counter) All(guest int32) *Table {
	var list []*Table
	for _, g := range c.Groups() {
		if g.Guest == guest {
			list = append(list, c.tables[g])
		}
	}
	return Sum(list)
}

// tableAt returns the table of what stream i executed at a time, under a name.
func (c *Counter) tableAt(i int, t event.Time, name string) *Table {
	g := Group{Guest: c.s.Streams()[i].Guest, Stream: -1, TID: -1, Name: name}
	if c.o.CPUs {
		g.Stream = i
	}
	if c.o.Threads {
		if tid, comm, _, ok := c.s.Running(i, t.Stated()); ok {
			g.TID, g.Comm = tid, comm
		}
	}
	x := c.tables[g]
	if x == nil {
		x = newTable()
		c.tables[g] = x
	}
	return x
}

// Flow counts b.
func (c *Counter) Flow(b *decoder.Batch) error {
	if c.o.Bare {
		c.bare(b)
		return nil
	}
	f := &c.streams[b.Stream]
	if f.table == nil {
		f.table = c.tableAt(b.Stream, event.Always, "")
	}
	from := 0
	c.walked = 0
	for i := range b.Notes {
		n := &b.Notes[i]
		if n.At > from {
			c.count(f, b, from, n.At)
			from = n.At
		}
		c.note(f, b.Stream, n)
	}
	c.count(f, b, from, len(b.Ranges))
	return nil
}

// count counts the ranges of b from one index up to another, between which no note lies.
func (c *Counter) count(f *following, b *decoder.Batch, from, to int) {
	if from == to {
		return
	}
	f.table.now = b.Stamps[b.Ranges[from].Stamp].Time.Likely()
	if c.filter != nil || c.o.Threads || c.o.Time || c.o.Name != nil {
		c.choose(f, b, from, to)
		return
	}
	if c.o.Blocks {
		c.blocks(f.table, b, b.Ranges[from:to])
	} else {
		c.addWalks(f, b, from, to)
	}
	if c.o.Runs {
		f.runs(b.Ranges[from:to])
	}
}

// choose is count, where not everything counts, or for one table.
func (c *Counter) choose(f *following, b *decoder.Batch, from, to int) {
	stamp, known, name := uint32(0), false, ""
	for i := from; i < to; i++ {
		r := &b.Ranges[i]
		was := name
		if c.o.Name != nil {
			name = c.o.Name(i)
		}
		if !known || r.Stamp != stamp || name != was {
			stamp, known = r.Stamp, true
			t := b.Stamps[stamp].Time
			if c.o.Threads || c.o.Name != nil {
				if x := c.tableAt(b.Stream, t, name); x != f.table {
					f.endRun()
					f.table, f.last = x, nil
				}
				f.table.now = t.Likely()
			}
			if c.o.Time {
				f.clock.Reach(t.Lo)
				f.off = b.Stamps[stamp].Off
			}
		}
		if c.filter != nil && !c.filter.Passes(b, r) {
			f.last = nil
			f.endRun()
			if c.o.Time { // else what passes would take its time
				f.clock.Ran(&c.others, r.N)
			}
			continue
		}
		c.add(f, b.Ranges[i:i+1])
		if c.o.Runs {
			f.runs(b.Ranges[i : i+1])
		}
		if c.o.Time {
			f.clock.Ran(f.table.node(r.Block).timeOf(r.N), r.N)
		}
	}
}

// add counts ranges in a row.
func (c *Counter) add(f *following, list []decoder.BatchRange) {
	t, last, doubted := f.table, f.last, f.doubt
	var n uint64
	for i := range list {
		r := &list[i]
		var x *node
		if last == nil {
			x = t.node(r.Block)
		} else {
			e := &last.out[0]
			if e.to == nil || e.to.block != r.Block {
				e = t.edgeTo(last, r.Block)
			}
			if x = e.to; doubted || r.Verdict == decoder.Ambiguous {
				t.doubts[edgeEnds{last, x}]++
			} else {
				e.n++
			}
		}
		n += uint64(r.N)
		last, doubted = x, false
		switch {
		case r.Verdict == decoder.Ambiguous:
			last, doubted = c.doubtful(x, r), true
		case r.N == r.Block.N:
			x.n++
		default:
			x.part(r.N).N++
			last = nil
		}
	}
	f.last, f.doubt = last, doubted
	c.Instructions.N += n
}

// doubtful counts r, which is ambiguous. It returns x where that was executed whole.
func (c *Counter) doubtful(x *node, r *decoder.BatchRange) (last *node) {
	c.Instructions.N -= uint64(r.N) // add counts it
	c.Instructions.Ambiguous += uint64(r.N)
	if r.N != r.Block.N {
		x.part(r.N).Ambiguous++
		return nil
	}
	x.rarely().ambiguous++
	return x
}

// bare counts b for Options.Bare.
func (c *Counter) bare(b *decoder.Batch) {
	all, doubt, list := uint64(0), uint64(0), b.Ranges
	if c.filter != nil {
		list = c.passing(b)
	}
	for ; len(list) >= 4; list = list[4:] { // four by four they take half of the time
		q := list[:4:4]
		all += uint64(q[0].N) + uint64(q[1].N) + uint64(q[2].N) + uint64(q[3].N)
		if q[0].Verdict|q[1].Verdict|q[2].Verdict|q[3].Verdict != decoder.Certain {
			doubt += inDoubt(q)
		}
	}
	for i := range list {
		all += uint64(list[i].N)
	}
	doubt += inDoubt(list)
	c.Instructions.N += all - doubt
	c.Instructions.Ambiguous += doubt
	for i := range b.Notes {
		if b.Notes[i].Kind == decoder.NoteGap {
			c.gap(&b.Notes[i])
		}
	}
}

// passing returns the ranges of b that the filter lets pass.
func (c *Counter) passing(b *decoder.Batch) []decoder.BatchRange {
	c.passed = c.passed[:0]
	for i := range b.Ranges {
		if r := &b.Ranges[i]; c.filter.Passes(b, r) {
			c.passed = append(c.passed, *r)
		}
	}
	return c.passed
}

// inDoubt returns how many instructions of list are ambiguous.
func inDoubt(list []decoder.BatchRange) (n uint64) {
	for i := range list {
		if list[i].Verdict == decoder.Ambiguous {
			n += uint64(list[i].N)
		}
	}
	return n
}

// gap counts a gap, unless it ended too early.
func (c *Counter) gap(n *decoder.Note) {
	if hi := n.Gap.Time.Hi; hi == 0 || hi >= c.o.Since {
		c.Gaps++
	}
}

// note takes what lies between ranges of stream i.
func (c *Counter) note(f *following, i int, n *decoder.Note) {
	source, moves := uint64(0), true
	f.clock.Note(n)
	switch n.Kind {
	case decoder.NoteGap:
		c.gap(n)
	case decoder.NoteTrap:
		if source = n.Event.From; c.s.Streams()[i].Guest == 0 {
			c.Traps[source]++
		}
	case decoder.NoteTrackOff:
		if n.Event.Kind == event.AsyncDisable {
			source = n.Event.From
		}
	case decoder.NoteTrackOn:
	case decoder.NoteEvent:
		if moves = n.Event.Kind == event.Async; moves {
			source = n.Event.From
		}
	default:
		moves = false
	}
	if !moves {
		return
	}
	f.endRun()
	if f.last != nil && source != 0 {
		k := f.table.leave(f.last, source)
		if f.doubt {
			k.Ambiguous++
		} else {
			k.N++
		}
	}
	f.last = nil
}
