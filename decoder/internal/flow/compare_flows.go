package flow

import (
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// item is one instruction of a thread's flow, or a gap in it.
type item struct {
	ip   uint64
	r    *Range // nil: a gap
	n    *node  // that r is in
	at   int64  // of a gap: its offset, bytes
	k    int32  // index of r in n
	i    int32  // its own in the flow
	with int32  // 1 + the index of what it is in the other flow; negative: it may be another there as well
	len  uint8  // bytes
	mode isa.Mode
	head bool // the first of r
}

// off returns where in the trace x was executed, bytes.
func (x *item) off() int64 {
	if x.r == nil {
		return x.at
	}
	return x.stamp().Off
}

// sameInsn reports whether a and b are the same instruction: not only where, but
// which.
func (al *aligner) sameInsn(a, b *item) bool {
	al.work++
	if a.ip != b.ip || a.len != b.len || a.mode != b.mode || (a.r == nil) != (b.r == nil) {
		return false
	}
	if a.r == nil {
		return true
	}
	return al.text.sameCode(a.r.Block, b.r.Block, a.ip, int(a.len))
}

// versions compares text as of different epochs.
type versions struct {
	Text
	known [64]comparison // the latest answers
}

// comparison is what comparing two blocks' code at ip came to.
type comparison struct {
	a, b *Block
	ip   uint64
	n    int
	same bool
}

// sameCode reports whether blocks a and b, both of which hold the n bytes at ip,
// hold the same there.
func (v *versions) sameCode(a, b *Block, ip uint64, n int) bool {
	if a == b || a.Space != b.Space || max(a.Span.From, b.Span.From) < min(a.Span.Until, b.Span.Until) {
		return a.Space == b.Space
	}
	k := &v.known[ip%uint64(len(v.known))]
	if k.a == a && k.b == b && k.ip == ip && k.n == n {
		return k.same
	}
	var x, y [16]byte
	nx, _ := v.Fetch(x[:n], a.Space, ip, a.Span.From)
	ny, _ := v.Fetch(y[:n], b.Space, ip, b.Span.From)
	*k = comparison{a, b, ip, n, nx == n && ny == n && x == y}
	return k.same
}

// parts reports whether what stands before a and after it is not said to have
// executed one after the other.
func (a *item) parts() bool { return a.r == nil || a.r.Verdict == Ambiguous }

func (al *aligner) markAmbiguous(a *item) {
	if a.r != nil && a.r.Verdict != Ambiguous {
		a.r.Verdict = Ambiguous
		al.touch(a.n)
	}
}

// touch notes that n does not hold the same as before.
func (al *aligner) touch(n *node) {
	if al.touched == 0 || n.id < al.touched {
		al.touched = n.id
	}
}

// comparing is memory to compare two flows in. Walkers that take turns share one: what lies in it is of use until
// two others are compared.
type comparing struct {
	a, b  []item
	reach []int32 // of Myers' algorithm: per diagonal, how far along a
	trace []int32 // reach after each round
	holes []gapIn // where b has more
	path  []*node
}

// aligner finds what two flows share.
type aligner struct {
	*comparing // lent
	text       versions
	work       int // steps done: items and notes looked at, compared, or copied
	held       int // by what was told of in notes, as Config.MaxRanges counts

	most    int      // edits: see mostEdits
	brief   bool     // alternatives are not told of
	wider   bool     // bounds of time have become wider
	touched uint64   // id of the first node in which something changed; 0: none
	answers []answer // if brief: to the settled notes of the flow that stays, from the last on
}

// maxEdits bounds how much of two flows may differ, instructions, before only
// what they begin and end with is taken as shared. Of walks that are brief (Config.Brief)
// no one reads what is in doubt, so briefEdits bounds it. To find edits takes the square of that.
const (
	maxEdits   = 384
	briefEdits = 16
)

// mostEdits is which of the two bounds counts.
func (c *Config) mostEdits() int {
	if c.Brief {
		return briefEdits
	}
	return maxEdits
}

// doubtUnshared marks as ambiguous what the flow that ends at keep does not
// share with the one that ends at other, since they parted. Whatever both
// executed in the same order was executed, whichever of the two is true. Where
// two instructions are neighbours in keep and not in other, an ambiguous
// instruction parts them. torn says that other executed something after the
// last instruction of keep: what keep executes next stands next to nothing.
func (al *aligner) doubtUnshared(keep, other *node) (torn bool) {
	parted := endOf(al.common(keep, other))
	return al.doubtSince(keep, other, parted, parted)
}

// doubtSince is doubtUnshared for what the two flows hold since these places, up to
// which they have been compared.
func (al *aligner) doubtSince(keep, other *node, from, to point) (torn bool) {
	al.doubtNotes(keep, other, from, to)
	al.a = al.itemsSince(al.a[:0], keep, from)
	al.b = al.itemsSince(al.b[:0], other, to)
	a, b := al.a, al.b
	n := 0
	for n < len(a) && n < len(b) && al.sameInsn(&a[n], &b[n]) {
		al.pair(&a[n], &b[n])
		n++
	}
	a, b = a[n:], b[n:]
	m := 0
	for m < len(a) && m < len(b) && al.sameInsn(&a[len(a)-1-m], &b[len(b)-1-m]) {
		m++
		al.pair(&a[len(a)-m], &b[len(b)-m])
	}
	after := &item{} // what follows the part that differs
	if m > 0 {
		after = &a[len(a)-m]
	}
	a, b = a[:len(a)-m], b[:len(b)-m]
	al.tell(a, b)
	hole := al.edits(a, b)
	if hole {
		al.markAmbiguous(after)
	}
	al.inOrder(keep, from)
	return hole && m == 0
}

// maxOthers bounds how much of an alternative is told, stretches, and how many
// alternatives are told of one place.
const maxOthers = 32

// tell notes, where a and b begin to differ, that b may have been executed in
// place of a.
func (al *aligner) tell(a, b []item) {
	if al.brief || len(a) == 0 || a[0].r == nil {
		return
	}
	n := a[0].n
	at, told := 0, 0
	for at < len(n.out.Notes) && n.out.Notes[at].At <= int(a[0].k) {
		if x := &n.out.Notes[at]; x.Kind == NoteCut && x.At == int(a[0].k) {
			told++
		}
		at++
	}
	if told >= maxOthers {
		return
	}
	x := Note{Kind: NoteCut, Verdict: Ambiguous, At: int(a[0].k), Poke: n.poke, IP: a[0].ip}
	st := n.out.Stamps[a[0].r.Stamp]
	x.Event.Off, x.Event.Time = st.Off, st.Time
	for i := range b {
		x.Others = appendStretch(x.Others, &b[i])
	}
	n.putNote(at, x)
	n.held += x.size()
	al.held += x.size()
	al.touch(n)
}

// appendStretch appends one instruction to a flow.
func appendStretch(dst []Stretch, x *item) []Stretch {
	if x.r == nil {
		return dst
	}
	at := x.r.Block.Span.From
	if n := len(dst); n > 0 && dst[n-1].End == x.ip && dst[n-1].At == at {
		dst[n-1].End += uint64(x.len)
		dst[n-1].N++
		return dst
	}
	if len(dst) >= maxOthers {
		return dst
	}
	return append(dst, Stretch{IP: x.ip, End: x.ip + uint64(x.len), N: 1, At: at})
}

// edits marks what of a is not in b, and where b has what a has not; hole says
// that b ends with such.
func (al *aligner) edits(a, b []item) (hole bool) {
	rounds := al.differ(a, b)
	if rounds < 0 {
		return al.pieces(a, b)
	}
	// Backwards from the end: what was taken from a, from b, from both.
	x, y := len(a), len(b)
	more := gapIn{from: -1} // b has more before the item of a that comes next
	at := len(al.trace)
	al.holes = al.holes[:0]
	next := func(i int) {
		if more.from >= 0 {
			more.at = i
			al.holes = append(al.holes, more)
		}
		more.from = -1
	}
	for d := rounds; ; d-- {
		px, py, from := 0, 0, 0 // where round d-1 had come to; where what both share begins
		if d > 0 {
			at -= 2*d + 1 // where round d begins
			px, py = al.back(al.trace[at-(2*d-1):at], d, x-y)
			if from = px; px-py < x-y {
				from++
			}
		}
		for x > from {
			x, y = x-1, y-1
			next(x + 1)
			al.pair(&a[x], &b[y])
		}
		if d == 0 {
			break
		}
		if from > px {
			next(px + 1)
			al.markAmbiguous(&a[px])
		} else {
			if more.from < 0 {
				more.to = y
			}
			more.from = py
		}
		x, y = px, py
	}
	next(0)
	return al.part(a, b)
}

// part marks where b has more than a, as edits found it: what stands before and
// behind such a place is parted by an instruction in doubt. hole says that b
// ends with such.
func (al *aligner) part(a, b []item) (hole bool) {
	low := 0
	for k := len(al.holes) - 1; k >= 0; k-- {
		high := len(a)
		if k > 0 {
			high = al.holes[k-1].at
		}
		h := al.holes[k]
		switch i, ok := al.slide(a, b, h, low, high); {
		case ok:
			low = max(i, h.at)
			continue
		case al.between(a, h.at):
		case h.at == len(a):
			hole = true
		default:
			al.markAmbiguous(&a[h.at])
		}
		low = h.at
	}
	return hole
}

// between marks what stands between the last item of a that is in doubt and i,
// if that is no more than what would be in doubt behind i instead.
func (al *aligner) between(a []item, i int) bool {
	n, cost := i, 1
	if i < len(a) {
		cost = int(a[i].r.N)
	}
	for n > 0 && !a[n-1].parts() {
		if n--; i-n > cost {
			return false
		}
	}
	if n == 0 {
		return false
	}
	for k := n; k < i; k++ {
		al.markAmbiguous(&a[k])
	}
	return true
}

// gapIn is where flow b has more than flow a: its items [from, to), before
// item at of a.
type gapIn struct{ at, from, to int }

// slide finds a place for h, no further away than low and high. What stands on
// one side of that place is parted anyway, so that nothing more is in doubt.
// The items that b has more may as well lie one earlier if their last is the
// same as the item before them. They may lie one later if their first is the
// same as the item behind them. Where a loop runs more rounds, any of them may
// be the ones.
func (al *aligner) slide(a, b []item, h gapIn, low, high int) (at int, ok bool) {
	n := 0
	for i := h.at; ; n++ {
		if i-n > 0 && a[i-n-1].parts() {
			for k := 1; k <= n; k++ {
				al.join(&a[i-k], &b[h.to-k])
				al.unsettle(&a[i-k])
			}
			return i - n, true
		}
		if i-n <= low || b[h.to-n-1].parts() || !al.sameInsn(&a[i-n-1], &b[h.to-n-1]) {
			break
		}
	}
	n = 0
	for i := h.at; i+n < len(a); n++ {
		if a[i+n].parts() {
			for k := range n {
				al.join(&a[i+k], &b[h.from+k])
				al.unsettle(&a[i+k])
			}
			return i + n, true
		}
		if i+n >= high || b[h.from+n].parts() || !al.sameInsn(&a[i+n], &b[h.from+n]) {
			break
		}
	}
	return 0, false
}

// pieces is edits where too much differs: what both executed at the same place
// in the trace is compared, one place after the other.
func (al *aligner) pieces(a, b []item) (hole bool) {
	if one := func(l []item) bool { return len(l) == 0 || l[0].off() == l[len(l)-1].off() }; one(a) && one(b) {
		for i := range a {
			al.markAmbiguous(&a[i])
		}
		return len(a) == 0 && len(b) > 0
	}
	for len(a) > 0 || len(b) > 0 {
		off := int64(math.MaxInt64)
		if len(a) > 0 {
			off = a[0].off()
		}
		if len(b) > 0 {
			off = min(off, b[0].off())
		}
		var x, y []item
		x, a = cutAtOffset(a, off)
		y, b = cutAtOffset(b, off)
		if len(x) == 0 {
			hole = true
			continue
		}
		if hole && !x[0].parts() {
			al.markAmbiguous(&x[0])
		}
		hole = al.edits(x, y)
	}
	return hole
}

// cutAtOffset cuts list behind what lies at off.
func cutAtOffset(list []item, off int64) (head, tail []item) {
	n := 0
	for n < len(list) && list[n].off() <= off {
		n++
	}
	return list[:n], list[n:]
}

// back returns from where round d came to diagonal k: by an item of b from the
// diagonal above, or by one of a from the one below. prev is what round d-1 left.
func (al *aligner) back(prev []int32, d, k int) (x, y int) {
	above, below := int32(-1), int32(-1)
	if i := k + 1 + d - 1; i < len(prev) {
		above = prev[i]
	}
	if i := k - 1 + d - 1; i >= 0 {
		below = prev[i]
	}
	if k == -d || (k != d && below < above) {
		return int(above), int(above) - (k + 1)
	}
	return int(below), int(below) - (k - 1)
}

// differ runs Myers' greedy algorithm (E. Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986) and returns how many items a and b do
// not share; -1 if more than al.most. Round d leaves its 2d+1 reaches in trace.
func (al *aligner) differ(a, b []item) int {
	al.trace = al.trace[:0]
	mid := al.most + 1
	if cap(al.reach) < 2*mid+1 {
		al.reach = make([]int32, 2*mid+1)
	}
	v := al.reach[:2*mid+1]
	v[mid+1] = 0
	for d := 0; d <= al.most; d++ {
		al.work += d + 1
		start := len(al.trace)
		for i := 0; i < 2*d+1; i++ {
			al.trace = append(al.trace, -1)
		}
		for k := -d; k <= d; k += 2 {
			var x int
			if d == 0 {
				x = 0
			} else if k == -d || (k != d && v[mid+k-1] < v[mid+k+1]) {
				x = int(v[mid+k+1])
			} else {
				x = int(v[mid+k-1]) + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && al.sameInsn(&a[x], &b[y]) {
				x, y = x+1, y+1
			}
			v[mid+k] = int32(x)
			al.trace[start+k+d] = int32(x)
			if x >= len(a) && y >= len(b) {
				return d
			}
		}
	}
	return -1
}

// itemsSince appends what the flow that ends at n holds since from.
func (al *aligner) itemsSince(dst []item, n *node, from point) []item {
	path := al.pathSince(n, from)
	most := 0
	for _, n := range path {
		most += n.insns()
	}
	if cap(dst) < len(dst)+most {
		dst = slices.Grow(dst, most+most/4) // the next may have somewhat more
	}
	for _, n := range slices.Backward(path) {
		if n == from.n {
			dst = appendItems(dst, n, from.k)
		} else {
			dst = appendItems(dst, n, -1)
		}
	}
	for i := range dst {
		dst[i].i = int32(i)
	}
	al.work += len(dst)
	return dst
}

// pathSince returns the nodes of the flow that ends at n, the last one first, down to from's.
func (al *aligner) pathSince(n *node, from point) []*node {
	al.path = al.path[:0]
	for ; n != from.n; n = n.parent {
		al.path = append(al.path, n)
	}
	if n != nil {
		al.path = append(al.path, n)
	}
	return al.path
}

// insns returns how many items n has at most.
func (n *node) insns() (most int) {
	for i := range n.out.Ranges {
		most += int(n.out.Ranges[i].N)
	}
	return most + len(n.out.Notes)
}

// appendItems appends what n holds from its range k on; -1: all.
func appendItems(dst []item, n *node, k int) []item {
	notes := point{n, k}.notesBehind(n)
	for k := max(k, 0); k < len(n.out.Ranges); k++ {
		for ; len(notes) > 0 && notes[0].At <= k; notes = notes[1:] {
			dst = appendGap(dst, n, &notes[0])
		}
		r := &n.out.Ranges[k]
		ip := r.Block.Addr
		for i, l := range r.Block.Lens[:r.N] {
			dst = append(dst, item{ip: ip, r: r, len: l, mode: r.Block.Mode, n: n, k: int32(k), head: i == 0})
			ip += uint64(l)
		}
	}
	for k := range notes {
		dst = appendGap(dst, n, &notes[k])
	}
	return dst
}

func appendGap(dst []item, n *node, x *Note) []item {
	if x.Kind != NoteGap {
		return dst
	}
	return append(dst, item{at: x.Gap.Off, n: n})
}

// common returns where the paths that end at a and b part: the last node of
// both, nil if there is none.
func (al *aligner) common(a, b *node) *node {
	for ; a != b; al.work++ {
		if b == nil || a != nil && a.id >= b.id {
			a = a.parent
		} else {
			b = b.parent
		}
	}
	return a
}

// pair takes b for what a is in the other flow.
func (al *aligner) pair(a, b *item) {
	a.with = b.i + 1
	al.join(a, b)
}

// unsettle notes that a may be another item of the other flow than its pair.
func (al *aligner) unsettle(a *item) {
	if a.with > 0 {
		a.with = -a.with
	}
}

// join carries b's doubt over to a, which is the same, if not of the same text.
func (al *aligner) join(a, b *item) {
	if b.r == nil {
		return
	}
	al.widenTime(a, b)
	if b.r.Verdict == Ambiguous {
		al.markAmbiguous(a)
	}
	if !a.r.Either() && (b.r.Either() || a.r.Block.Span.Intersect(b.r.Block.Span).Empty()) {
		a.r.flags |= either
		al.touch(a.n)
	}
}
