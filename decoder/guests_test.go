package decoder

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/guests"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// TestGuestTruth would catch an instruction claimed of a hypervisor or of its virtual
// machine that the one did not execute, and much that is not followed. Each is told by
// one trace, and decoded with its own code and changes.
func TestGuestTruth(t *testing.T) {
	first, n := seeds(t, 12, 60)
	var all [2]scores
	for seed := first; seed < first+n; seed++ {
		host, guest := drawn(seed), drawn(seed+1000)
		guest.Timing, guest.MTCFreq, guest.NoRetComp, guest.OVF = host.Timing, host.MTCFreq, host.NoRetComp, host.OVF
		h, g := sim.SimulateGuest(host, guest)
		for i, r := range []*sim.Run{h, g} {
			s := simSession(t, r, r.Start)
			for _, st := range s.Streams() {
				st.Part = func(d stream.Decoder) stream.Decoder {
					return guests.NewPart(d, guests.Machine(i), func(*event.Event, uint64) guests.Machine { return 1 })
				}
			}
			got := decodeWith(t, r, s, Query{Jobs: 1})
			anywhere(got)
			all[i].compare(r, got, s.code.Load().text)
		}
	}
	for i, who := range []string{"host", "guest"} {
		for _, m := range all[i].trouble[:min(len(all[i].trouble), 8)] {
			t.Errorf("%s: %s", who, m)
		}
		t.Logf("%s\n%s", who, all[i].table())
	}
}

// anywhere has the flow go on behind an overflow where it may: not where the CPU was, but
// where the trace says again which machine it is in.
func anywhere(got steps) {
	for _, list := range got {
		for i := range list {
			if g := list[i].gap; g != nil {
				g.Reason = event.NoText
			}
		}
	}
}
