package calls_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// textAt is where the code of the kernels of kernel-pokes-arm64 lies, as their snapshots say.
var textAt = map[string]uint64{"a57": 0xffff800080010000, "max": 0xffff9ad86fe10000}

// TestCallsOfRecordings would catch calls that are left out or made up, and entries from
// user space that are not at depth 0. Also slots of probes that are functions, and times outside of their bounds. For each function of real recordings it compares with
// how often the CPUs executed its first instruction. A breakpoint exception at it counts
// as well: the instruction that it stands for did not retire there.
func TestCallsOfRecordings(t *testing.T) {
	root := testsize.Recordings(t)
	names := []string{"kprobes", "a57-kprobe", "tracepoints-coarse", "ftrace", "nomitig-late", "a57-jump", "max-jump", "max-ftrace"}
	if !testsize.Full(t) {
		names = names[:2]
	}
	for _, name := range names {
		dir := filepath.Join(root, "kernel-pokes-x86", name)
		c := decoder.Config{Recording: filepath.Join(dir, "perf.data")}
		if kernel, _, _ := strings.Cut(name, "-"); textAt[kernel] != 0 {
			dir = filepath.Join(root, "kernel-pokes-arm64", name)
			text := filepath.Join(dir, "..", "text", kernel)
			c = decoder.Config{
				Recording: filepath.Join(dir, "fine"), AllBuffers: true, Events: filepath.Join(dir, "journal.jsonl"),
				Code: []decoder.CodeFile{{Path: text + ".bin", Addr: textAt[kernel]}}, Kallsyms: text + ".kallsyms",
			}
		}
		s, err := decoder.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		called, entries := map[uint64]uint64{}, 0
		tree := &calls.Tree{Session: s}
		tree.OnBegin = func(c *calls.Call) {
			if up := c.Caller; up != nil && up.How != calls.Unseen && (&rows.Place{Sym: up.Sym}).InSlot() {
				t.Errorf("%s: %s is called from %s, which is no function", name, c.Sym, up.Sym)
			}
			if c.How == calls.FromUser {
				if entries++; c.Depth != 0 {
					t.Errorf("%s: %s is entered from user space at depth %d", name, c.Sym, c.Depth)
				}
			}
		}
		tree.OnEnd = func(c *calls.Call) {
			if c.Ran {
				called[c.Addr]++
			}
			took, _, timed := c.Took()
			if in, ok := c.Total(); ok && timed && (took < in.Lo || took > in.Hi) {
				t.Errorf("%s: %s took %d ns, which is not in %v: it began in %v and ended in %v", name, c.Sym, took, in, c.Begin, c.End)
			}
		}
		if err := s.Flow(context.Background(), decoder.Query{Merged: true, Bounds: true}, tree); err != nil {
			t.Fatal(err)
		}
		tree.Close()
		ran := testsize.Ran(t, dir)
		for _, ip := range trapped(dir) {
			ran[ip]++
		}
		functions := 0
		for _, ip := range slices.Sorted(maps.Keys(ran)) {
			y, off, ok := s.Symbols().Lookup(ip, 0)
			if here := (&rows.Place{Sym: y.Name}); !ok || off != 0 || called[ip] == 0 && (here.LeadsOn(true) || here.CallsOn() || here.InSlot()) {
				continue
			}
			if functions++; called[ip] != ran[ip] {
				t.Errorf("%s: %s: %d calls, ran %d times", name, y.Name, called[ip], ran[ip])
			}
		}
		if name == "a57-kprobe" && tree.Unwound > 118 { // its threads switch without records; 22 returns are kretprobes' traps
			t.Errorf("%s: %d calls are unwound", name, tree.Unwound)
		}
		t.Logf("%s: %d functions, %d entries, %d unmatched, %d unwound", name, functions, entries, tree.Unmatched, tree.Unwound)
	}
}

// TestCallsWithin would catch a time that does not part what ran: the instructions and the time
// of calls before a moment and behind it come to those of all. It also compares the
// instructions with those of the ranges that lie in that time.
func TestCallsWithin(t *testing.T) {
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/kprobes/perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st := s.Streams()[0].Time()
	at := st.Lo + (st.Hi-st.Lo)/3
	var sums [3][2]uint64
	var ran [3]uint64
	var trees [3]*calls.Tree
	for i, span := range [][2]uint64{{0, 0}, {0, at}, {at + 1, 0}} {
		trees[i] = &calls.Tree{Session: s, From: span[0], Until: span[1], OnEnd: func(c *calls.Call) {
			_, self, _ := c.Took()
			sums[i][0] += c.Self
			sums[i][1] += self
		}}
	}
	sink := sinkFunc(func(b *decoder.Batch) error {
		for i, tree := range trees {
			for _, x := range b.Ranges {
				if in := b.Stamps[x.Stamp].Time; in.Hi >= tree.From && (tree.Until == 0 || in.Lo <= tree.Until) {
					ran[i] += uint64(x.N)
				}
			}
			if err := tree.Flow(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Flow(t.Context(), decoder.Query{Merged: true, Bounds: true}, sink); err != nil {
		t.Fatal(err)
	}
	for i, tree := range trees {
		tree.Close()
		if sums[i][0] != ran[i] || ran[i] == 0 {
			t.Errorf("part %d: calls have %d instructions, %d ran", i, sums[i][0], ran[i])
		}
	}
	if got := sums[1][1] + sums[2][1]; got+1000 < sums[0][1] || got > sums[0][1]+1000 || sums[1][1] == 0 {
		t.Errorf("%d and %d ns in the parts, %d ns in all", sums[1][1], sums[2][1], sums[0][1])
	}
}

// sinkFunc is a function that takes flow.
type sinkFunc func(*decoder.Batch) error

func (f sinkFunc) Flow(b *decoder.Batch) error { return f(b) }
