package kcore

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Journal is all pokes of a recording in time order. Epoch e is the code with the first e
// of them made. It does not change once built, but for Text.FillOld.
//
// Where records were lost, a mark stands among the pokes at either end of the loss, and
// counts as one (Poke.Mark). It changes nothing, but what was known before it may not be
// known after it.
type Journal struct {
	rules *rules
	pokes []Poke
	slack uint64        // ns
	lost  []loss        // in order
	ended []uint64      // ended[i]: the latest End of pokes [0, i], ns
	begun []uint64      // begun[i]: the earliest Begin of pokes [i, n), ns
	floor []event.Epoch // by poke
	work  []event.Time  // by poke
	opt   JournalOptions
}

// Batches of the kernel: at most this many sites share the three syncs
// (alternative.c: a page of 16-byte entries), in ascending addresses. Records of
// one batch come right behind each other, but the task that writes them may be
// preempted or moved. So the gap allowed is wide and the CPU is not asked. Too
// large a batch only loses order; too small a one would invent it.
const (
	batchSites = 256
	batchGap   = 10_000_000 // ns
)

// JournalOptions is what else is known of the records of pokes. The zero value
// says that all are there and that their times are exact.
type JournalOptions struct {
	// Lost are the intervals in which records were lost, ns.
	Lost []event.Time
	// Slack is by how much the time of a record may be off, either way, ns.
	// Records closer than that tell nothing by their order.
	Slack uint64
}

// NewJournal is NewJournalOf with the zero value of JournalOptions: no record was lost, and
// all times are exact.
func NewJournal(pokes []Poke) (*Journal, error) { return NewJournalOf(pokes, JournalOptions{}) }

// NewJournalOf makes a journal of pokes. It sorts them by time, keeping the order of equal
// ones, leaves out records of the same change, and finds the batches. It keeps the slice
// and the bytes. A poke in which Poke.Check finds something wrong is an error, and so are
// more pokes than epochs can count.
func NewJournalOf(pokes []Poke, opt JournalOptions) (*Journal, error) {
	return newJournal(pokes, opt, kernelRules())
}

// newJournal is NewJournalOf by the tables of r.
func newJournal(pokes []Poke, opt JournalOptions, r *rules) (*Journal, error) {
	if uint64(len(pokes)) >= uint64(event.MaxEpoch) {
		return nil, fmt.Errorf("journal: %d pokes, at most %d", len(pokes), event.MaxEpoch-1)
	}
	for i := range pokes {
		if err := pokes[i].check(r); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	for i := range pokes {
		p := &pokes[i]
		p.Begin, p.End = p.Begin-min(p.Begin, opt.Slack), p.End+min(math.MaxUint64-p.End, opt.Slack)
	}
	return orderedJournal(pokes, opt, r), nil
}

// orderedJournal is newJournal of pokes that are right, with what their times may be
// off in their windows.
func orderedJournal(pokes []Poke, opt JournalOptions, r *rules) *Journal {
	if byTime := func(a, b Poke) int { return cmp.Compare(a.Time, b.Time) }; !slices.IsSortedFunc(pokes, byTime) {
		slices.SortStableFunc(pokes, byTime)
	}
	pokes, lost := withMarks(withoutRepeats(pokes, opt), opt)
	n := len(pokes)
	j := &Journal{
		rules: r, pokes: pokes, slack: opt.Slack, lost: lost, opt: opt,
		ended: make([]uint64, n), begun: make([]uint64, n),
		floor: make([]event.Epoch, n), work: make([]event.Time, n),
	}
	var ended, begun uint64 = 0, math.MaxUint64
	for i := range pokes {
		ended = max(ended, pokes[i].End)
		j.ended[i] = ended
		begun = min(begun, pokes[n-1-i].Begin)
		j.begun[n-1-i] = begun
	}
	j.order(j.findBatches())
	j.workTimes()
	return j
}

// repeatGap is how far apart two records of one change may lie, ns. Each event that asks
// for records gets one, with a time of its own. A change, its undoing and the change
// again take longer: each waits for other CPUs, twice or more. By a scheme without a sync they
// need not, so there only records of one time tell of one change. Nor is it sure that nothing
// was undone where records were lost in between.
const repeatGap = 1000

// withoutRepeats leaves out records that tell of a change which the newest record of that
// address before has told of.
func withoutRepeats(pokes []Poke, opt JournalOptions) []Poke {
	lost := lostTimes(opt)
	lossBetween := func(from, to uint64) bool {
		i := sort.Search(len(lost), func(i int) bool { return lost[i].Hi >= from })
		return from < to && i < len(lost) && lost[i].Lo <= to
	}
	newest := map[uint64]int{} // by address, of those kept: sites are far fewer than pokes
	kept := 0
	for i := range pokes {
		p := &pokes[i]
		if k, ok := newest[p.Addr]; ok && p.repeats(&pokes[k]) && !lossBetween(pokes[k].Time, p.Time) {
			continue
		}
		newest[p.Addr] = kept
		if kept < i {
			pokes[kept] = *p
		}
		kept++
	}
	return pokes[:kept]
}

// repeats reports whether p tells of the change that o, an older record of that address,
// tells of.
func (p *Poke) repeats(o *Poke) bool {
	gap := uint64(repeatGap)
	if linux.scheme(p.Scheme).order == orderLoose {
		gap = 0
	}
	return p.Time-o.Time <= gap && p.Scheme == o.Scheme && bytes.Equal(p.Old, o.Old) && bytes.Equal(p.New, o.New) && !bytes.Equal(p.Old, p.New)
}

// Len returns the number of pokes and marks: the last epoch.
func (j *Journal) Len() int { return len(j.pokes) }

// Poke returns poke i, which must not be changed. It may be a mark.
func (j *Journal) Poke(i int) *Poke { return &j.pokes[i] }

// Floor returns the epoch up to which every poke is in effect on a CPU that has executed
// poke i's new code, or its trap where Text.TrapProves. A batch of pokes begins only when
// the syncs of the one before are complete, which is what this rests on. So it leaves out
// pokes of i's own batch. It reaches no further than the first poke that may still be under
// way and has no sync (atomic, unsafe), or no record.
func (j *Journal) Floor(i int) event.Epoch { return j.floor[i] }

// Epochs returns the epochs that a CPU can be in at some moment of t. Every poke
// before lo had ended by t.Lo, and every poke from hi on begins after t.Hi.
func (j *Journal) Epochs(t event.Time) (lo, hi event.Epoch) {
	l := sort.Search(len(j.ended), func(i int) bool { return j.ended[i] > t.Lo })
	h := sort.Search(len(j.begun), func(i int) bool { return j.begun[i] > t.Hi })
	return event.Epoch(l), event.Epoch(max(l, h))
}

// Edges returns how long the epochs lo and hi that Epochs gave stay the same as time goes
// on. lo does while a moment's lower bound is below loEnd, hi while its upper bound is below
// hiEnd, both ns.
func (j *Journal) Edges(lo, hi event.Epoch) (loEnd, hiEnd uint64) {
	loEnd, hiEnd = math.MaxUint64, math.MaxUint64
	if int(lo) < len(j.ended) {
		loEnd = j.ended[lo]
	}
	if int(hi) < len(j.begun) {
		hiEnd = j.begun[hi]
	}
	return loEnd, hiEnd
}

// findBatches numbers the batches and returns the first poke of each. Slots are
// written outside of the lock that orders the others, so one between two
// records does not part them. Where times may be off, records of two batches
// may have changed places: all that are close are taken for one.
func (j *Journal) findBatches() (first []int) {
	var last []int      // poke of each batch
	cur, sites := -1, 0 // batch still open, and its size
	for i := range j.pokes {
		p := &j.pokes[i]
		row := j.rules.scheme(p.Scheme)
		if j.slack > 0 && i > 0 && p.Time-j.pokes[i-1].Time <= 2*j.slack {
			p.Batch = j.pokes[i-1].Batch
			last[p.Batch] = i
			if row.batches {
				cur = p.Batch
				sites++
			}
			continue
		}
		if cur >= 0 && row.batches && sites < batchSites {
			l := &j.pokes[last[cur]]
			if p.Addr > l.Addr && p.Time-l.Time <= batchGap {
				p.Batch, last[cur] = cur, i
				sites++
				continue
			}
		}
		p.Batch = len(first)
		first, last = append(first, i), append(last, i)
		switch {
		case row.batches:
			cur, sites = p.Batch, 1
		case row.order != orderApart:
			cur = -1
		}
	}
	return first
}

// order fills floor. first is the first poke of each batch.
func (j *Journal) order(first []int) {
	var loose looseEnds
	guarded, mark := -1, -1 // the last guarded poke of an earlier batch; the first mark behind it
	for i := range j.pokes {
		p := &j.pokes[i]
		if j.rules.guarded(p) { // the trap may be met before the record's time, so time says nothing
			n := first[p.Batch]
			for k := n - 1; k > guarded; k-- {
				if q := &j.pokes[k]; q.Mark() {
					mark = k
				} else if j.rules.guarded(q) {
					guarded = k
				}
			}
			if mark > guarded {
				n = mark
			}
			head := &j.pokes[first[p.Batch]]
			j.floor[i] = event.Epoch(loose.before(j.surely(n, head.Time), head.Begin))
			continue
		}
		// Executing what i brought means that Begin has passed, and no more.
		lo, _ := j.Epochs(event.Time{Lo: p.Begin, Hi: p.Begin})
		j.floor[i] = min(lo, event.Epoch(i))
		if p.Learned || j.rules.scheme(p.Scheme).order == orderLoose {
			loose.add(i, p.End)
		}
	}
}

// InProgress returns the earliest and the latest time, ns, at which poke i can
// have been under way. One batch is over before the next begins. So a guarded
// poke lies between the last record of the batch before its own and the first
// record of the batch behind. A trap that stands only while the poke is made
// stood in between.
func (j *Journal) InProgress(i int) (earliest, latest uint64) {
	w := j.work[i]
	return w.Lo - min(w.Lo, j.slack), w.Hi + min(math.MaxUint64-w.Hi, j.slack)
}

// workTimes fills work.
func (j *Journal) workTimes() {
	batch, from, last := -1, uint64(0), uint64(0)
	for i := range j.pokes {
		p := &j.pokes[i]
		j.work[i] = event.Time{Lo: p.Begin, Hi: math.MaxUint64}
		if j.rules.guarded(p) {
			if p.Batch != batch {
				batch, from = p.Batch, last
			}
			j.work[i].Lo, last = from, p.Time
		}
	}
	batch, until, next := -1, uint64(math.MaxUint64), uint64(math.MaxUint64)
	for i := len(j.pokes) - 1; i >= 0; i-- {
		if p := &j.pokes[i]; j.rules.guarded(p) {
			if p.Batch != batch {
				batch, until = p.Batch, next
			}
			j.work[i].Hi, next = until, p.Time
		}
	}
}

// surely returns how many of the first n pokes, counted from the front, had
// their records made before one that states a time, ns.
func (j *Journal) surely(n int, time uint64) int {
	if j.slack == 0 {
		return n
	}
	return min(n, sort.Search(len(j.pokes), func(k int) bool { return j.pokes[k].Time+2*j.slack >= time }))
}

// looseEnds is the pokes without a sync or a record, in journal order, with the latest End among them
// and those before, ns.
type looseEnds struct {
	index []int
	ended []uint64
}

func (l *looseEnds) add(i int, end uint64) {
	if k := len(l.ended); k > 0 {
		end = max(end, l.ended[k-1])
	}
	l.index, l.ended = append(l.index, i), append(l.ended, end)
}

// before returns how many of the first n pokes, counted from the front, are
// complete at a time, if only the unsynchronised ones may not be.
func (l *looseEnds) before(n int, at uint64) int {
	k := sort.Search(len(l.ended), func(k int) bool { return l.ended[k] > at })
	if k < len(l.index) && l.index[k] < n {
		return l.index[k]
	}
	return n
}
