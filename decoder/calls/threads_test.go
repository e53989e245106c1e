package calls_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestCallsOfThreads would catch calls that stay behind as their thread leaves a CPU, or that
// another thread's returns end. It would catch cycles of when the thread did not run. The
// simulated machine has more threads than CPUs. They yield at system calls, in kernel threads
// and at interrupts, and go on on any CPU. It says what lay on each thread's stack. The
// kernel's records tell who comes, a little late.
func TestCallsOfThreads(t *testing.T) {
	var counted, sum, threads, unclear, moved, switches, whole, bad int
	first, n := seedsAsked(t, 500, 1000)
	seeds := []uint64{
		101160,      // a thread goes on before the flow of the CPU that it came from is there
		50328,       // records come late for a thread that left calls in progress elsewhere
		9108, 10482, // a function jumps to its own first instruction, INT 0x80, which never retires
	}
	for seed := first; seed < first+n; seed++ {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		if bad > 10 {
			break
		}
		c := sim.DrawThreads(seed)
		r := sim.Simulate(c)
		s := simSession(t, r)
		got, sure, d := watchThreads(t, s)
		switches += len(r.Switches) - len(r.CPUs)
		on, elsewhere := map[int32]int{}, map[int32]bool{}
		for _, w := range r.Switches {
			if cpu, ok := on[w.TID]; ok && cpu != w.CPU {
				moved++
				elsewhere[w.TID] = true
			}
			on[w.TID] = w.CPU
		}
		for _, y := range r.Symbols {
			called, ran := d.called[y.Name], d.ran[y.Addr]
			if called != ran && !(&rows.Place{Sym: y.Name}).LeadsOn(true) && !(&rows.Place{Sym: y.Name}).CallsOn() {
				t.Errorf("seed %d: %d calls of %s, of which the first instruction ran %d times", seed, called, y.Name, ran)
				bad++
			}
		}
		if !sure {
			continue
		}
		whole++
		for tid, want := range r.ThreadCalls() {
			ran := r.CPUs[on[tid]].Insns
			last := ran[len(ran)-1].Time
			if c.Timing != sim.CYC && elsewhere[tid] || slices.ContainsFunc(got[tid], func(g seen) bool { return g.Gap }) {
				unclear++
				continue
			}
			threads++
			want, got := withoutTrampolines(r, want), got[tid]
			sum += len(want)
			for i := range max(len(got), len(want)) {
				if i < len(got) && i < len(want) && got[i].Counted && want[i].End != 0 {
					counted++
					if most := mostCycles(r, tid, &got[i]); got[i].Cycles > most {
						t.Errorf("seed %d, thread %d: call %d of %s has %d cycles, at most %d passed", seed, tid, i, got[i].sym, got[i].Cycles, most)
						bad++
					}
				}
				if d := differs(r, got, want, i, last); d != "" {
					t.Errorf("seed %d, thread %d, %d CPUs (%v): call %d of %d (%d) %s", seed, tid, len(r.CPUs), c.Timing, i, len(want), len(got), d)
					bad++
					break
				}
			}
		}
	}
	t.Logf("%d seeds, %d without gaps and doubts: %d calls of %d threads, %d more are unclear; %d switches, %d to another CPU; %d calls with cycles", n, whole, sum, threads, unclear, switches, moved, counted)
	if switches == 0 || n >= 20 && moved == 0 {
		t.Error("no thread was switched, or none went on on another CPU")
	}
}

// threadDoubts notes what the calls of threads rest on.
type threadDoubts struct {
	*calls.Tree
	sure   bool
	ran    map[uint64]int
	called map[string]int
}

// Flow looks for gaps and for what is ambiguous, and counts what ran.
func (d *threadDoubts) Flow(b *decoder.Batch) error {
	one := doubts{Tree: d.Tree, sure: []bool{d.sure}, ran: []map[uint64]int{d.ran}, folds: nil}
	x := *b
	x.Stream = 0
	one.note(&x)
	d.sure = one.sure[0]
	return d.Tree.Flow(b)
}

// watchThreads decodes s and returns the calls of each thread in the order in which they began.
// sure is true where nothing is lost or in doubt.
func watchThreads(t *testing.T, s *decoder.Session) (all map[int32][]seen, sure bool, d *threadDoubts) {
	t.Helper()
	var list []seen // in the order in which they began, callers by their index
	tree := &calls.Tree{Session: s}
	d = &threadDoubts{tree, true, map[uint64]int{}, map[string]int{}}
	tree.OnBegin = func(c *calls.Call) {
		x := seen{sym: c.Sym, caller: -1}
		if c.Caller != nil {
			x.caller = int(c.Caller.Tag)
		}
		c.Tag = uint64(len(list))
		x.Call = *c
		list = append(list, x)
	}
	tree.OnEnd = func(c *calls.Call) {
		if c.Ran {
			d.called[c.Sym]++
		}
		list[c.Tag].Call = *c
	}
	tree.OnRestart = func() bool {
		d.sure = true
		clear(d.ran)
		clear(d.called)
		list = nil
		return true
	}
	if err := s.Flow(context.Background(), decoder.Query{Merged: true, Bounds: true}, d); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	all = map[int32][]seen{}
	at := make([]int, len(list)) // of its thread's: whose stack a call lies on may turn out while it is in progress
	for i := range list {
		x := &list[i]
		if x.caller >= 0 {
			x.caller = at[x.caller]
		}
		at[i] = len(all[x.TID])
		all[x.TID] = append(all[x.TID], *x)
	}
	return all, d.sure, d
}

// mostCycles returns how many cycles may have passed in c at most while its thread ran. Each
// CPU has a clock of its own.
func mostCycles(r *sim.Run, tid int32, c *seen) (n uint64) {
	for i, w := range r.Switches {
		if w.TID != tid {
			continue
		}
		until := r.CPUs[w.CPU].Stop
		for _, next := range r.Switches[i+1:] {
			if next.CPU == w.CPU {
				until = next.Time
				break
			}
		}
		if from, to := max(w.Time, c.Begin.Lo), min(until, c.End.Hi); from < to {
			n += (to-from+switchTicks)*uint64(rateOf(r.CPUs[w.CPU].PT))/sim.NomFreq + 2
		}
	}
	return n
}

// switchTicks is how far the places in the trace lie from a switch, between which cycles count.
const switchTicks = 300

// TestInterruptedAtStart would catch an interrupt that stays on the stack though it returned: that
// which the trace of an idle CPU begins with. As far as anybody knew it might have come from user
// space. Where it returns to shows that it did not.
func TestInterruptedAtStart(t *testing.T) {
	const cpu, handler, leaves = 1, "asm_sysvec_apic_timer_interrupt", "native_irq_return_iret"
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/tracepoints-coarse/perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first, idle := "", 0
	tree := &calls.Tree{Session: s, OnBegin: func(c *calls.Call) {
		if c.Stream.CPU != cpu {
			return
		}
		if first == "" {
			first = c.Sym
		}
		if c.Sym == "do_idle" {
			idle++
		}
		for up := c.Caller; up != nil; up = up.Caller {
			if up.Sym == leaves && c.How != calls.Interrupted {
				t.Errorf("%s (%v) lies in %s", c.Sym, c.How, up.Sym)
			}
		}
	}}
	if err := s.Flow(context.Background(), decoder.Query{Merged: true}, tree); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	if first != handler || idle == 0 {
		t.Errorf("the trace begins in %q, need %s; %d calls of do_idle", first, handler, idle)
	}
}
