package stream

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// byPlan finds the segments of st at once, piece by piece.
func byPlan(st *Stream) (segs []event.Segment) {
	from := int64(0)
	for _, end := range append(st.starts(), st.Size) {
		if end = min(end, st.Size); end <= from {
			continue
		}
		src := stretchOf{st.Data, from, end}
		part, _ := ptm.Plan(src, end-from, 0, ptmConfig(st, false))
		if st.Protocol == ETMv4 {
			part, _ = etmv4.Plan(src, end-from, 0, v4Config(st, false))
		}
		for i, g := range part {
			g.Off, g.End = g.Off+from, g.End+from
			g.Last, g.Ends, g.Starts = false, i == len(part)-1, i == 0
			segs = append(segs, g)
		}
		from = end
	}
	if n := len(segs); n > 0 {
		segs[n-1].Last = true
	}
	return segs
}

// TestBorders would catch segments of CoreSight that go on, or have a time from,
// beyond a loss or a place where the trace unit began anew. It would catch those
// that depend on the order in which they are asked for.
func TestBorders(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	v4 := "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80" + "\x01\x00\x04\x85\x00\x10\x00\x00\x00\x00\x00\x00\x31\xf7"
	sync := ptm.Packet{Kind: ptm.ISync}.Append([]byte("\x00\x00\x00\x00\x00\x80"))
	for round := range 200 {
		st := &Stream{Protocol: ETMv4}
		unit := coresight.Config{Protocol: coresight.ETMv4, Arch: coresight.Arch{Major: 8, Profile: 'A'}}
		if round%2 == 0 {
			st.Protocol, unit.Protocol = PTM, coresight.PTM
			unit.V3.CR, unit.V3.IDR = 1<<28, 0x411CF311
		}
		st.Unit = unit
		var data []byte
		for range 1 + r.IntN(40) {
			switch part := r.IntN(4); {
			case part == 0:
				data = append(data, bytes.Repeat([]byte{0xf7}, r.IntN(pageBytes))...)
			case st.Protocol == ETMv4:
				data = append(data, v4...)
			default:
				data = append(data, sync...)
				data = append(ptm.Packet{Kind: ptm.Timestamp, N: 9, Value: r.Uint64N(1 << 20)}.Append(data), 0x84)
			}
		}
		st.Size, st.Data = int64(len(data)), Memory(data)
		for range r.IntN(6) {
			at := r.Int64N(st.Size + 1)
			if r.IntN(2) == 0 {
				st.Restarts = append(st.Restarts, at)
			} else {
				st.Losses = append(st.Losses, Loss{Off: at, End: at})
			}
		}
		st.Begin(0, defaultHold)
		want := byPlan(st)
		for _, back := range []bool{true, false} {
			c := st.Cursor(back)
			for k := range want {
				if back {
					k = len(want) - 1 - k
				}
				g, ok := c.Next()
				if w := want[k]; !ok || !equalSegments(g, w) || g.Ends != w.Ends || g.Starts != w.Starts {
					t.Fatalf("round %d, back %v: segment %d: %+v, want %+v", round, back, k, g, w)
				}
			}
			if g, ok := c.Next(); ok {
				t.Fatalf("round %d, back %v: one segment more: %+v", round, back, g)
			}
		}
	}
}
