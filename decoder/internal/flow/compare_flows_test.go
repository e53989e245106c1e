package flow

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// letters is a path of blocks of one to three instructions of one byte each,
// over few addresses, so that much of it runs alike by chance. Some follow each other in time.
func letters(rnd *rand.Rand, s []byte, doubt int) *node {
	n := &node{out: Batch{Stamps: make([]Stamp, 1)}}
	for len(s) > 0 {
		if st := n.out.Stamps[len(n.out.Stamps)-1]; rnd.IntN(3) == 0 {
			st.Time.Lo += rnd.Uint64N(5)
			st.Time.Hi = max(st.Time.Hi, st.Time.Lo+rnd.Uint64N(5))
			n.out.Stamps = append(n.out.Stamps, st)
		}
		k := min(1+rnd.IntN(3), len(s))
		for i := 1; i < k; i++ { // a block goes in a straight line
			if s[i] != s[i-1]+1 {
				k = i
				break
			}
		}
		b := &Block{Span: event.EveryEpoch, Addr: uint64(s[0]), N: uint16(k), Mode: isa.Mode64, Lens: []uint8{1, 1, 1}[:k]}
		r := Range{Block: b, N: uint16(k), Stamp: uint32(len(n.out.Stamps) - 1)}
		if doubt > 0 && rnd.IntN(doubt) == 0 {
			r.Verdict = Ambiguous
		}
		n.out.Ranges = append(n.out.Ranges, r)
		if doubt > 0 && rnd.IntN(4*doubt) == 0 {
			n.out.Notes = append(n.out.Notes, Note{Kind: NoteGap, At: len(n.out.Ranges)})
		}
		s = s[k:]
	}
	return n
}

// claimAt is that an instruction executed, and when.
type claimAt struct {
	ip byte
	at event.Time
}

// claimed returns the runs of instructions that n claims.
func claimed(n *node) (runs [][]claimAt) {
	var run []claimAt
	end := func() {
		if len(run) > 0 {
			runs = append(runs, run)
		}
		run = nil
	}
	for _, x := range (&aligner{comparing: new(comparing)}).itemsSince(nil, n, point{}) {
		if x.r == nil || x.r.Verdict == Ambiguous {
			end()
		} else {
			run = append(run, claimAt{byte(x.ip), x.stamp().Time})
		}
	}
	end()
	return runs
}

// bears reports whether all claims of a hold if those of b are what ran.
func bears(a, b []claimAt) bool {
	for i := range a {
		if a[i].ip != b[i].ip || b[i].at.Lo < a[i].at.Lo || a[i].at.Hi < b[i].at.Hi {
			return false
		}
	}
	return true
}

// holds reports whether every run of claims of a is, in order, part of a run
// of claims of b, with times within those of a.
func holds(a, b [][]claimAt) bool {
	at, i := 0, 0 // b[i][at:] is left
next:
	for _, run := range a {
		for ; i < len(b); i, at = i+1, 0 {
			for ; at+len(run) <= len(b[i]); at++ {
				if bears(run, b[i][at:at+len(run)]) {
					at += len(run)
					continue next
				}
			}
		}
		return false
	}
	return true
}

// TestDoubt would catch a claim that is left though the other flow did not
// execute it, or not next to what the claims say, or at another time. It would also catch doubt
// where both are the same, and times that go back.
func TestDoubt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	al := aligner{comparing: new(comparing)}
	for round := range testsize.Of(t, 5000, 20000) {
		al.most = []int{maxEdits, briefEdits, 1}[round%3]
		s := make([]byte, rnd.IntN(40))
		for i := range s {
			if s[i] = byte(rnd.IntN(6)); i > 0 && rnd.IntN(2) == 0 {
				s[i] = s[i-1] + 1
			}
		}
		edits := rnd.IntN(4)
		if len(s) > 4 && rnd.IntN(2) == 0 { // a loop, of which the flows run other rounds
			round := s[:1+rnd.IntN(4)]
			for i := range s {
				s[i] = round[i%len(round)]
			}
			edits *= 2
		}
		o := append([]byte(nil), s...)
		for range edits {
			from := rnd.IntN(len(o) + 1)
			to := min(len(o), from+rnd.IntN(4))
			o = append(append(append([]byte(nil), o[:from]...), make([]byte, rnd.IntN(4))...), o[to:]...)
		}
		doubt := rnd.IntN(2) * 6
		keep, other := letters(rnd, s, doubt), letters(rnd, o, doubt)
		was := len(claimed(keep))
		torn := al.doubtUnshared(keep, other)
		if got, want := claimed(keep), claimed(other); !holds(got, want) {
			t.Fatalf("round %d: %v is not in %v", round, got, want)
		}
		if !slices.IsSortedFunc(keep.out.Stamps, func(a, b Stamp) int { return min(cmp.Compare(a.Time.Lo, b.Time.Lo), cmp.Compare(a.Time.Hi, b.Time.Hi)) }) {
			t.Fatalf("round %d: times go back: %v", round, keep.out.Stamps)
		}
		// What both execute next stands next to the last claim unless torn says otherwise.
		last := Range{Block: &Block{Span: event.EveryEpoch, Addr: 0x7f, N: 1, Mode: isa.Mode64, Lens: []uint8{1}}, N: 1}
		for _, n := range []*node{keep, other} {
			last.Stamp = uint32(len(n.out.Stamps))
			n.out.Stamps = append(n.out.Stamps, Stamp{Time: event.Time{Lo: 1 << 20, Hi: 1 << 20}})
			n.out.Ranges = append(n.out.Ranges, last)
		}
		if !torn && !holds(claimed(keep), claimed(other)) {
			t.Fatalf("round %d: %v goes on where %v had more", round, claimed(keep), claimed(other))
		}
		if string(s) == string(o) && doubt == 0 && (torn || len(claimed(keep)) > max(was, 1)) {
			t.Fatalf("round %d: doubt between equals", round)
		}
	}
}

// flowOf is a flow of instructions of one byte, each a block of its own; those
// in doubt are written in upper case.
func flowOf(s string) (list []item) {
	n := &node{out: Batch{Stamps: make([]Stamp, 1)}}
	for i := range len(s) {
		r := Range{Block: &Block{Span: event.EveryEpoch, Addr: uint64(s[i] | 0x20), N: 1, Mode: isa.Mode64, Lens: []uint8{1}}, N: 1}
		if s[i] < 'a' {
			r.Verdict = Ambiguous
		}
		n.out.Ranges = append(n.out.Ranges, r)
	}
	return (&aligner{comparing: new(comparing)}).itemsSince(nil, n, point{})
}

// TestSlide would catch doubt of its own for a loop's round that one flow has
// more, next to a place that is in doubt already. It would also catch such a
// round put where the flows do not allow it.
func TestSlide(t *testing.T) {
	for _, x := range []struct {
		a, b      string
		h         gapIn // where b has more
		low, high int
		at        int // -1: it cannot lie anywhere else
	}{
		{"Qstu", "ststu", gapIn{3, 2, 4}, 0, 4, 1},
		{"Qstu", "ststu", gapIn{3, 2, 4}, 2, 4, -1}, // another gap lies there
		{"Qstu", "stxtu", gapIn{3, 2, 4}, 0, 4, -1},
		{"Qstu", "stStu", gapIn{3, 2, 4}, 0, 4, -1}, // what the other flow does not know either
		{"qstu", "ststu", gapIn{3, 2, 4}, 0, 4, -1},
		{"ustQ", "ustst", gapIn{1, 1, 3}, 0, 4, 3},
		{"ustQ", "ustst", gapIn{1, 1, 3}, 0, 2, -1},
		{"ustQ", "uxtst", gapIn{1, 1, 3}, 0, 4, -1},
		{"ustq", "ustst", gapIn{1, 1, 3}, 0, 4, -1},
	} {
		a, b := flowOf(x.a), flowOf(x.b)
		for i := range b {
			b[i].r.flags |= either
		}
		al := aligner{comparing: new(comparing), most: maxEdits}
		if at, ok := al.slide(a, b, x.h, x.low, x.high); ok != (x.at >= 0) || ok && at != x.at {
			t.Errorf("%s and %s, %v: at %d, %v; want %d", x.a, x.b, x.h, at, ok, x.at)
		}
		for i := range a { // what lies between is the other flow's other round
			if moved := x.at >= 0 && min(x.at, x.h.at) <= i && i < max(x.at, x.h.at); a[i].r.Either() != moved {
				t.Errorf("%s and %s, %v: item %d may be either: %v", x.a, x.b, x.h, i, a[i].r.Either())
			}
		}
	}
}

// TestBetween would catch two places in doubt where one will do, and more doubt
// for the sake of it.
func TestBetween(t *testing.T) {
	for _, x := range []struct {
		a    string
		i    int
		want string // "": not worth it
	}{
		{"Qst", 2, "QSt"},
		{"Qs", 2, "QS"},
		{"Qrst", 3, ""},
		{"qst", 2, ""}, // nothing is in doubt before
		{"st", 1, ""},
	} {
		a := flowOf(x.a)
		ok := (&aligner{comparing: new(comparing)}).between(a, x.i)
		got := ""
		for i := range a {
			c := byte(a[i].ip)
			if a[i].parts() {
				c &^= 0x20
			}
			got += string(c)
		}
		if ok != (x.want != "") || ok && got != x.want || !ok && got != x.a {
			t.Errorf("%s, hole at %d: %s, %v; want %q", x.a, x.i, got, ok, x.want)
		}
	}
}

// TestBriefEdits would catch a trial of other code that spends more on what is in doubt than on the flow: no
// one reads that there. What it leaves in no doubt has to be what the other flow ran, too.
func TestBriefEdits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	s, o := make([]byte, 1500), make([]byte, 1500)
	for i := range s {
		s[i], o[i] = byte(rnd.IntN(250)), byte(rnd.IntN(250))
	}
	work := map[bool]int{}
	for _, brief := range []bool{false, true} {
		cfg := Config{Brief: brief}
		al := aligner{comparing: new(comparing), most: cfg.mostEdits()}
		keep, other := letters(rnd, s, 0), letters(rnd, o, 0)
		al.doubtUnshared(keep, other)
		if got, want := claimed(keep), claimed(other); !holds(got, want) {
			t.Errorf("brief %v: %v is not in %v", brief, got, want)
		}
		work[brief] = al.work
	}
	if work[true]*10 > work[false] {
		t.Errorf("%d steps where no one reads what is in doubt, %d where it is read: need a tenth", work[true], work[false])
	}
}
