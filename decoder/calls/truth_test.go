package calls_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/simrec"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// simSession opens what a simulated machine gives a decoder.
func simSession(t *testing.T, r *sim.Run) *decoder.Session {
	t.Helper()
	var names bytes.Buffer
	for _, y := range r.Symbols {
		fmt.Fprintf(&names, "%016x T %s\n", y.Addr, y.Name)
	}
	return named(t, simrec.Recording(r, r.Start), names.Bytes())
}

// seen is a call as the tree tells of it.
type seen struct {
	calls.Call
	sym    string
	caller int // index of the call that it lies in; -1: none
}

// watch decodes s and returns the calls of each stream in the order in which they began.
func watch(t *testing.T, s *decoder.Session) (all [][]seen, d *doubts) {
	t.Helper()
	n := len(s.Streams())
	all = make([][]seen, n)
	tree := &calls.Tree{Session: s, OnRan: func(*calls.Call, *decoder.BatchRange) {}} // each range by itself: the slow twin
	tree.OnBegin = func(c *calls.Call) {
		of := &all[c.Stream.Index]
		x := seen{sym: c.Sym, caller: -1}
		if c.Caller != nil {
			x.caller = int(c.Caller.Tag)
		}
		c.Tag = uint64(len(*of))
		x.Call = *c
		*of = append(*of, x)
	}
	d = &doubts{tree, slices.Repeat([]bool{true}, n), slices.Repeat([]map[uint64]int{nil}, n), false, map[string][3]uint64{}, nil}
	folds := map[string][3]uint64{}
	d.folds = &calls.Tree{Session: s, Fold: true, OnEnd: func(c *calls.Call) { add(folds, c) }}
	tree.OnEnd = func(c *calls.Call) {
		add(d.sums, c)
		all[c.Stream.Index][c.Tag].Call = *c
	}
	for i := range d.ran {
		d.ran[i] = map[uint64]int{}
	}
	tree.OnRestart = func() bool { // what was learned has the flow come once more
		for i := range d.ran {
			d.sure[i], all[i] = true, nil
			clear(d.ran[i])
		}
		clear(d.sums)
		clear(folds)
		return d.folds.Restart()
	}
	if err := s.Flow(context.Background(), decoder.Query{Merged: true, Bounds: true}, d); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	if d.stampsFall {
		t.Error("stamps of a batch's ranges do not count up: the merger passes over what lies between two equal ones")
	}
	if d.folds.Close(); !maps.Equal(folds, d.sums) {
		t.Errorf("calls, instructions and ns by function, folded and not:\n%v\n%v", folds, d.sums)
	}
	return all, d
}

// add adds a call to the sums of its function: calls, instructions, ns.
func add(sums map[string][3]uint64, c *calls.Call) {
	k := fmt.Sprintf("%s %x %v %v %v", c.Sym, c.Addr, c.Ran, c.Verdict >= decoder.Unconfirmed, c.Gap)
	ns, self, ok := c.Took()
	x := sums[k+fmt.Sprint(ok, ns == 0)]
	sums[k+fmt.Sprint(ok, ns == 0)] = [3]uint64{x[0] + c.Times, x[1] + c.Insns, x[2] + ns<<32 + self}
}

// doubts notes by stream what a tree of calls rests on.
type doubts struct {
	*calls.Tree
	sure []bool           // there are no gaps, and neither ranges nor traps are ambiguous
	ran  []map[uint64]int // how often each address was executed, or raised a breakpoint exception

	stampsFall bool // a range has an earlier stamp than the one before it

	sums  map[string][3]uint64 // by function
	folds *calls.Tree          // with Tree.Fold
}

// note looks for gaps and for what is ambiguous, and counts what ran.
func (d *doubts) note(b *decoder.Batch) {
	for i := range b.Notes {
		if b.Notes[i].Kind == decoder.NoteGap {
			d.sure[b.Stream] = false
		} else if b.Notes[i].Kind == decoder.NoteTrap {
			d.ran[b.Stream][b.Notes[i].Event.From]++
			d.sure[b.Stream] = d.sure[b.Stream] && b.Notes[i].Verdict != decoder.Ambiguous
		}
	}
	for i := range b.Ranges {
		x := &b.Ranges[i]
		d.stampsFall = d.stampsFall || i > 0 && x.Stamp < b.Ranges[i-1].Stamp
		addr := x.Block.Addr
		for _, l := range x.Block.Lens[:x.N] {
			d.ran[b.Stream][addr]++
			addr += uint64(l)
		}
		if x.Verdict == decoder.Ambiguous {
			d.sure[b.Stream] = false
		}
	}
}

// Flow notes what the calls rest on, and gives flow to both trees.
func (d *doubts) Flow(b *decoder.Batch) error {
	d.note(b)
	if err := d.folds.Flow(b); err != nil {
		return err
	}
	return d.Tree.Flow(b)
}

// within reports whether t, ticks, lies in bounds.
func within(b event.Time, t uint64) bool { return b.Lo <= t && t <= b.Hi }

// nameOf returns the name of the function that was called.
func nameOf(r *sim.Run, c *sim.Call) string {
	if c.Symbol < 0 {
		return ""
	}
	return r.Symbols[c.Symbol].Name
}

// withoutTrampolines leaves trampolines out of the calls of a CPU: what they called was called by
// the function outside of them.
func withoutTrampolines(r *sim.Run, all []sim.Call) (list []sim.Call) {
	at := make([]int, len(all)) // in list; of a trampoline, that of the call outside of it
	for i := range all {
		c := all[i]
		if c.Caller >= 0 {
			c.Caller = at[c.Caller]
		}
		c.Depth = 0
		if c.Caller >= 0 {
			c.Depth = list[c.Caller].Depth + 1
		}
		if at[i] = c.Caller; !(&rows.Place{Sym: nameOf(r, &c)}).CallsOn() {
			at[i] = len(list)
			list = append(list, c)
		}
	}
	return list
}

// differs says how the i-th call differs from the truth, "" where it does not. last is when
// the CPU's last instruction executed.
func differs(r *sim.Run, got []seen, want []sim.Call, i int, last uint64) string {
	switch {
	case i >= len(got):
		return "is not there"
	case i >= len(want):
		return "was none"
	}
	g, w := &got[i], &want[i]
	switch {
	case g.sym != nameOf(r, w):
		return fmt.Sprintf("is of %q, was of %q", g.sym, nameOf(r, w))
	case g.Ran != w.Ran:
		return fmt.Sprintf("ran %v, it did %v", g.Ran, w.Ran)
	case g.caller != w.Caller:
		return fmt.Sprintf("lies in call %d, did in %d", g.caller, w.Caller)
	case g.Depth != w.Depth:
		return fmt.Sprintf("is at depth %d, was at %d", g.Depth, w.Depth)
	case (g.How == calls.Jumped) != w.Tail && !(g.How == calls.Called && w.Tail) && (w.Caller >= 0 || g.sym != "__switch_to" && g.sym != "ret_from_fork"):
		return fmt.Sprintf("began by %v, tail call %v", g.How, w.Tail)
	case !within(g.Begin, w.Begin):
		return fmt.Sprintf("began at %v, at %d", g.Begin, w.Begin)
	case w.End == 0 && g.Ended != calls.AtEnd && g.End.Hi < last: // a return at the very end may have been in the trace or not
		return fmt.Sprintf("ended by %v, went on", g.Ended)
	case w.End != 0 && w.End < last && g.Ended == calls.AtEnd:
		return fmt.Sprintf("ended by %v, at %d", g.Ended, w.End)
	case w.End != 0 && !within(g.End, w.End):
		return fmt.Sprintf("ended at %v, at %d", g.End, w.End)
	}
	return ""
}

// seedsAsked returns the first seed that the environment asks for, and how many; else full and all are how
// many a test in its full form tries, and with PTDECODE_FULL=all.
func seedsAsked(t *testing.T, full, all int) (first, n uint64) {
	n = uint64(testsize.Of(t, 12, full, all))
	if v, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("FIRST"), 10, 64); err == nil {
		first = v
	}
	return first, n
}

// settled is seeds that are tried each time, by what the tree, or the comparison with it, once took for something else.
var settled = []uint64{
	835, 980, 1319, 1676, 5142, // a gap hides what came before a first instruction; a trap is open

	// A function jumps to its own first instruction, INT 0x80, which never retires.
	2916, 5980, 10444, 600213, 605033, 605724, 606518,

	10325, // a gap hides one interrupt before a first instruction, and another one comes

	// Behind a gap the flow goes on with a thunk, or a trampoline.
	1345, 5213, 6746, 7987, 500393, 600392, 604558, 609878,
}

// TestCallsTrue would catch calls that Tree.Fold loses or changes, and calls that the tree makes up, misses, or nests wrongly, and times
// outside of the clock's bounds. A simulated machine says what lay on its stack at each
// instruction, with breakpoints, interrupts, changes to the code of all schemes and overflows.
func TestCallsTrue(t *testing.T) {
	first, n := seedsAsked(t, 400, 1000)
	seeds := []uint64{}
	for seed := first; seed < first+n; seed++ {
		seeds = append(seeds, seed)
	}
	if n > 1 {
		seeds = append(seeds, settled...)
	}
	var sum judged
	for _, seed := range seeds {
		if sum.judge(t, sim.Simulate(sim.Draw(seed)), true); sum.bad > 10 {
			break
		}
	}
	sum.log(t)
}

// TestCallsTrueArm would catch the same of kernels for arm64, whose patches have other schemes. There
// a breakpoint may stand for any branch, which its handler takes. Where the trace was off for
// a while, or a transaction failed, only the counts of calls are compared.
func TestCallsTrueArm(t *testing.T) {
	first, n := seedsAsked(t, 400, 1000)
	seeds := []uint64{
		27,     // a tail call while no time is known
		70,     // a breakpoint in place of a return
		700123, // nothing settles which calls are in progress: a later return shows that they are other ones
		801094, // two flows have a call at different times
		60380,  // a handler's ambiguous return may be that of what it interrupted
	}
	for seed := first; seed < first+n; seed++ {
		seeds = append(seeds, seed)
	}
	var sum judged
	for _, seed := range seeds {
		c := sim.DrawA64(seed).WithETM()
		if c.Work &^= sim.WorkUndef; c.Work == 0 { // which no such kernel has
			c.Work = sim.WorkJump | sim.WorkKprobe
		}
		sum.judge(t, sim.SimulateA64(c), c.OVF == 0 && !c.Tx)
	}
	sum.log(t)
}

// judged is what was compared with the truth.
type judged struct {
	calls, streams, whole, bad int

	schemes map[string]int // pokes by scheme
}

// judge compares the calls of r's CPUs with its own: each of them, where exact is set and a
// CPU's flow has neither gaps nor doubts.
func (j *judged) judge(t *testing.T, r *sim.Run, exact bool) {
	t.Helper()
	seed, arm := r.Config.Seed, r.Config.Timing >= sim.A64Coarse
	if j.schemes == nil {
		j.schemes = map[string]int{}
	}
	for _, p := range r.Pokes {
		j.schemes[p.Scheme.String()]++
	}
	all, d := watch(t, simSession(t, r))
	for cpu := range r.CPUs {
		j.streams++
		want, got := withoutTrampolines(r, r.Calls(cpu)), all[cpu]
		j.calls += len(want)
		last := r.CPUs[cpu].Insns[len(r.CPUs[cpu].Insns)-1].Time
		if n := len(want); n == len(got)+1 && want[n-1].Begin > last { // it stopped before that call's first instruction
			want = want[:n-1]
		}
		timesRan(t, r, got, d.ran[cpu])
		if !arm || exact {
			doubtful(t, r, got, want, r.CallsAndThunks(cpu), last)
		}
		if !d.sure[cpu] || !exact {
			continue
		}
		j.whole++
		if !arm {
			spread(t, r, got, want)
		}
		for i := range max(len(got), len(want)) {
			if d := differs(r, got, want, i, last); d != "" {
				t.Errorf("seed %d, CPU %d (%v): call %d of %d (%d) %s", seed, cpu, r.Config.Timing, i, len(want), len(got), d)
				j.bad++
				break
			}
		}
	}
}

// log tells what was compared.
func (j *judged) log(t *testing.T) {
	t.Logf("%d calls on %d CPUs, %d of which without gaps and doubts; pokes %v", j.calls, j.streams, j.whole, j.schemes)
}

// timesRan judges what holds with gaps and doubts, too: each function was called as often as its
// first instruction is among what was decoded.
func timesRan(t *testing.T, r *sim.Run, got []seen, ran map[uint64]int) {
	t.Helper()
	count := map[string]int{}
	for i := range got {
		if got[i].Ran {
			count[got[i].sym]++
		}
	}
	for _, y := range r.Symbols {
		if n := count[y.Name]; n != ran[y.Addr] && !(&rows.Place{Sym: y.Name}).LeadsOn(true) && !(&rows.Place{Sym: y.Name}).CallsOn() {
			t.Errorf("seed %d: %d calls of %s, of which the first instruction ran %d times", r.Config.Seed, n, y.Name, ran[y.Addr])
		}
	}
}

// resumedAt reports whether w, a call before whose first instruction an interrupt came that a gap may hide, came
// to that instruction again at a moment. It ran then, or another interrupt came.
func resumedAt(at event.Time, w *sim.Call) bool {
	return within(at, w.RanAt) || slices.ContainsFunc(w.Again, func(t uint64) bool { return within(at, t) })
}

// doubtful judges what holds with gaps and doubts, too: a call that is certain throughout was one. Where
// a gap hides an interrupt before its first instruction, it begins as the flow comes back to that. Thunks and
// trampolines with which the flow goes on count by themselves: these are among all, as they are not in want.
func doubtful(t *testing.T, r *sim.Run, got []seen, want, all []sim.Call, last uint64) {
	t.Helper()
	for i := range got {
		g := &got[i]
		if g.sym == "" || !g.Ran || g.Gap || g.Ended != calls.Returned || g.Verdict > decoder.Exception {
			continue
		}
		of, here := want, rows.Place{Sym: g.sym}
		if g.How == calls.Resumed && g.Caller == nil && (here.LeadsOn(true) || here.CallsOn()) {
			of = all
		}
		if !slices.ContainsFunc(of, func(w sim.Call) bool {
			begins := within(g.Begin, w.Begin) || g.How == calls.Resumed && resumedAt(g.Begin, &w)
			return nameOf(r, &w) == g.sym && begins && (within(g.End, w.End) || w.End == 0 && g.End.Hi >= last)
		}) {
			t.Errorf("seed %d: a call of %s from %v to %v: there was none", r.Config.Seed, g.sym, g.Begin, g.End)
		}
	}
}

// spread would catch times whose quantiles are not those of the machine's own: sorted, each
// lies in the bounds of its rank.
func spread(t *testing.T, r *sim.Run, got []seen, want []sim.Call) {
	t.Helper()
	of := map[string][4][]uint64{} // bounds, times, the machine's times
	for i := range got {
		if took, self, ok := got[i].Took(); ok && i < len(want) && want[i].End != 0 {
			b, _ := got[i].Total()
			x := of[got[i].sym]
			of[got[i].sym] = [4][]uint64{append(x[0], b.Lo), append(x[1], took), append(x[2], b.Hi), append(x[3], want[i].End-want[i].Begin)}
			if self > took {
				t.Errorf("seed %d: a call of %s took %d, %d without callees", r.Config.Seed, got[i].sym, took, self)
			}
		}
	}
	for name, x := range of {
		for i := range x {
			slices.Sort(x[i])
		}
		for _, q := range []float64{0.5, 0.9, 0.99} {
			i := int(q * float64(len(x[0])-1))
			if x[0][i] > min(x[1][i], x[3][i]) || max(x[1][i], x[3][i]) > x[2][i] {
				t.Errorf("seed %d: quantile %v of %s is %d, was %d, bounds %d to %d", r.Config.Seed, q, name, x[1][i], x[3][i], x[0][i], x[2][i])
			}
		}
	}
}
