package report

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Summary says in few numbers what a recording's flow comes to.
type Summary struct {
	From, Until  uint64 // of what was executed, ns; 0 where the trace has no time
	Instructions uint64
	ByVerdict    [decoder.Ambiguous + 1]uint64 // instructions
	Beside       uint64                        // instructions that may have run before Query.From or after Query.Until
	Bytes        int64                         // of trace
	Gaps         []gapCount                    // those that cost the most trace first
	Traps        uint64                        // breakpoint exceptions
	Threads      int                           // that records say ran; of threads traced alone, these
	// Functions are those that executed instructions, those with the most first. Each has its
	// Symbol and File, its Guest (decoder.Stream), its Instructions, and Entered: executions of its first instruction.
	Functions []functionCount
}

// gapCount is the gaps of one reason.
type gapCount struct {
	Reason event.Reason
	N      uint64
	Bytes  int64     // of trace in them, and of trace that was to stand there: the file was cut short
	Time   uint64    // that passed in them at most, ns
	First  event.Gap // the first one delivered
}

// functionCount is how much of a function was executed. Kernel functions have a Symbol, what
// programs executed has the file that it was mapped from, too.
type functionCount struct {
	Symbol, File string
	Guest        int32
	Instructions uint64
	Entered      uint64 // executions of its first instruction
}

// Summarise decodes what q asks for and counts it.
func Summarise(ctx context.Context, s *decoder.Session, q decoder.Query) (*Summary, error) {
	c := &summarySink{s: s, from: q.From, until: q.Until, threads: map[int32]bool{}, places: map[*decoder.Block][]part{}}
	c.Restart()
	err := s.Flow(ctx, q, c)
	return c.summary(q.Streams), err
}

// summarySink counts flow.
type summarySink struct {
	s         *decoder.Session
	from      uint64 // Query.From and Query.Until
	until     uint64
	sum       Summary
	gaps      map[event.Reason]*gapCount
	functions map[functionKey]*functionCount
	threads   map[int32]bool
	places    map[*decoder.Block][]part
	lostUntil map[int]uint64 // by stream: up to when gaps are counted, ns
}

// functionKey names a function. A name stands for several where files have static ones.
type functionKey struct {
	file, symbol string
	guest        int32
}

// part is what a block has of one function: instructions from its first one on.
type part struct {
	f     *functionCount
	first uint16 // instructions of the block before it
	n     uint16
	entry bool // its first instruction is the function's
}

// maxPlaces bounds the blocks of which the functions are kept.
const maxPlaces = 1 << 16

// Restart begins anew (decoder.Restarter).
func (c *summarySink) Restart() bool {
	c.sum = Summary{From: math.MaxUint64}
	c.gaps, c.functions = map[event.Reason]*gapCount{}, map[functionKey]*functionCount{}
	c.lostUntil = map[int]uint64{}
	clear(c.threads)
	clear(c.places)
	return true
}

// Flow counts b.
func (c *summarySink) Flow(b *decoder.Batch) error {
	for i := range b.Ranges {
		r := &b.Ranges[i]
		c.sum.Instructions += uint64(r.N)
		c.sum.ByVerdict[r.Verdict] += uint64(r.N)
		if t := &b.Stamps[r.Stamp].Time; t.Lo < c.from || c.until != 0 && t.Hi > c.until {
			c.sum.Beside += uint64(r.N)
		}
		parts, known := c.places[r.Block]
		if !known {
			parts = c.divide(c.s.Streams()[b.Stream].Guest, r.Block, b.Stamps[r.Stamp].Time.Likely())
		}
		for _, p := range parts {
			if uint16(r.N) > p.first {
				p.f.Instructions += uint64(min(p.n, uint16(r.N)-p.first))
				if p.entry {
					p.f.Entered++
				}
			}
		}
	}
	last := uint64(math.MaxUint64)
	for i := range b.Stamps {
		t := b.Stamps[i].Time
		if t.Lo == last || t.Lo == 0 { // 0: before the first time that the trace states
			continue
		}
		last = t.Lo
		c.sum.From, c.sum.Until = min(c.sum.From, t.Lo), max(c.sum.Until, t.Lo)
		if tid, _, _, ok := c.s.Running(b.Stream, t.Stated()); ok {
			c.threads[tid] = true
		}
	}
	for i := range b.Notes {
		switch n := &b.Notes[i]; n.Kind {
		case decoder.NoteTrap:
			c.sum.Traps++
		case decoder.NoteGap:
			c.gap(&n.Gap)
		}
	}
	return nil
}

// gap counts g.
func (c *summarySink) gap(g *event.Gap) {
	k := c.gaps[g.Reason]
	if k == nil {
		k = &gapCount{Reason: g.Reason, First: *g}
		c.gaps[g.Reason] = k
	}
	k.N++
	k.Bytes += max(g.End-g.Off, 0)
	if st := c.s.Streams()[g.Stream]; g.Reason == event.Lost && g.Off >= st.Size {
		k.Bytes += st.Missing
	}
	from := max(g.Time.Lo, c.lostUntil[g.Stream]) // bounds of gaps may overlap
	if from > 0 && g.Time.Hi != math.MaxUint64 && g.Time.Hi > from {
		k.Time += g.Time.Hi - from
		c.lostUntil[g.Stream] = g.Time.Hi
	}
}

// divide finds which functions b is of, which a guest executed, or the host: 0.
func (c *summarySink) divide(guest int32, b *decoder.Block, time uint64) (parts []part) {
	addr, machine := b.Addr, c.s
	for _, g := range decoder.Guests(c.s) {
		if g.Meta().Guest == guest {
			machine = g
		}
	}
	var last functionKey
	for i, l := range b.Lens {
		sym, off, file, ok := machine.Symbol(b.Space, addr, time)
		if !ok {
			sym, file, off = "", "", 1
		} else if sym == "" {
			off = 1 // of the file
		}
		k := functionKey{file, sym, guest}
		if n := len(parts); n > 0 && k == last && off != 0 {
			parts[n-1].n++
		} else {
			f := c.functions[k]
			if f == nil {
				f = &functionCount{Symbol: sym, File: file, Guest: guest}
				c.functions[k] = f
			}
			parts = append(parts, part{f, uint16(i), 1, off == 0})
		}
		last = k
		addr += uint64(l)
	}
	if len(c.places) >= maxPlaces {
		clear(c.places)
	}
	c.places[b] = parts
	return parts
}

// summary returns what was counted of the streams with the indices only, nil for all.
func (c *summarySink) summary(only []int) *Summary {
	x := &c.sum
	if x.From > x.Until {
		x.From = 0
	}
	for i, st := range c.s.Streams() {
		if st.Guest == 0 && (only == nil || slices.Contains(only, i)) { // else they are the host's bytes
			x.Bytes += st.Size - st.Head
			for _, g := range Undecoded(st) {
				c.gap(&g)
			}
		}
	}
	for _, k := range c.gaps {
		x.Gaps = append(x.Gaps, *k)
	}
	slices.SortFunc(x.Gaps, func(a, b gapCount) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Reason, b.Reason)) })
	for _, f := range c.functions {
		x.Functions = append(x.Functions, *f)
	}
	slices.SortFunc(x.Functions, func(a, b functionCount) int {
		return cmp.Or(cmp.Compare(b.Instructions, a.Instructions), cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.File, b.File), cmp.Compare(a.Guest, b.Guest))
	})
	x.Threads = len(c.threads)
	return x
}
