package learn

import (
	"math"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestWhenever would catch code of two images that is contradicted before anything placed its
// change, and ends the learner, and a change that is put at any time twice.
func TestWhenever(t *testing.T) {
	h := &Held{Idea: Idea{Code: []byte{0x90}, Other: []byte{0xcc}}, At: []event.Time{{Lo: 5, Hi: 6}}}
	if !h.whenever() || *h.Change != (event.Time{Hi: math.MaxUint64}) || !slices.Equal(h.Was, h.Other) {
		t.Errorf("the change is %v and the code before %x, want any time and %x", h.Change, h.Was, h.Other)
	}
	if h.whenever() {
		t.Error("what may change at any time is given more time")
	}
}
