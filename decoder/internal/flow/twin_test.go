package flow

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// addrs is a Sink that keeps the retired addresses and counts gaps.
type addrs struct {
	ips  []uint64
	gaps []event.Gap
}

func (a *addrs) Flow(b *Batch) error {
	for _, r := range b.Ranges {
		a.ips = r.Block.appendIPs(a.ips, int(r.N))
	}
	for _, n := range b.Notes {
		if n.Kind == NoteGap && n.Gap.Reason != event.OverflowGap {
			a.gaps = append(a.gaps, n.Gap)
		}
	}
	return nil
}

// twins compares what the walker found with what its twin found.
func twins(t *testing.T, name string, got addrs, want []uint64) {
	t.Helper()
	for _, g := range got.gaps {
		t.Fatalf("%s: %v", name, g.Error())
	}
	if i := apart(got.ips, want); i >= 0 {
		t.Fatalf("%s: instruction %d of %d (%d): got %x, want %x", name, i, len(want), len(got.ips),
			got.ips[i:min(i+8, len(got.ips))], want[i:min(i+8, len(want))])
	}
}

// apart returns where a and b differ first, or -1.
func apart(a, b []uint64) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

// thrice over the same events: blocks are built in the first, paths in the
// second, and used in the third.
var thrice = []string{"first", "second", "third"}

var ptRules = isa.Rules{Waypoints: isa.Set(isa.Cond), Returns: isa.ReturnsCompressed, Stack: 64}

// armRules are ETMv4's, with its return stack.
var armRules = isa.Rules{
	Waypoints: isa.Set(isa.Cond, isa.Jump, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.FarReturn, isa.Barrier),
	Raises:    isa.Set(isa.Syscall),
	Returns:   isa.ReturnsByOutcome,
	Stack:     15,
}

// TestTwinPrograms would catch a fast walk that takes a wrong turn anywhere. A
// machine that knows the truth runs 5,000 random programs. The naive walker
// and the fast one must both find that truth. The fast one must find it also a
// second and a third time, when what it keeps of the first is warm. Code is
// poked while tracing is off, so what is kept must not be used beyond its
// epochs. In every fourth program the trace unit filters by address.
func TestTwinPrograms(t *testing.T) {
	twinPrograms(t, ptRules, 10000, func(*machine) {})
}

// TestTwinArm would catch the same under ETMv4's rules. It would catch an
// outcome too few or too many at a branch, or a target that goes to the wrong
// branch. It would also catch a walker that pops more or less of its return
// stack than the trace unit did. It would catch one that does not count the
// targets that the trace states, over which doubt goes back. The trace unit's stack may be shallower than
// the walker's; without one every indirect branch has a target.
func TestTwinArm(t *testing.T) {
	twinPrograms(t, armRules, 2000, func(m *machine) { m.armed, m.depth = true, 1+m.r.IntN(15) })
	rules := armRules
	rules.Returns = isa.ReturnsByTarget
	twinPrograms(t, rules, 1000, func(m *machine) { m.armed, m.depth = true, 0 })
}

func twinPrograms(t *testing.T, rules isa.Rules, programs int, set func(*machine)) {
	programs = testsize.Of(t, programs/40, programs/3, programs)
	total, paths := 0, &Paths{misses: pathAfter}
	for seed := range programs {
		m := newMachine(uint64(seed), 8+seed%120)
		set(m)
		cfg := Config{ISA: x86.Decoder{}, Rules: rules, Mode: isa.Mode64}
		n := naive{text: &m.text, dec: x86.Decoder{}, rules: rules, mode: isa.Mode64}
		if seed%4 == 3 && !m.armed {
			m.filter()
			n.in, cfg.Traced = m.in, func(_ uint32, ip uint64) bool { return m.in(ip) }
		}
		steps := 400 + seed%700
		if m.armed {
			steps *= 4 // more than a batch
		}
		m.run(steps)
		total += len(m.ips)
		if err := n.run(m.evs); err != nil {
			t.Fatalf("seed %d: naive: %v", seed, err)
		}
		if i := apart(n.ips, m.ips); i >= 0 {
			t.Fatalf("seed %d: the naive walk leaves the truth at instruction %d of %d (%d)", seed, i, len(m.ips), len(n.ips))
		}
		w := NewWalker(&m.text, NewCache(), cfg)
		UsePaths(w, paths)
		if m.armed {
			w.exec.out.wait.probe = func(s stretch, _ *marks) {
				if _, n := s.backOver(heldBack, w.exec.out.wait.told); n != s.stated {
					t.Errorf("seed %d: %d stated targets counted, want %d", seed, s.stated, n)
				}
			}
		}
		for _, pass := range thrice {
			var got addrs
			src := events(slices.Clone(m.evs))
			if err := w.Run(&src, &got); err != nil {
				t.Fatal(err)
			}
			twins(t, fmt.Sprintf("seed %d, %s", seed, pass), got, m.ips)
		}
		stamps(t, w, seed, m.evs)
	}
	t.Logf("%d instructions", total)
	if total < programs*100 {
		t.Errorf("%d instructions in %d programs: the programs do too little", total, programs)
	}
}

// moments is a Sink that keeps the stamp of every instruction.
type moments []Stamp

func (m *moments) Flow(b *Batch) error {
	for _, r := range b.Ranges {
		for range r.N {
			*m = append(*m, b.Stamps[r.Stamp])
		}
	}
	return nil
}

// stamps compares when instructions were executed, and where the trace says so,
// as the fast walk and the careful one have it.
func stamps(t *testing.T, w *Walker, seed int, evs []event.Event) {
	var got, want moments
	fast, slow := events(slices.Clone(evs)), events(slices.Clone(evs))
	if err := w.Run(&fast, &got); err != nil {
		t.Fatal(err)
	}
	w.careful = true
	if err := w.Run(&slow, &want); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("seed %d: instruction %d of %d: the stamp is %+v, want %+v", seed, i, len(want), got[i], want[i])
		}
	}
}

// TestTwinRecordings would catch the same in what real programs do; both walk
// every segment of the user recordings, the fast one three times.
func TestTwinRecordings(t *testing.T) {
	for _, name := range testsize.Some(t, []string{"unzip", "foo", "avscript_32", "icelake_tip", "mruby", "qemu"}, 3) {
		t.Run(name, func(t *testing.T) { twinProgram(t, openProgram(t, name)) })
	}
}

func twinProgram(t *testing.T, p *program) {
	w := NewWalker(p.text, NewCache(), Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64})
	for _, s := range p.segments() {
		var evs []event.Event
		var e event.Event
		for d := pt.NewDecoder(p.Config, s); d.Next(&e); {
			evs = append(evs, e)
		}
		n := naive{text: p.text, dec: x86.Decoder{}, rules: ptRules, mode: isa.Mode64}
		if err := n.run(evs); err != nil {
			t.Fatalf("+%#x: naive: %v", s.Off, err)
		}
		for _, pass := range thrice {
			var got addrs
			src := events(slices.Clone(evs))
			if err := w.Run(&src, &got); err != nil {
				t.Fatal(err)
			}
			twins(t, pass, got, n.ips)
		}
	}
}
