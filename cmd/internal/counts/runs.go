package counts

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
)

// Run is instructions executed straight on: from where a branch led to, up to the next one
// that was taken, or to where an interrupt came.
type Run struct {
	Space uint32
	From  uint64 // the first instruction
	Last  uint64 // the last instruction
	Seen  uint64 // 0; of what Runs returns: about when one like it was first executed, ns
}

// CountedRun is a Run and how often it was executed.
type CountedRun struct {
	Run
	Count
}

// lately is a run of a table.
type lately struct {
	run Run
	*Count
}

// running is the run that a stream is in.
type running struct {
	Run
	end   uint64 // behind its last instruction
	is    bool
	doubt bool
}

// run returns the count of r.
func (t *Table) run(r Run) *Count {
	at := &t.fresh[slot(r.From^r.Last<<7)]
	if at.Count != nil && at.run == r {
		return at.Count
	}
	c := t.runs[r]
	if c == nil {
		c = new(Count)
		t.runs[r] = c
	}
	*at = lately{r, c}
	return c
}

// runs takes ranges in a row.
func (f *following) runs(list []decoder.BatchRange) {
	x := &f.run
	for i := range list {
		r := &list[i]
		b := r.Block
		doubt := r.Verdict == decoder.Ambiguous
		if x.is && (b.Addr != x.end || doubt != x.doubt || b.Space != x.Space) {
			f.endRun()
		}
		if !x.is {
			*x = running{Run: Run{Space: b.Space, From: b.Addr}, is: true, doubt: doubt}
		}
		if r.N == b.N {
			x.Last, x.end = b.LastIP(), b.End
			if always.Has(b.Class) {
				f.endRun()
			}
			continue
		}
		x.end = r.End()
		x.Last = x.end - uint64(b.Lens[r.N-1])
	}
}

// endRun counts the run that f is in.
func (f *following) endRun() {
	if !f.run.is {
		return
	}
	f.run.is = false
	c := f.table.run(f.run.Run)
	if f.run.doubt {
		c.Ambiguous++
	} else {
		c.N++
	}
}

// Runs returns the runs, by address space and address. There are some where the Counter
// was asked for them.
func (t *Table) Runs() (list []CountedRun) {
	seen := map[uint64]uint64{}
	for b, x := range t.nodes {
		if y, ok := seen[b.Addr]; !ok || x.seen < y {
			seen[b.Addr] = x.seen
		}
	}
	for _, r := range slices.SortedFunc(maps.Keys(t.runs), func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Space, b.Space), cmp.Compare(a.From, b.From), cmp.Compare(a.Last, b.Last))
	}) {
		c := *t.runs[r]
		r.Seen = seen[r.From]
		list = append(list, CountedRun{r, c})
	}
	return list
}
