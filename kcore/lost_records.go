package kcore

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// LostRecords is an interval in which records were lost, and how much of the code that was
// poked is unknown for that.
type LostRecords struct {
	event.Time // ns
	// Sites counts the poked sites that are unknown while it lasts, Open those
	// of them that stay unknown, as nothing later says what lies there.
	Sites, Open int
}

// loss is an interval in which records were lost.
type loss struct {
	event.Time // ns; widened by what times may be off
	span       event.Span
}

// withMarks puts two marks among the sorted pokes for each interval in which
// records were lost. The first stands behind all that the interval begins with,
// the second before all that it ends with.
func withMarks(pokes []Poke, opt JournalOptions) ([]Poke, []loss) {
	ts := lostTimes(opt)
	if len(ts) == 0 {
		return pokes, nil
	}
	out := make([]Poke, 0, len(pokes)+2*len(ts))
	lost := make([]loss, len(ts))
	mark := func(at uint64) event.Epoch {
		p := Poke{Time: at, Begin: at, End: at, CPU: -1, Addr: math.MaxUint64, Scheme: SchemeSlot}
		out = append(out, p)
		return event.Epoch(len(out))
	}
	for i, t := range ts {
		lost[i].Time = t
		for len(pokes) > 0 && pokes[0].Time <= t.Lo {
			out, pokes = append(out, pokes[0]), pokes[1:]
		}
		lost[i].span.From = mark(t.Lo)
		for len(pokes) > 0 && pokes[0].Time < t.Hi {
			out, pokes = append(out, pokes[0]), pokes[1:]
		}
		lost[i].span.Until = mark(t.Hi)
	}
	return append(out, pokes...), lost
}

// lostTimes returns when records may have been lost, in order.
func lostTimes(opt JournalOptions) []event.Time { return mergeTimes(opt.Lost, 2*opt.Slack) }

// mergeTimes sorts intervals, widens them by so many ns and joins those that
// touch.
func mergeTimes(ts []event.Time, by uint64) []event.Time {
	ts = slices.Clone(ts)
	slices.SortFunc(ts, func(a, b event.Time) int { return cmp.Compare(a.Lo, b.Lo) })
	var out []event.Time
	for _, t := range ts {
		t.Hi = max(t.Hi, t.Lo+min(1, math.MaxUint64-t.Lo))
		t.Lo, t.Hi = t.Lo-min(t.Lo, by), t.Hi+min(math.MaxUint64-t.Hi, by)
		if k := len(out) - 1; k >= 0 && t.Lo <= out[k].Hi {
			out[k].Hi = max(out[k].Hi, t.Hi)
			continue
		}
		out = append(out, t)
	}
	return out
}

// Losses returns the intervals in which records were lost, in order.
func (t *Text) Losses() []LostRecords { return t.losses }

// doubtLosses makes a site unknown where a change to it may have been lost, for
// as long as the loss lasts. Where nothing before it says what lay there, that is
// from the beginning; where nothing behind it does, to the end.
func (b *builder) doubtLosses(s *site) {
	lost := b.t.j.lost
	if len(lost) == 0 {
		return
	}
	shot := s.shotEpochs(b.t.place.Epoch, b.t.j.Len())
	var hit, open []lossRange
	for i := range s.cells {
		c := &s.cells[i]
		r := image.Range{Addr: s.base + uint64(c.off), Len: uint64(c.end - c.off)}
		for k := 0; k <= len(c.chain); k++ {
			prev, next := s.sources(c, k)
			seen := witnesses{span: s.span(c, k), prev: prev != nil, next: next != nil}
			if c.img != nil && s.wrong != nil && !s.differ && c.interval(s.at) == k {
				seen.shot, seen.shown = shot, true
			}
			for _, p := range seen.parts(lost) {
				d, which := p.doubt(lost)
				if d.From >= d.Until {
					continue
				}
				b.unknown = append(b.unknown, doubt{r, d})
				b.lost = append(b.lost, doubt{r, d})
				hit = append(hit, which)
				if !p.next {
					open = append(open, which)
				}
			}
		}
	}
	eachLoss(hit, func(n int) { b.t.losses[n].Sites++ })
	eachLoss(open, func(n int) { b.t.losses[n].Open++ })
}

// lossRange is losses [from, to).
type lossRange struct{ from, to int }

// eachLoss calls do once for each loss in any of the ranges.
func eachLoss(rs []lossRange, do func(n int)) {
	slices.SortFunc(rs, func(a, b lossRange) int { return cmp.Compare(a.from, b.from) })
	next := 0
	for _, r := range rs {
		for next = max(next, r.from); next < r.to; next++ {
			do(next)
		}
	}
}

// overlap returns the losses that overlap a span of epochs.
func overlap(lost []loss, s event.Span) lossRange {
	return lossRange{
		sort.Search(len(lost), func(n int) bool { return lost[n].span.Until > s.From }),
		sort.Search(len(lost), func(n int) bool { return lost[n].span.From >= s.Until }),
	}
}

// shotEpochs returns the epochs in which the image may have been taken at the
// site: one, where it was taken before all pokes or after.
func (s *site) shotEpochs(taken event.Epoch, n int) event.Span {
	lo, hi := s.epochs(s.at, n)
	switch {
	case taken == 0 && lo == 0:
		hi = 0
	case int(taken) == n && hi == n:
		lo = n
	}
	return event.Span{From: event.Epoch(lo), Until: event.Epoch(hi)}
}

// witnesses is what says what lies in a cell over a span in which no record
// changes it.
type witnesses struct {
	span       event.Span
	prev, next bool       // the poke at which it begins; that at which it ends
	shown      bool       // the image
	shot       event.Span // epochs in which it may have been taken, both included
}

// parts parts the span at the moment of the image, unless records were lost
// when it may have been taken.
func (w witnesses) parts(lost []loss) []witnesses {
	if !w.shown {
		return []witnesses{w}
	}
	if o := overlap(lost, event.Span{From: w.shot.From, Until: w.shot.Until + 1}); o.from < o.to {
		return []witnesses{w}
	}
	a, b := w, w
	a.span.Until, a.next = min(w.shot.Until, w.span.Until), true
	b.span.From, b.prev = max(w.shot.From, w.span.From), true
	return []witnesses{a, b}
}

// doubt returns the epochs of the span that losses make unknown, and which
// losses: from the first on, as what one hid another may have hidden again, to
// the last. Where nothing says before them or behind what lay there, it is
// unknown from the beginning, or to the end.
func (w *witnesses) doubt(lost []loss) (d event.Span, which lossRange) {
	which = overlap(lost, w.span)
	if which.from >= which.to {
		return event.Span{}, which
	}
	d = w.span.Intersect(event.Span{From: lost[which.from].span.From, Until: lost[which.to-1].span.Until})
	if !w.prev {
		d.From = w.span.From
	}
	if !w.next {
		d.Until = w.span.Until
	}
	return d, which
}

// TrapProves reports whether a trap taken at poke i's site shows that the poke had begun.
// It does where the scheme puts the trap there and the old code begins with none. It does not
// where the code before was changed without a record, since that was done with a trap, too.
func (t *Text) TrapProves(i int) bool {
	return t.j.rules.trapProves(&t.j.pokes[i]) && !t.vague[int32(i)]
}

// NothingBeside reports whether an empty Old or New of poke i says that no code lay there.
// That is before the poke, if it brings code, or after it, if it takes code away. It is
// false where records were lost, since code may have come and gone without one.
func (t *Text) NothingBeside(i int) bool {
	p := &t.j.pokes[i]
	return !p.Mark() && (len(p.Old) == 0 || len(p.New) == 0) && !t.j.rules.unsaid(p) && !t.vague[int32(i)]
}

// mayReturn reports whether a change may have been lost next to the slot that
// poke i brings or takes away.
func (t *Text) mayReturn(i int) bool {
	p := &t.j.pokes[i]
	span := event.Span{Until: event.Epoch(i)}
	others := t.Between(p.Addr, p.size(), 0, span.Until, nil)
	if len(p.New) == 0 {
		span = event.Span{From: event.Epoch(i + 1), Until: event.MaxEpoch}
		others = t.Between(p.Addr, p.size(), span.From, span.Until, nil)
	}
	if len(others) > 0 {
		if len(p.New) == 0 {
			span.Until = event.Epoch(others[0] + 1)
		} else {
			span.From = event.Epoch(others[len(others)-1])
		}
	}
	o := overlap(t.j.lost, span)
	return o.from < o.to
}

// doubtTraps finds the pokes whose traps, or empty sites, prove nothing.
func (t *Text) doubtTraps() {
	t.vague = map[int32]bool{}
	for i := range t.j.pokes {
		p := &t.j.pokes[i]
		if len(t.j.lost) > 0 && !p.Mark() && (len(p.Old) == 0 || len(p.New) == 0) && t.mayReturn(i) {
			t.vague[int32(i)] = true
		}
		if !t.j.rules.trapProves(p) {
			continue
		}
		b := make([]byte, len(p.Old))
		n, span := t.Fetch(b, p.Addr, event.Epoch(i))
		known := n == len(b)
		if known && span.From > 0 { // up to the site's last poke
			q := &t.j.pokes[span.From-1]
			known = q.Addr < p.Addr+uint64(n) && p.Addr < q.Addr+uint64(q.size())
		}
		if !known {
			t.vague[int32(i)] = true
		}
	}
}

// flip is a mark at which bytes of a page become unknown, or known again.
type flip struct {
	off, end uint16
	mark     int32 // in the journal
}

// flip notes for each page the marks at which its bytes change.
func (b *builder) flip() {
	j := b.t.j
	for _, d := range b.lost {
		p := b.t.pages[d.Addr>>pageShift]
		off := uint16(d.Addr & (pageSize - 1))
		for _, e := range []event.Epoch{d.From, d.Until} {
			if i := int(e) - 1; i >= 0 && i < j.Len() && j.pokes[i].Mark() {
				p.flips = append(p.flips, flip{off, off + uint16(d.Len), int32(i)})
			}
		}
	}
	for _, p := range b.t.pages {
		slices.SortFunc(p.flips, func(x, y flip) int { return cmp.Compare(x.mark, y.mark) })
	}
}

// Marks appends to dst, in no order, the marks i with lo <= i < hi (see Poke.Mark) at which
// any of the n bytes at addr becomes unknown, or known again.
func (t *Text) Marks(addr uint64, n int, lo, hi event.Epoch, dst []int) []int {
	if len(t.losses) == 0 || n <= 0 || lo >= hi {
		return dst
	}
	start := len(dst)
	last := addr + min(uint64(n-1), math.MaxUint64-addr)
	first, _ := slices.BinarySearch(t.order, addr>>pageShift)
	for _, pg := range t.order[first:] {
		if pg > last>>pageShift {
			break
		}
		base := pg << pageShift
		fs := t.pages[pg].flips
		i := sort.Search(len(fs), func(i int) bool { return event.Epoch(fs[i].mark) >= lo })
		for ; i < len(fs) && event.Epoch(fs[i].mark) < hi; i++ {
			f := &fs[i]
			if base+uint64(f.off) <= last && base+uint64(f.end) > addr && !slices.Contains(dst[start:], int(f.mark)) {
				dst = append(dst, int(f.mark))
			}
		}
	}
	return dst
}
