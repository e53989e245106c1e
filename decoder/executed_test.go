package decoder

import (
	"context"
	"sort"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// executed is what a CPU of a recording truly executed.
type executed struct {
	ips []uint64
	// at says at which event of the stream the trace told of them, in order. It comes
	// from a decoding that is exact.
	at    []place
	times []event.Time    // of each of at
	ran   map[uint64]bool // addresses that are among ips
	syncs []int64         // offsets of the stream's sync points, bytes
	// size is how many bytes of trace tell of them, where that is asked.
	size int64
}

// place is where in what was executed, or printed, the part of an event begins.
type place struct {
	from int   // index of an instruction
	off  int64 // offset of the event in the stream, bytes
}

// around returns the bounds of what was executed at the event at off, at the one
// before it and at the one behind it.
func (x *executed) around(off int64) (from, to int) {
	i := sort.Search(len(x.at), func(i int) bool { return x.at[i].off >= off })
	j := i + 1
	if i < len(x.at) && x.at[i].off == off {
		j++
	}
	to = len(x.ips)
	if j < len(x.at) {
		to = x.at[j].from
	}
	if i > 0 {
		from = x.at[i-1].from
	}
	return from, to
}

// shortest is how many instructions in a row must have run that way for the flow to
// count as found again inside a run of claims.
const shortest = 8

// locate returns where the longest piece that run begins with was executed, from
// index k on, and its length; n is 0 if nowhere. off is the event at which run begins.
func (x *executed) locate(run []uint64, off int64, k int) (j, n int) {
	from, to := x.around(off)
	for i := max(k, from); i < to && n < len(run); i++ {
		if x.ips[i] != run[0] {
			continue
		}
		m := 1
		for m < len(run) && i+m < len(x.ips) && x.ips[i+m] == run[m] {
			m++
		}
		if m > n {
			j, n = i, m
		}
	}
	return j, n
}

// printed is what was decoded of one stream: the instructions, and parts of them.
type printed struct {
	ips   []uint64
	parts []part
	code  *code   // in which what comes is followed
	syncs []int64 // as executed has them, where that is asked
}

// part is instructions in a row of one event and one code, all claimed or all ambiguous; or a gap.
type part struct {
	place
	time      event.Time
	ambiguous bool
	gap       *event.Gap
	code      *code // in which it was followed, if that is kept
}

// prints is a sink that keeps what is printed, by stream.
type prints map[int]*printed

// Flow keeps b.
func (s prints) Flow(b *flow.Batch) error {
	p := s[b.Stream]
	if p == nil {
		p = &printed{}
		s[b.Stream] = p
	}
	notes := b.Notes
	for i := 0; i <= len(b.Ranges); i++ {
		for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
			if n := &notes[0]; n.Kind == flow.NoteGap {
				g := n.Gap
				p.parts = append(p.parts, part{place: place{len(p.ips), g.Off}, time: g.Time, gap: &g})
			}
		}
		if i == len(b.Ranges) {
			break
		}
		r := &b.Ranges[i]
		at := &b.Stamps[r.Stamp]
		k := len(p.parts) - 1
		if k < 0 || p.parts[k].gap != nil || p.parts[k].off != at.Off || p.parts[k].ambiguous != (r.Verdict == flow.Ambiguous) || p.parts[k].code != p.code {
			p.parts = append(p.parts, part{place: place{len(p.ips), at.Off}, time: at.Time, ambiguous: r.Verdict == flow.Ambiguous, code: p.code})
		}
		p.ips = appendOn(p.ips, r)
	}
	return nil
}

// codedPrints is prints of a session that keep in which code each part was followed.
type codedPrints struct {
	prints
	session *Session
}

// Flow keeps b.
func (s codedPrints) Flow(b *flow.Batch) error {
	if s.prints[b.Stream] == nil {
		s.prints[b.Stream] = &printed{}
	}
	s.prints[b.Stream].code = s.session.code.Load()
	return s.prints.Flow(b)
}

// newExecuted returns that a CPU executed ips, with no places yet.
func newExecuted(ips []uint64) *executed {
	x := &executed{ips: ips, ran: map[uint64]bool{}}
	for _, ip := range ips {
		x.ran[ip] = true
	}
	return x
}

// executedBy makes of an exact flow of s what each of its streams executed; ips gives
// the addresses that stream i truly executed.
func executedBy(t testing.TB, s *Session, ips func(i int) []uint64) (all []*executed) {
	t.Helper()
	got := prints{}
	if err := s.Flow(context.Background(), Query{}, got); err != nil {
		t.Fatal(err)
	}
	for i := range s.Streams() {
		x := newExecuted(ips(i))
		p := got[i]
		for k := range p.parts {
			if q := &p.parts[k]; q.gap == nil && (len(x.at) == 0 || x.at[len(x.at)-1].off < q.off) {
				x.at, x.times = append(x.at, q.place), append(x.times, q.time)
			}
		}
		same := len(p.ips) == len(x.ips)
		for k := 0; same && k < len(x.ips); k++ {
			same = p.ips[k] == x.ips[k]
		}
		if !same {
			t.Fatalf("stream %d: %d instructions decoded of %d, or others: no places can be told", i, len(p.ips), len(x.ips))
		}
		all = append(all, x)
	}
	return all
}

// claimCount counts what was printed against what was executed.
type claimCount struct {
	executed int // instructions
	claims   int // printed and not ambiguous
	wrong    int // of the claims, those that did not run where they are printed
	foreign  int // of the wrong ones, those at addresses where the CPU never ran anything
	seams    int // places inside a run of claims where what stands side by side did not run so
	// Printed as ambiguous, and those of them that ran.
	ambiguous, likely int
	missing           int // executed, and printed nowhere
	gaps              int
}

func (c *claimCount) add(o *claimCount) {
	c.executed, c.claims, c.wrong, c.foreign = c.executed+o.executed, c.claims+o.claims, c.wrong+o.wrong, c.foreign+o.foreign
	c.seams, c.ambiguous, c.likely = c.seams+o.seams, c.ambiguous+o.ambiguous, c.likely+o.likely
	c.missing, c.gaps = c.missing+o.missing, c.gaps+o.gaps
}

// untruth is claims in a row that did not run where they are printed; none where the
// two beside it did not run side by side.
type untruth struct {
	from, to int // of what is printed
	part     int // index of the part in which it begins
	behind   int // of what was executed: where the flow left it; -1: it was not found before
	back     int // of what was executed: where the flow comes back; -1: the run of claims ends first
	// The anchors between which it lies: of what is printed before and behind it, what was found
	// last and next. Ambiguous instructions may lie between, but no gap; nil: there is none.
	since, until *anchor
}

// anchor is a place in what is printed, and where that is in what was executed. before is the one that
// was found before it, with no gap between.
type anchor struct {
	printed, executed int
	before            *anchor
}

// judge compares what was printed of a stream with what was executed.
//
// A run is a maximal row of claims with no gap and nothing ambiguous in it. It must
// have been executed in one piece, behind all runs before it, beginning at the event
// that it is printed at or at one next to it. A run of which only a part was executed so counts
// as several pieces. The first may be of any length. One inside the run counts
// from 8 instructions on, or else they are wrong.
//
// It can be fooled in two ways. A false run that begins with instructions which did
// run at that event, or next to it, is believed as far as they go. Between two
// gaps, rounds of a loop at one event look alike.
func (c *claimCount) judge(p *printed, x *executed) (list []untruth) {
	seen := make([]bool, len(x.ips))
	c.executed += len(x.ips)
	k := 0
	var last *anchor // the end of what was found last, with no gap behind it; or where the trace states the flow behind one
	open := 0        // from this index on the next anchor of list is not known
	for i := 0; i < len(p.parts); {
		q := &p.parts[i]
		if q.gap != nil {
			c.gaps++
			i++
			last, open = p.resumed(i, x), len(list)
			continue
		}
		j := i + 1
		for j < len(p.parts) && p.parts[j].gap == nil && p.parts[j].ambiguous == q.ambiguous {
			j++
		}
		to := len(p.ips)
		if j < len(p.parts) {
			to = p.parts[j].from
		}
		if q.ambiguous {
			c.ambiguous += to - q.from
			c.likely += ambiguousRan(p, x, i, to, seen)
		} else {
			c.claims += to - q.from
			list, k = c.judgeRun(p, x, i, to, k, seen, list, &last, &open)
		}
		i = j
	}
	for _, s := range seen {
		if !s {
			c.missing++
		}
	}
	return list
}

// found is instructions [at, at+n) of what is printed that ran at instruction ran.
type found struct{ at, ran, n int }

// pieces finds what ran of the run that begins with part i and ends before instruction to, from
// instruction k of x on. What the run begins with may be short, unless doubted is true; what comes
// later in it is shortest at least. ran is how many instructions that is.
func (x *executed) pieces(p *printed, i, to, k int, doubted bool) (list []found, ran int) {
	first := !doubted
	for at := p.parts[i].from; at < to; {
		for i+1 < len(p.parts) && p.parts[i+1].from <= at {
			i++
		}
		j, n := x.locate(p.ips[at:to], p.parts[i].off, k)
		if n >= shortest || first && n > 0 {
			list, ran = append(list, found{at, j, n}), ran+n
			at, k = at+n, j+n
		} else {
			at++
		}
		first = false
	}
	return list, ran
}

// judgeRun is judge for the run that begins with part i and ends before instruction
// to. Everything executed before k is accounted for; next is the new k. last and open are
// judge's. The few instructions that the run begins with may have run at another place than where
// the rest did: then they are wrong.
func (c *claimCount) judgeRun(p *printed, x *executed, i, to, k int, seen []bool, list []untruth, last **anchor, open *int) (all []untruth, next int) {
	at := p.parts[i].from
	matches, ran := x.pieces(p, i, to, k, false)
	if len(matches) > 0 && matches[0].n < shortest && matches[0].at == at && ran < to-at {
		if others, more := x.pieces(p, i, to, k, true); more > ran {
			matches = others
		}
	}
	behind := -1
	for _, f := range append(matches, found{at: to}) {
		wrong := at < f.at
		if wrong || f.n > 0 && behind >= 0 {
			for ; i+1 < len(p.parts) && p.parts[i+1].from <= at; i++ {
			}
			list = append(list, untruth{from: at, to: f.at, part: i, behind: behind, back: -1, since: *last})
		}
		for ; at < f.at; at++ {
			c.wrong++
			if !x.ran[p.ips[at]] {
				c.foreign++
			}
		}
		if f.n == 0 {
			break
		}
		if wrong || behind >= 0 {
			c.seams++
			list[len(list)-1].back = f.ran
		}
		for s := f.ran; s < f.ran+f.n; s++ {
			seen[s] = true
		}
		for ; *open < len(list); *open++ {
			list[*open].until = &anchor{printed: at, executed: f.ran}
		}
		at, k, behind = at+f.n, f.ran+f.n, f.ran+f.n
		*last = &anchor{at, k, *last}
	}
	return list, k
}

// resumed is the place behind the first instruction of part i, with which the flow goes on behind a
// gap, where that ran in x at the very event. Then the trace states that it is there, also where it is
// ambiguous. nil: it did not run there.
func (p *printed) resumed(i int, x *executed) *anchor {
	if i >= len(p.parts) || p.parts[i].gap != nil {
		return nil
	}
	q := &p.parts[i]
	k := sort.Search(len(x.at), func(k int) bool { return x.at[k].off >= q.off })
	if k == len(x.at) || x.at[k].off != q.off || x.ips[x.at[k].from] != p.ips[q.from] {
		return nil
	}
	return &anchor{printed: q.from + 1, executed: x.at[k].from + 1}
}

// ambiguousRan marks what was executed of the ambiguous instructions of part i and
// those behind it, up to instruction to, and returns how many that are.
func ambiguousRan(p *printed, x *executed, i, to int, seen []bool) (ran int) {
	for at := p.parts[i].from; at < to; {
		for i+1 < len(p.parts) && p.parts[i+1].from <= at {
			i++
		}
		j, n := x.locate(p.ips[at:to], p.parts[i].off, 0)
		for s := j; s < j+n; s++ {
			seen[s] = true
		}
		at += max(n, 1)
		ran += n
	}
	return ran
}

// appendOn appends the addresses of r's instructions in order.
func appendOn(list []uint64, r *flow.Range) []uint64 {
	a := r.Block.Addr
	for _, l := range r.Block.Lens[:r.N] {
		list = append(list, a)
		a += uint64(l)
	}
	return list
}
