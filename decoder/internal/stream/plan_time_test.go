package stream

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestTimeOf would catch a segment whose time is not bounded by the timestamps
// of those around it, or by one that lies between. It would catch wrong bounds where
// the clock was set back, and an answer that depends on what was asked before.
func TestTimeOf(t *testing.T) {
	src := coresight.Config{Protocol: coresight.ETMv4, Arch: coresight.Arch{Major: 8, Profile: 'A'}}
	src.V4.IDR0, src.V4.CONFIGR = 8<<24, 1<<11|1
	var data []byte
	put := func(p etmv4.Packet) { data = p.Append(data) }
	for _, stamps := range [][]uint64{{}, {100, 200}, {}, {}, {300, 400, 500}, {}, {450}, {}} {
		put(etmv4.Packet{Kind: etmv4.ASync})
		put(etmv4.Packet{Kind: etmv4.TraceInfo, Arg: etmv4.PlctlInfo})
		put(etmv4.Packet{Kind: etmv4.TraceOn})
		at := etmv4.Packet{Kind: etmv4.AddrCtxt64, Extra: etmv4.InfoSF}
		at.SetAddress(0x1000)
		put(at)
		data = etmv4.AppendAtoms(data, 1, 1)
		for _, x := range stamps {
			put(etmv4.Packet{Kind: etmv4.Timestamp, N: 9, Value: x})
		}
	}
	want := []event.Time{{Lo: 0, Hi: 100}, {Lo: 0, Hi: 300}, {Lo: 200, Hi: 300}, {Lo: 200, Hi: 300}, {Lo: 0, Hi: 900},
		{Lo: 0, Hi: 900}, {Lo: 0, Hi: 900}, {Lo: 450, Hi: 900}} // the clock was set back before the last timestamp
	for _, order := range [][]int{{0, 1, 2, 3, 4, 5, 6, 7}, {7, 6, 5, 4, 3, 2, 1, 0}, {3, 0, 6, 7, 2, 5, 1, 4}} {
		st := &Stream{Protocol: ETMv4, Unit: src, Size: int64(len(data)), Data: Memory(data)}
		st.Begin(900, defaultHold)
		segs := slices.Collect(st.Segments())
		if len(segs) != len(want) {
			t.Fatalf("%d segments, want %d", len(segs), len(want))
		}
		for _, i := range order {
			if got := st.TimeOf(segs[i]); got != want[i] {
				t.Errorf("order %v: segment %d: %v, want %v", order, i, got, want[i])
			}
		}
	}
}
