package perfetto

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestSlices would catch packets of calls that differ from those that emit writes for the
// same event, among them such as are longer than a byte can tell.
func TestSlices(t *testing.T) {
	for _, time := range []uint64{0, 1 << 20, 1<<64 - 1} {
		for _, track := range []uint64{1, firstTask + 7, 1 << 62} {
			for _, insns := range []uint64{0, 1<<7 - 1, 1 << 7, 1<<14 - 1, 1 << 14, 1<<64 - 1} {
				fast, slow := writer{notes: newCallNotes()}, writer{}
				s := sequence{id: track, names: map[string]uint64{"f": 300}}
				parts := newSlices(&s, track)
				parts.goesTo(time ^ 1) // the time before has mostly as many bytes
				c := &calls.Call{Insns: insns, Verdict: decoder.Unconfirmed, Ended: calls.AtEnd}
				fast.sliceBegins(&parts, time, 300)
				fast.sliceEnds(&parts, time, c)
				slow.emit(&s, &trackEvent{kind: sliceBegin, time: time, name: "f", track: track})
				slow.emit(&s, &trackEvent{kind: sliceEnd, time: time, track: track, notes: []note{
					{name: "instructions", n: insns}, textNote("verdict", "unconfirmed"), textNote("ended", "end of trace"),
				}})
				if !bytes.Equal(fast.out, slow.out) {
					t.Errorf("time %d, track %d, %d instructions:\n%x, want\n%x", time, track, insns, fast.out, slow.out)
				}
			}
		}
	}
	long := writer{out: []byte{0}}
	long.out = append(long.out, strings.Repeat("x", 128)...)
	if long.long(0); !bytes.HasPrefix(long.out, []byte{0x80, 1, 'x'}) || len(long.out) != 130 {
		t.Errorf("128 bytes begin with %x, %d in all", long.out[:3], len(long.out))
	}
}

// TestNameCache would catch a name that is taken for that of another sequence, or for one
// that the sequence has forgotten.
func TestNameCache(t *testing.T) {
	var w writer
	var n nameCache
	a, b := w.begin(), w.begin()
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
