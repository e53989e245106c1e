package calls_test

import (
	"maps"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestCallsOfRenamed would catch a call that has a name which its thread got while the call was in progress, or one that it had
// before. Thread 1 gets another name as the trace tells the time 126, and again at 181 and 246: at no switch.
func TestCallsOfRenamed(t *testing.T) {
	x := handMade{
		flow:    "@100 m0c f0. @150 f1c g0r f2r m1c h0. @200 h1r m2c f0. f1c g0. @300 g1r f3r m3c h0r m3.",
		threads: []uint64{0},
	}
	want := map[string]string{"f": "name4 name6", "g": "name5 name6", "h": "name5 name7", "main": "name4"}
	for _, cuts := range []uint64{0, ^uint64(0)} {
		for _, fast := range []bool{false, true} {
			s := x.session(t)
			got := map[string]string{}
			began := func(c *calls.Call) {
				if got[c.Sym] != "" {
					got[c.Sym] += " "
				}
				got[c.Sym] += c.Comm
			}
			tree := &calls.Tree{Session: s, Brief: fast, OnBegin: began, OnEnd: func(c *calls.Call) {}}
			for _, b := range x.batches(handBlocks{}, cuts) {
				if b != nil {
					_ = tree.Flow(b)
				}
			}
			if tree.Close(); !maps.Equal(got, want) {
				t.Errorf("batches end as %b says, brief %v: %v, want %v", cuts, fast, got, want)
			}
		}
	}
}
