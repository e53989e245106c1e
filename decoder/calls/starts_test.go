package calls_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestStartsInTrampoline would catch an entry from user space where tracing comes on at the first instruction of a
// trampoline. The calls in progress would end there, and what it calls would have no caller.
func TestStartsInTrampoline(t *testing.T) {
	x := handMade{
		flow:    "@100 s0. s1j m0. m1c f0. f1c off @150 on b0. b1c g0. g1r b2r f2. f3r m2.",
		threads: []uint64{0},
	}
	want := []string{"g call return < f", "f call return < main"}
	s := x.session(t)
	var got []string
	tree := &calls.Tree{Session: s, OnEnd: func(c *calls.Call) {
		if c.Caller != nil {
			got = append(got, fmt.Sprint(c.Sym, " ", c.How, " ", c.Ended, " < ", c.Caller.Sym))
		}
	}}
	for _, b := range x.batches(handBlocks{}, 0) {
		if b != nil {
			_ = tree.Flow(b)
		}
	}
	if tree.Close(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
