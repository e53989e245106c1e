package report

import (
	"context"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Crossing is how the CPU of a stream went from the old code of a change to the new.
type Crossing struct {
	Stream int
	Old    Sightings // executions of the old text, since the poke before it there
	Traps  Sightings // of the breakpoint that it put there
	New    Sightings // executions of the new text, until the poke after it there
	// Threads says how often each thread came by, the first one first, for pokes in
	// Crossings.Named. An element is a thread with its TID (-1: not known) and Comm. Old,
	// Traps and New count what it executed. Unsure is how many of all these may be another
	// thread's, and First is the time of the first.
	Threads []passage
}

// passage is how often a thread came by a poke's site. A TID of -1 stands for threads
// that are not known.
type passage struct {
	TID             int32
	Comm            string
	Old, Traps, New int // executions of the old text, traps, executions of the new text
	Unsure          int // of all these, how many may be another thread's: the bounds of their time hold a switch
	First           event.Time
}

// Sightings is how often something was executed, and when.
type Sightings struct {
	N           int
	Unsure      int      // of those, how many may have been of another text
	First, Last Sighting // if N > 0
}

// Sighting is one execution.
type Sighting struct {
	Time    event.Time
	Verdict decoder.Verdict // of the text: decoder.Ambiguous where the other side does the same
}

func (s *Sightings) add(x Sighting) {
	if s.N++; s.N == 1 {
		s.First = x
	}
	s.Last = x
	if x.Verdict == decoder.Ambiguous {
		s.Unsure++
	}
}

// Verdict says how it was settled where the CPU crossed: the least sure of the
// last execution of the old text, the traps and the first execution of the new.
func (c *Crossing) Verdict() decoder.Verdict {
	v := decoder.Certain
	for _, s := range []struct {
		n int
		x Sighting
	}{{c.Old.N, c.Old.Last}, {c.Traps.N, c.Traps.First}, {c.Traps.N, c.Traps.Last}, {c.New.N, c.New.First}} {
		if s.n > 0 {
			v = max(v, s.x.Verdict)
		}
	}
	return v
}

// shown is what a stream's trace tells of: from the first time that it states to the last,
// ns, 0 where it states none. In Gaps are the pokes of Named in whose time something may
// have run that could not be followed.
type shown struct {
	Own         bool // the session's machine executes it
	From, Until uint64
	Gaps        []int
}

// tells notes the times of b.
func (x *shown) tells(b *decoder.Batch) {
	if n := len(b.Stamps); n > 0 {
		x.Until = max(x.Until, b.Stamps[n-1].Time.Lo)
	}
	for i := 0; x.From == 0 && i < len(b.Stamps); i++ {
		x.From = b.Stamps[i].Time.Lo
	}
}

// misses notes in the time of which of the pokes named g may lie.
func (c *Crossings) misses(x *shown, g *event.Gap) {
	for _, i := range c.Named {
		k := c.Session.Text().Poke(i)
		if g.Time.Known() && g.Time.Lo <= k.End && k.Begin <= g.Time.Hi && !slices.Contains(x.Gaps, i) {
			x.Gaps = append(x.Gaps, i)
		}
	}
}

// Crossings collects how the CPUs of a session's own machine crossed its changes to code
// ("pokes"). It is a decoder.Sink for a flow that gives each stream in order; a flow that is
// Merged will do, too. When the flow has ended, By has the answers.
type Crossings struct {
	Session *decoder.Session // whose flow it is; must be set
	Named   []int            // pokes for which Crossing.Threads is wanted, by PokeInfo.Index
	From    uint64           // what ran before does not count, ns
	Until   uint64           // what ran later does not count, ns; 0: to the end
	Gaps    uint64           // stretches that could not be followed, in which more may lie
	// Shown says by stream what its trace tells of: From and Until are the first and the last
	// time that it states, ns, 0 where it states none. Own is set if the session's own
	// machine executes it. Gaps are the pokes in Named during which flow could not be
	// followed.
	Shown []shown

	seen    crossed
	threads map[[2]int][]passage // by stream and poke
	hits    map[*decoder.Block]*[]hit
	near    []nearHits           // by Block.Number: of blocks asked for last
	sites   map[[2]uint64]*poked // by where blocks begin and end
	found   [][2]uint64          // scratch
	pokes   []int                // scratch
}

// Decode decodes what q asks for, and returns By of each poke that was crossed, and Gaps.
func (c *Crossings) Decode(ctx context.Context, q decoder.Query) (by map[int][]Crossing, gaps uint64, err error) {
	err = c.Session.Flow(ctx, own(c.Session, q), c)
	by = map[int][]Crossing{}
	for i := range c.seen.first {
		if list := c.By(i); len(list) > 0 {
			by[i] = list
		}
	}
	return by, c.Gaps, err
}

// By returns, in the order of the streams, how the CPUs crossed the poke with the
// PokeInfo.Index poke. A CPU that executed neither the old code nor the new is left out.
func (c *Crossings) By(poke int) (list []Crossing) {
	if len(c.hits) > 0 { // the flow has ended: what only helped to find is given back, and the blocks with it
		c.hits, c.sites = map[*decoder.Block]*[]hit{}, map[[2]uint64]*poked{}
		clear(c.near)
	}
	for i := range c.seen.streams {
		if k, ok := c.seen.crossing(i, poke); ok {
			k.Threads = c.threads[[2]int{i, poke}]
			list = append(list, k)
		}
	}
	return list
}

// begin makes room for the session's streams.
func (c *Crossings) begin() {
	c.hits, c.sites = map[*decoder.Block]*[]hit{}, map[[2]uint64]*poked{}
	c.near, c.threads = make([]nearHits, numNear), map[[2]int][]passage{}
	c.seen.streams = len(c.Session.Streams())
	for _, st := range c.Session.Streams() {
		c.Shown = append(c.Shown, shown{Own: st.Guest == c.Session.Meta().Guest && st.Executes()})
	}
}

// hit is one side of a poke that a block executes.
type hit struct {
	poke int
	need uint16 // instructions of the block, up to the first that lies on it
	new  bool
}

// maxHits bounds the blocks of which the hits are kept.
const maxHits = 1 << 13

// nearHits is a block and its hits; nil: it has none. There are many, so it is small.
type nearHits struct {
	block *decoder.Block
	hits  *[]hit
}

// numNear is how many blocks' hits are found without a search: a power of two.
const numNear = 1 << 12

// Flow takes the flow in b.
func (c *Crossings) Flow(b *decoder.Batch) error {
	if c.Between(b); !c.Shown[b.Stream].Own {
		return nil
	}
	for i := c.passed(b.Ranges); i < len(b.Ranges); i += 1 + c.passed(b.Ranges[i+1:]) {
		c.Ran(b, &b.Ranges[i])
	}
	return nil
}

// Ran takes a range of b. It reports whether its block executes a side of a poke: ranges of others need not be
// told of. It is for who goes over all ranges anyway, and calls Between before.
func (c *Crossings) Ran(b *decoder.Batch, r *decoder.BatchRange) (more bool) {
	k := r.Block
	if k.Span.Until == event.MaxEpoch && k.Span.From == 0 || k.Space != 0 || !c.Shown[b.Stream].Own {
		return false
	}
	near := &c.near[k.Number%numNear]
	if near.block != k {
		hits, known := c.hits[k]
		if !known {
			hits = c.find(k)
		}
		*near = nearHits{k, hits}
	}
	if near.hits != nil {
		c.executed(b, r, *near.hits)
	}
	return near.hits != nil
}

// Between takes the flow in b, but for its ranges.
func (c *Crossings) Between(b *decoder.Batch) {
	if c.hits == nil {
		c.begin()
	}
	x := &c.Shown[b.Stream]
	if !x.Own {
		return
	}
	x.tells(b)
	for i := range b.Notes {
		switch n := &b.Notes[i]; n.Kind {
		case decoder.NoteGap:
			c.Gaps++
			c.misses(x, &n.Gap)
		case decoder.NoteTrap:
			if n.Poke >= 0 && c.within(n.Event.Time) {
				c.seen.of(b.Stream, n.Poke, sideTraps).add(Sighting{n.Event.Time, n.Verdict})
				if p := c.threadAt(b.Stream, n.Poke, n.Event.Time); p != nil {
					p.Traps++
				}
			}
		}
	}
}

// within reports whether what ran at t may have run in the time that counts.
func (c *Crossings) within(t event.Time) bool {
	return t.Hi >= c.From && (c.Until == 0 || t.Lo <= c.Until)
}

// passed counts the ranges at the beginning of list that execute no side of a poke, as far as that is
// known at once. It calls nothing: so what the loop needs stays in registers.
func (c *Crossings) passed(list []decoder.BatchRange) int {
	near := (*[numNear]nearHits)(c.near)
	for i := range list {
		k := list[i].Block
		if k.Span.Until == event.MaxEpoch && k.Span.From == 0 || k.Space != 0 {
			continue // no poke touches it
		}
		if x := &near[k.Number%numNear]; x.block != k || x.hits != nil {
			return i
		}
	}
	return len(list)
}

// executed takes hits of r's block.
func (c *Crossings) executed(b *decoder.Batch, r *decoder.BatchRange, hits []hit) {
	for _, h := range hits {
		if r.N < h.need {
			continue
		}
		x := Sighting{b.Stamps[r.Stamp].Time, r.Verdict}
		if !c.within(x.Time) {
			continue
		}
		if r.Either() {
			x.Verdict = decoder.Ambiguous
		}
		of := sideOld
		if h.new {
			of = sideNew
		}
		c.seen.of(b.Stream, h.poke, of).add(x)
		if p := c.threadAt(b.Stream, h.poke, x.Time); p != nil && h.new {
			p.New++
		} else if p != nil {
			p.Old++
		}
	}
}

// threadAt returns what is known of the thread that ran at t, nil where nobody asks for
// the threads of that poke.
func (c *Crossings) threadAt(stream, poke int, t event.Time) *passage {
	if !slices.Contains(c.Named, poke) {
		return nil
	}
	tid, comm, _, ok := c.Session.Running(stream, t.Likely())
	if !ok {
		tid, comm = -1, ""
	}
	list := c.threads[[2]int{stream, poke}]
	at := slices.IndexFunc(list, func(p passage) bool { return p.TID == tid && p.Comm == comm })
	if at < 0 {
		at = len(list)
		list = append(list, passage{TID: tid, Comm: comm, First: t})
		c.threads[[2]int{stream, poke}] = list
	}
	p := &list[at]
	if first, _, _, known := c.Session.Running(stream, t.Lo); ok && known && t.Lo != t.Hi {
		if later, _, switched := c.Session.NextRunning(stream, t.Lo, first); first != tid || switched && later <= t.Hi {
			p.Unsure++
		}
	}
	return p
}
