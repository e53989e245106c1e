package flow

// Most batches need not be held whole. The doubt goes back over a few stated targets, so
// what lies before those is handed on at once. What lies behind is short: it stays in the
// writer's batch, which the next ranges are appended to. So no batch changes hands, and
// one buffer serves.
//
// Where the targets lie costs no search: who appends a range marks it.

// maxTail is how many ranges stay in a batch at most, and how many notes. Where the tail
// would be longer, the batch is held whole.
const maxTail = batchRanges / 4

// space returns the batch's ranges with room for more behind them, how many there are, and
// the stamp of the next. The room takes what makes the batch full, and a path or phrase beyond that.
// Who adds some there sets batch.Ranges.
func (o *writer) space() (rs []Range, n int, stamp uint32) {
	n = len(o.batch.Ranges)
	if most := max(n, o.full) + phraseRanges; cap(o.batch.Ranges) < most {
		more := make([]Range, n, n+batchRanges+maxTail+phraseRanges) // slices.Grow would copy what lies behind n, too
		copy(more, o.batch.Ranges)
		o.batch.Ranges = more
	}
	return o.batch.Ranges[:cap(o.batch.Ranges)], n, o.stamp
}

// marks is where in a batch the last targets that the trace stated are: the indices of the
// ranges that led there.
type marks struct {
	n  int // targets, also those before the last ones
	at [markRing]int
}

// markRing is how many places marks has: heldBack, up to a power of two.
const markRing = 8

// put marks range at.
func (m *marks) put(at int) {
	m.at[uint(m.n)%markRing] = at
	m.n++
}

// oldest returns the index of the range that the doubt goes back to, which is not in doubt
// itself. There are heldBack targets or more.
func (m *marks) oldest() int { return m.at[uint(m.n-heldBack)%markRing] }

// move has the marks go with their ranges: what lay at index at lies at 0 now. Only the
// last heldBack targets are left.
func (m *marks) move(at int) {
	for i := range m.at {
		m.at[i] -= at
	}
	// The oldest stays the oldest.
	m.n = m.n%markRing + markRing
}

// placeBehind returns the place in b before range at, and behind the notes before it.
func (b *Batch) placeBehind(at int) extent {
	note := len(b.Notes)
	for note > 0 && b.Notes[note-1].At > at {
		note--
	}
	return extent{at, note}
}

// handHead hands on what lies before a place in b, at a range. The rest is all that is
// left in b.
func (u *unconfirmed) handHead(b *Batch, at extent) {
	stamp, t := b.Ranges[at.ranges].Stamp, &u.tail
	t.Ranges = append(t.Ranges[:0], b.Ranges[at.ranges:]...)
	t.Stamps = append(t.Stamps[:0], b.Stamps[stamp:]...)
	t.Notes = append(t.Notes[:0], b.Notes[at.notes:]...)
	t.Walked = b.splitWalked(t.Walked[:0], at.ranges)
	b.Ranges, b.Notes = b.Ranges[:at.ranges], b.Notes[:at.notes]
	if len(b.Ranges)+len(b.Notes) > 0 {
		u.hand(b)
	}
	b.Ranges = append(b.Ranges[:0], t.Ranges...)
	b.Stamps = append(b.Stamps[:0], t.Stamps...)
	b.Notes = append(b.Notes[:0], t.Notes...)
	b.Walked = append(b.Walked[:0], t.Walked...)
	for i := range b.Ranges {
		b.Ranges[i].Stamp -= stamp
	}
	for i := range b.Notes {
		b.Notes[i].At -= at.ranges
	}
}
