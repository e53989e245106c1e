package decoder

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// agrees reports whether the trace cannot tell u, which was printed of stream i of s,
// from what was executed. It follows both from where the flow left what was executed
// up to where it came back, and from there on they are the same. In both, each
// conditional branch must go the same way, and each indirect one to the same address.
// It asks what each instruction is, one after the other, and shares nothing else with
// what it judges.
func (o *original) agrees(s *Session, i int, p *printed, u untruth) bool {
	if u.behind < 1 || u.back < 0 {
		return false
	}
	x := o.ran[i]
	t := p.parts[u.part].time
	return slices.Equal(tells(o.session, i, t, x.ips[u.behind-1:u.back+1]), tells(s, i, t, p.ips[u.from-1:u.to+1]))
}

// alike says of each of list, which was printed of stream i of s, whether the trace
// cannot tell it from what was executed (agrees). What one leaves of the outcomes
// another may use up: then several in one run are alike together.
func (o *original) alike(s *Session, i int, p *printed, list []untruth) []bool {
	const together = 8
	same := make([]bool, len(list))
	for k := range list {
		for j := k; j < min(k+together, len(list)) && !same[k] && p.oneRun(list[k].part, list[j].part); j++ {
			u := list[k]
			u.to, u.back = list[j].to, list[j].back
			if o.agrees(s, i, p, u) {
				for n := k; n <= j; n++ {
					same[n] = true
				}
			}
		}
	}
	return same
}

// oneRun reports whether parts i to j are claims with no gap between them.
func (p *printed) oneRun(i, j int) bool {
	return !slices.ContainsFunc(p.parts[i:j+1], func(q part) bool { return q.gap != nil || q.ambiguous })
}

// tells is what a trace tells of the instructions of path, which ran about time t. It
// tells a bit of a branch that has an outcome, and the address behind one whose target
// the code does not say.
func tells(s *Session, i int, t event.Time, path []uint64) (told []uint64) {
	st := s.Streams()[i]
	d, m, waypoints := s.instructions(st), st.FirstMode(isa.ModeUnknown), st.Rules().Waypoints
	at := s.EpochAt(t.Likely())
	b := make([]byte, d.MaxLen())
	for k, ip := range path[:len(path)-1] {
		next := path[k+1]
		var in isa.Insn
		if d.Decode(&in, b[:s.Code(b, 0, ip, at)], ip, m) != isa.OK {
			return append(told, ip, next)
		}
		fall := ip + uint64(in.Len)
		if waypoints.Has(in.Class) {
			bit := uint64(2) // an interrupt behind it: the path does not say which
			switch next {
			case fall:
				bit = 0
			case in.Target:
				bit = 1
			}
			told = append(told, bit)
		}
		switch in.Class {
		case isa.Jump, isa.Call, isa.Cond:
			if next != in.Target && (next != fall || in.Class != isa.Cond) {
				told = append(told, ip, next) // an interrupt
			}
		default:
			if next != fall {
				told = append(told, next)
			}
		}
	}
	return told
}

// TestTells would catch a twin that does not know what a trace tells. Of all that the
// CPUs of a recording executed it must tell the very outcomes that its packets have.
func TestTells(t *testing.T) {
	s := opened(t, Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", "kprobes", "perf.data")})
	got := flowed(t, s, prints{})
	for i, st := range s.Streams() {
		var want, told []uint64
		for _, e := range eventsOf(st) {
			for k := range e.N {
				want = append(want, e.Value>>(63-k)&1)
			}
		}
		p := got[i]
		for k := range p.parts {
			to := len(p.ips)
			if k+1 < len(p.parts) {
				to = p.parts[k+1].from + 1
			}
			for _, x := range tells(s, i, p.parts[k].time, p.ips[p.parts[k].from:to]) {
				switch {
				case x == 2 && len(told) < len(want):
					told = append(told, want[len(told)])
				case x < 2:
					told = append(told, x)
				}
			}
		}
		if !slices.Equal(told, want) {
			t.Errorf("stream %d: %d outcomes told, %d in the packets, or others", i, len(told), len(want))
		}
	}
}
