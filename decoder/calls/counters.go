package calls

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/internal/cyclecount"
	"github.com/ptdecode/ptdecode/pt"
)

// countersOf returns what counts the cycles of a stream, nil where its packets have none.
func countersOf(st *decoder.Stream) *cycles {
	if st.Guest != 0 {
		return nil
	}
	switch u := st.Unit.(type) {
	case pt.Config:
		y := &cycles{st: st, packets: &cyclecount.PT{}}
		if !u.CYC {
			y.reach(st.Head)
			if y.reach(st.Head + firstCYC); y.now == 0 {
				return nil
			}
			*y = cycles{st: st, packets: &cyclecount.PT{}}
		}
		return y
	case coresight.Config:
		switch {
		case (u.Protocol == coresight.ETMv4 || u.Protocol == coresight.ETE) && u.V4.CycleCounts():
			return &cycles{st: st}
		case u.Protocol == coresight.ETMv3 && u.V3.CycleAccurate():
			f := (&etmv3.Config{Trace: u}).Format()
			return &cycles{st: st, with: 1, packets: &cyclecount.V3{Format: f}}
		case u.Protocol == coresight.PTM && u.V3.CycleAccurate():
			f := (&ptm.Config{Trace: u}).Format()
			return &cycles{st: st, with: 1, packets: &cyclecount.PTM{Format: f}}
		}
	}
	return nil
}
