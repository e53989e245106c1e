package perfetto

import (
	"bytes"
	"math"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ptdecode/ptdecode/cmd/internal/protofields"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/pt"
)

// cycleTrace is a trace of a jump to itself, 6 instructions to a packet: 6,000 in each
// stretch of 20,000 ticks, with the cycles given before each packet. Between the first stretch
// and the second, tracing is off for 50,000 cycles.
func cycleTrace(per ...uint64) (b []byte) {
	add := func(list ...pt.Packet) {
		for _, p := range list {
			b = p.Append(b)
		}
	}
	for i, n := range per {
		t := uint64(1<<20 + i*20_000)
		add(pt.Packet{Kind: pt.PSB}, pt.Packet{Kind: pt.ModeExec, Value: 1}, pt.Packet{Kind: pt.TSC, Value: t})
		if i > 0 {
			add(pt.Packet{Kind: pt.FUP, Arg: 3, Value: 0x1000})
		}
		add(pt.Packet{Kind: pt.PSBEND})
		if i == 0 {
			add(pt.Packet{Kind: pt.PGE, Arg: 3, Value: 0x1000})
		}
		for range 1000 {
			add(pt.Packet{Kind: pt.CYC, Value: n}, pt.Packet{Kind: pt.TNTShort, N: 6, Value: 0x3f})
		}
		if i == 0 {
			add(pt.Packet{Kind: pt.CYC, Value: 7}, pt.Packet{Kind: pt.TNTShort, N: 1}, pt.Packet{Kind: pt.PGD},
				pt.Packet{Kind: pt.CYC, Value: 50_000}, pt.Packet{Kind: pt.PGE, Arg: 3, Value: 0x1000})
		}
	}
	return b
}

// countersOf returns the values of counters of a trace, by track.
func countersOf(t *testing.T, b []byte) map[uint64][]float64 {
	t.Helper()
	by := map[uint64][]float64{}
	protofields.Each(t, b, func(_ protowire.Number, _ uint64, packet []byte) {
		protofields.Each(t, packet, func(n protowire.Number, _ uint64, event []byte) {
			if n != packetEvent {
				return
			}
			var track, kind uint64
			var value float64
			protofields.Each(t, event, func(n protowire.Number, v uint64, _ []byte) {
				switch n {
				case eventType:
					kind = v
				case eventTrack:
					track = v
				case eventCounter:
					value = math.Float64frombits(v)
				}
			})
			if kind == counter {
				by[track] = append(by[track], value)
			}
		})
	})
	return by
}

// TestCycles would catch a counter of instructions a cycle that is missing, or that is there
// though the trace counts no cycles. It would catch cycles of another stretch, or of what is not
// traced.
func TestCycles(t *testing.T) {
	for _, x := range []struct {
		per    []uint64
		cycles []float64 // instructions a cycle
	}{
		{[]uint64{3, 12, 20, 20}, []float64{2, .5, .3}},
		{[]uint64{0, 0, 0, 0}, nil},
	} {
		trace := cycleTrace(x.per...)
		if x.cycles == nil {
			trace = bytes.ReplaceAll(trace, pt.Packet{Kind: pt.CYC}.Append(nil), nil)
			trace = bytes.ReplaceAll(trace, pt.Packet{Kind: pt.CYC, Value: 7}.Append(nil), nil)
			trace = bytes.ReplaceAll(trace, pt.Packet{Kind: pt.CYC, Value: 50_000}.Append(nil), nil)
		}
		s, err := decoder.Open(decoder.Config{
			FS:   fstest.MapFS{"pt": {Data: trace}, "code": {Data: []byte{0x75, 0xfe, 0x90, 0xff, 0xe0}}},
			Raw:  []decoder.RawTrace{{Path: "pt", Protocol: decoder.IntelPT}},
			Code: []decoder.CodeFile{{Path: "code", Addr: 0x1000}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var b bytes.Buffer
		k := New(s, &b, Options{})
		if err := s.Flow(t.Context(), decoder.Query{Merged: true, NoLearn: true}, k); err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		by := countersOf(t, b.Bytes())
		speed, got := by[firstCPU+trackSpeed], by[firstCPU+trackCycles]
		if len(speed) != len(x.per)-1 {
			t.Errorf("cycles %d: instructions a µs are %v, want %d values", x.per, speed, len(x.per)-1)
		}
		if len(got) != len(x.cycles) {
			t.Fatalf("cycles %d: instructions a cycle are %v, want %v", x.per, got, x.cycles)
		}
		for i, v := range got {
			if math.Abs(v/x.cycles[i]-1) > .005 { // a packet more or less
				t.Errorf("cycles %d: instructions a cycle are %v, want %v", x.per, got, x.cycles)
			}
		}
	}
}
