package stream

import (
	"math"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/pt"
)

// TestAskedFor would catch a CYC or MTC that a damaged trace seems to hold and that tells the time though none was
// asked for. It would also catch one that was asked for and tells none.
func TestAskedFor(t *testing.T) {
	buf, err := pt.Assemble(nil, "psb\ntsc 10000\ntma 0 0\ncbr 10\nmode.exec l\nfup 6: 0x1000\npsbend\ntnt t\ncyc 100\nmtc 1\ntnt t\n")
	if err != nil {
		t.Fatal(err)
	}
	c := pt.Config{MTCFreq: 3, CTCNum: 80, CTCDen: 2, MaxNonTurboRatio: 20, Ahead: true}
	until := func(c pt.Config) uint64 {
		d := pt.NewDecoder(AskedFor(c), event.Segment{End: int64(len(buf)), Buf: buf, Time: event.Always})
		var e event.Event
		for d.Next(&e) {
			if e.Kind == event.Outcomes {
				return e.Time.Hi
			}
		}
		return 0
	}
	cyc, mtc, never := uint64(10000+100*2*17/16+1), uint64(10000+320+3), uint64(math.MaxUint64)
	for _, k := range []struct {
		tsc, mtc, cyc bool
		want          uint64
	}{{true, true, true, cyc}, {true, true, false, mtc}, {true, false, true, cyc}, {true, false, false, never}, {false, false, false, cyc}} {
		c.TSC, c.MTC, c.CYC = k.tsc, k.mtc, k.cyc
		if got := until(c); got != k.want {
			t.Errorf("TSC %v, MTC %v, CYC %v: until %d, want %d", k.tsc, k.mtc, k.cyc, got, k.want)
		}
	}
}
