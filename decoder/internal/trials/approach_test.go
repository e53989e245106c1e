package trials

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
)

// TestWanted would catch a footing that is made though no other trial can begin there: code of the trial's last idea was
// read before, or there are enough. It would catch one that is not made though it is of use.
func TestWanted(t *testing.T) {
	over := learn.Over{{Addr: 0x1000, Code: []byte{1}}, {Addr: 0x5000, Code: []byte{1, 2}}}
	var got countOf
	reads := func(addrs ...uint64) *flow.Reads {
		w := new(flow.Watch)
		b := &flow.Batch{Stamps: []flow.Stamp{{}}}
		for i, a := range addrs {
			b.Ranges = append(b.Ranges, flow.Range{Block: &flow.Block{Addr: a, End: a + 1, N: 1, Number: uint32(i)}, N: 1})
		}
		if err := w.Sink(&got).Flow(b); err != nil {
			t.Fatal(err)
		}
		return &w.Reads
	}
	for _, c := range []struct {
		what     string
		over     learn.Over
		read     []uint64
		footings int
		want     bool
	}{
		{"nothing was read", over, nil, 0, true},
		{"other code", over, []uint64{0x3000, 0x7000}, mostFootings - 1, true},
		{"the last idea's", over, []uint64{0x3000, 0x5000}, 0, false},
		{"what is read with an instruction before it", over, []uint64{0x4ff8}, 0, false},
		{"an older idea's", over, []uint64{0x1000}, 0, true},
		{"without ideas", nil, []uint64{0x1000}, 0, true},
		{"enough", over, nil, mostFootings, false},
	} {
		a := &Approach{}
		for range c.footings {
			a.footings = append(a.footings, &Footing{Mark: &flow.Mark{}})
		}
		m := a.Marks(&Trial{V: &learn.Visit{Begin: 1 << 12}}, c.over, 0, nil)
		if m.Wanted(reads(c.read...)) != c.want {
			t.Errorf("%s: wanted %v, want %v", c.what, !c.want, c.want)
		}
	}
}
