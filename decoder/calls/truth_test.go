package calls_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// simSession opens what a simulated machine gives a decoder.
func simSession(t *testing.T, r *sim.Run) *decoder.Session {
	t.Helper()
	f := recording.New(&recording.Config{})
	f.Meta.PT = r.PTConfig()
	f.Pokes, _ = r.Records()
	f.Breaks = r.Breaks()
	for _, p := range r.Start {
		f.Code = append(f.Code, recording.Code{Addr: p.Addr, Bytes: p.Bytes})
	}
	for i := range r.CPUs {
		b := r.CPUs[i].PT
		f.WrittenBy[int32(i)] = r.CPUs[i].Stop
		f.Streams = append(f.Streams, &stream.Stream{
			Protocol: stream.IntelPT, CPU: int32(i), TID: -1, Size: int64(len(b)),
			Data: stream.Memory(b),
		})
	}
	names := filepath.Join(t.TempDir(), "kallsyms")
	var lines bytes.Buffer
	for _, y := range r.Symbols {
		fmt.Fprintf(&lines, "%016x T %s\n", y.Addr, y.Name)
	}
	if err := os.WriteFile(names, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := decoder.OpenRecording(f, decoder.Config{Kallsyms: names})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// seen is a call as the tree tells of it.
type seen struct {
	calls.Call
	sym    string
	caller int // index of the call that it lies in; -1: none
}

// watch decodes s and returns the calls of each stream in the order in which they began. sure
// is false for streams with gaps, and where something is ambiguous.
func watch(t *testing.T, s *decoder.Session) (all [][]seen, sure []bool) {
	t.Helper()
	n := len(s.Streams())
	all, sure = make([][]seen, n), slices.Repeat([]bool{true}, n)
	tree := &calls.Tree{Session: s}
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
	tree.OnEnd = func(c *calls.Call) { all[c.Stream.Index][c.Tag].Call = *c }
	if err := s.Flow(context.Background(), decoder.Query{Merged: true, Bounds: true}, &doubts{tree, sure}); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	return all, sure
}

// doubts notes which streams are not sure.
type doubts struct {
	*calls.Tree
	sure []bool
}

// Flow looks for gaps and for what is ambiguous.
func (d *doubts) Flow(b *decoder.Batch) error {
	for i := range b.Notes {
		if b.Notes[i].Kind == decoder.NoteGap {
			d.sure[b.Stream] = false
		}
	}
	for i := range b.Ranges {
		if b.Ranges[i].Verdict == decoder.Ambiguous {
			d.sure[b.Stream] = false
		}
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
	case (g.How == calls.Jumped) != w.Tail && !(g.How == calls.Called && w.Tail):
		return fmt.Sprintf("began by %v, tail call %v", g.How, w.Tail)
	case !within(g.Begin, w.Begin):
		return fmt.Sprintf("began at %v, at %d", g.Begin, w.Begin)
	case w.End == 0 && g.Ended != calls.AtEnd && g.End.Hi < last: // a return at the very end may have been in the trace or not
		return fmt.Sprintf("ended by %v, went on", g.Ended)
	case w.End != 0 && g.Ended == calls.AtEnd:
		return fmt.Sprintf("ended by %v, at %d", g.Ended, w.End)
	case w.End != 0 && !within(g.End, w.End):
		return fmt.Sprintf("ended at %v, at %d", g.End, w.End)
	}
	return ""
}

// TestCallsTrue would catch calls that the tree makes up, misses, or nests wrongly, and times
// outside of the clock's bounds. A simulated machine says what lay on its stack at each
// instruction, with breakpoints, interrupts, changes to the code of all schemes and overflows.
func TestCallsTrue(t *testing.T) {
	first, n := uint64(0), uint64(testsize.Of(t, 20, 100))
	if v, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("FIRST"), 10, 64); err == nil {
		first = v
	}
	var sum, whole, streams, bad int
	for seed := first; seed < first+n; seed++ {
		r := sim.Simulate(sim.Draw(seed))
		s := simSession(t, r)
		all, sure := watch(t, s)
		for cpu := range r.CPUs {
			streams++
			want, got := r.Calls(cpu), all[cpu]
			sum += len(want)
			if !sure[cpu] {
				continue
			}
			whole++
			last := r.CPUs[cpu].Insns[len(r.CPUs[cpu].Insns)-1].Time
			for i := range max(len(got), len(want)) {
				if d := differs(r, got, want, i, last); d != "" {
					t.Errorf("seed %d, CPU %d (%v): call %d of %d (%d) %s", seed, cpu, r.Config.Timing, i, len(want), len(got), d)
					bad++
					break
				}
			}
		}
		if bad > 10 {
			break
		}
	}
	t.Logf("%d calls on %d CPUs, %d of which without gaps and doubts", sum, streams, whole)
}
