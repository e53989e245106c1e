package perfetto

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestSlices would catch packets of calls that differ from those that emit writes for the
// same event, among them the longest.
func TestSlices(t *testing.T) {
	for _, time := range []uint64{0, 1 << 20, 1<<64 - 1} {
		for _, id := range []uint64{1, 300, 1<<32 - 1} {
			for _, insns := range []uint64{0, 1<<7 - 1, 1 << 7, 1<<14 - 1, 1 << 14, 1<<64 - 1} {
				fast, slow := writer{notes: newCallNotes()}, writer{}
				s := sequence{id: id, track: firstTask + id, names: map[string]uint64{"f": 300}}
				parts := newSlices(&s)
				parts.goesTo(time ^ 1) // the time before has mostly as many bytes
				fast.sliceBegins(&parts, time, 300)
				slow.emit(&s, &trackEvent{kind: sliceBegin, time: time, name: "f", track: s.track})
				for v := decoder.Certain; v <= decoder.Ambiguous; v++ {
					for how := calls.InProgress; how <= calls.AtEnd; how++ {
						fast.sliceEnds(&parts, time, insns, v, how)
						slow.emit(&s, &trackEvent{kind: sliceEnd, time: time, track: s.track, notes: []note{
							{name: "instructions", n: insns}, textNote("verdict", v.String()), textNote("ended", how.String()),
						}})
					}
				}
				if !bytes.Equal(fast.out, slow.out) {
					t.Errorf("time %d, sequence %d, %d instructions:\n%x, want\n%x", time, id, insns, fast.out, slow.out)
				}
			}
		}
	}
}

// TestNameCache would catch a name that is taken for that of another sequence, or for one
// that the sequence has forgotten.
func TestNameCache(t *testing.T) {
	var w writer
	var n nameCache
	a, b := w.begin(0), w.begin(firstTask)
	if id := n.find(3, a); id != 0 {
		t.Errorf("before anything was kept: %d", id)
	}
	w.anew(a)
	n.keep(3, a, 5)
	if id := n.find(3, a); id != 5 {
		t.Errorf("%d, want 5", id)
	}
	w.anew(b)
	if id := n.find(3, b); id != 0 {
		t.Errorf("in the other sequence: %d", id)
	}
	if w.anew(a); n.find(3, a) != 0 {
		t.Error("it outlives the sequence's names")
	}
}

// TestNames would catch a name that is no UTF-8: protobuf's readers refuse such.
func TestNames(t *testing.T) {
	if got, want := stringField(nil, 2, "a\xffb"), stringField(nil, 2, "a\uFFFDb"); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
