package learn

import (
	"math"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
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

// TestBreakShown would catch a record that is believed of what lay before it, though the record
// before says another thing and no visit shows it. It would also catch a change without a
// record that is not found where a visit shows it.
func TestBreakShown(t *testing.T) {
	const site = 0xffffffff81000100
	nop, jump, other := []byte{0x66, 0x90}, []byte{0xeb, 0x05}, []byte{0xeb, 0x25}
	j, err := kcore.NewJournal([]kcore.Poke{
		{Time: 10, Begin: 10, End: 10, Addr: site, Old: nop, New: jump, Scheme: kcore.SchemeBP},
		{Time: 100, Begin: 100, End: 100, Addr: site, Old: other, New: nop, Scheme: kcore.SchemeBP},
	})
	if err != nil {
		t.Fatal(err)
	}
	img := &image.Image{}
	if err := img.AddBytes(site, append(slices.Clone(nop), make([]byte, 64)...)); err != nil {
		t.Fatal(err)
	}
	src := &Source{Text: kcore.NewText(j, img, kcore.TextOptions{}), Journal: j}
	for _, shown := range []bool{false, true} {
		d := &Decider{Try: func(_ *Visit, over []Idea) Outcome {
			if shown && slices.Equal(over[0].Code, jump) {
				return Outcome{}
			}
			return Outcome{Beyond: enough} // either code fits
		}}
		d.Place(src, []*Visit{{IP: site, Time: event.Time{Lo: 50, Hi: 51}, Unread: true}})
		if got := len(d.Held) == 1; got != shown {
			t.Errorf("shown %v: held %+v", shown, d.Held)
		}
	}
}
