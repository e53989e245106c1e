package calls_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestCallsOfRecordings would catch calls that are left out or made up, and entries from
// user space that are not at depth 0. For each function of real recordings it compares with
// how often the CPUs executed its first instruction. A breakpoint exception at it counts
// as well: the instruction that it stands for did not retire there.
func TestCallsOfRecordings(t *testing.T) {
	root := testsize.Recordings(t)
	for _, name := range []string{"kprobes", "tracepoints-coarse", "ftrace", "nomitig-late"} {
		if !testsize.Full(t) && name != "kprobes" {
			continue
		}
		dir := filepath.Join(root, "kernel-pokes-x86", name)
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(dir, "perf.data")})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		called, entries := map[uint64]int{}, 0
		tree := &calls.Tree{Session: s}
		tree.OnBegin = func(c *calls.Call) {
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
		}
		if err := s.Flow(context.Background(), decoder.Query{Merged: true}, tree); err != nil {
			t.Fatal(err)
		}
		tree.Close()
		ran := map[uint64]int{}
		for cpu := range 2 {
			for _, ip := range testsize.Executed(t, filepath.Join(dir, fmt.Sprintf("cpu%d.ips.zst", cpu))) {
				ran[ip]++
			}
		}
		functions := 0
		for _, ip := range slices.Sorted(maps.Keys(ran)) {
			y, off, ok := s.Symbols().Lookup(ip, 0)
			if !ok || off != 0 || called[ip] == 0 && (&rows.Place{Sym: y.Name}).LeadsOn() {
				continue
			}
			if functions++; called[ip] != ran[ip] {
				t.Errorf("%s: %s: %d calls, ran %d times", name, y.Name, called[ip], ran[ip])
			}
		}
		t.Logf("%s: %d functions, %d entries, %d unmatched, %d unwound", name, functions, entries, tree.Unmatched, tree.Unwound)
	}
}
