package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// letters is a path of blocks of one to three instructions of one byte each,
// over few addresses, so that much of it runs alike by chance.
func letters(rnd *rand.Rand, s []byte, doubt int) *node {
	n := &node{out: Batch{Stamps: make([]Stamp, 1)}}
	for len(s) > 0 {
		k := min(1+rnd.IntN(3), len(s))
		for i := 1; i < k; i++ { // a block goes in a straight line
			if s[i] != s[i-1]+1 {
				k = i
				break
			}
		}
		b := &Block{Span: event.EveryEpoch, Addr: uint64(s[0]), N: uint16(k), Mode: isa.Mode64, Lens: []uint8{1, 1, 1}[:k]}
		r := Range{Block: b, N: uint16(k)}
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

// claimed returns the runs of addresses that n claims.
func claimed(n *node) (runs [][]byte) {
	var run []byte
	end := func() {
		if len(run) > 0 {
			runs = append(runs, run)
		}
		run = nil
	}
	for _, x := range new(aligner).since(nil, n, nil) {
		if x.r == nil || x.r.Verdict == Ambiguous {
			end()
		} else {
			run = append(run, byte(x.ip))
		}
	}
	end()
	return runs
}

// holds reports whether every run of claims of a is, in order, part of a run
// of claims of b.
func holds(a, b [][]byte) bool {
	at, i := 0, 0 // b[i][at:] is left
next:
	for _, run := range a {
		for ; i < len(b); i, at = i+1, 0 {
			for ; at+len(run) <= len(b[i]); at++ {
				if string(b[i][at:at+len(run)]) == string(run) {
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
// execute it, or not next to what the claims say; and doubt where both are the
// same.
func TestDoubt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var al aligner
	for round := range 20000 {
		s := make([]byte, rnd.IntN(40))
		for i := range s {
			if s[i] = byte(rnd.IntN(6)); i > 0 && rnd.IntN(2) == 0 {
				s[i] = s[i-1] + 1
			}
		}
		o := append([]byte(nil), s...)
		for range rnd.IntN(4) {
			from := rnd.IntN(len(o) + 1)
			to := min(len(o), from+rnd.IntN(4))
			o = append(append(append([]byte(nil), o[:from]...), make([]byte, rnd.IntN(4))...), o[to:]...)
		}
		doubt := rnd.IntN(2) * 6
		keep, other := letters(rnd, s, doubt), letters(rnd, o, doubt)
		was := len(claimed(keep))
		torn := al.doubt(keep, other)
		if got, want := claimed(keep), claimed(other); !holds(got, want) {
			t.Fatalf("round %d: %v is not in %v", round, got, want)
		}
		// What both execute next stands next to the last claim unless torn says otherwise.
		last := []Range{{Block: &Block{Span: event.EveryEpoch, Addr: 0x7f, N: 1, Mode: isa.Mode64, Lens: []uint8{1}}, N: 1}}
		keep.out.Ranges = append(keep.out.Ranges, last...)
		other.out.Ranges = append(other.out.Ranges, last...)
		if !torn && !holds(claimed(keep), claimed(other)) {
			t.Fatalf("round %d: %v goes on where %v had more", round, claimed(keep), claimed(other))
		}
		if string(s) == string(o) && doubt == 0 && (torn || len(claimed(keep)) > max(was, 1)) {
			t.Fatalf("round %d: doubt between equals", round)
		}
	}
}
