package flow

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestPrune would catch evidence that is kept one by one although the floor covers
// it, and a floor that stops short of evidence that lies right above it.
func TestPrune(t *testing.T) {
	for _, c := range []struct {
		floor, want event.Epoch
		known, left []event.Epoch
	}{
		{3, 3, []event.Epoch{1, 2}, nil},
		{3, 5, []event.Epoch{2, 3, 4, 7}, []event.Epoch{7}},
		{0, 0, []event.Epoch{1, 2}, []event.Epoch{1, 2}},
	} {
		x := thread{evidence: evidence{floor: c.floor, known: slices.Clone(c.known)}}
		if x.prune(); x.floor != c.want || !slices.Equal(x.known, c.left) {
			t.Errorf("floor %d, %v: floor %d, %v", c.floor, c.known, x.floor, x.known)
		}
	}
}

// TestWeaken would catch knowledge that a flow keeps although the other one, which
// may be the true one, does not have it, and knowledge that both have and one loses.
func TestWeaken(t *testing.T) {
	a := thread{evidence: evidence{floor: 5, known: []event.Epoch{7, 9}, ran: []event.Epoch{4, 7}, date: 50, synced: 30}}
	b := thread{evidence: evidence{floor: 2, known: []event.Epoch{3, 7}, ran: []event.Epoch{7}, date: 40, synced: 60, hi: 12}}
	a.weaken(&b)
	if a.floor != 2 || !slices.Equal(a.known, []event.Epoch{3, 7}) || !slices.Equal(a.ran, []event.Epoch{7}) || a.date != 40 || a.synced != 30 || a.hi != 12 {
		t.Errorf("%+v", a.evidence)
	}
	for i := range 12 {
		if a.knows(i) != b.knows(i) {
			t.Errorf("poke %d: %v, the other %v", i, a.knows(i), b.knows(i))
		}
	}
}
