package pt

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestTraps holds event times against the breakpoints that recordings are known to
// have taken, with the TSC of each. An Async from there must have a Time that holds
// it, no wider than the MTC period where there are MTCs. It would catch bounds that
// do not hold the moment, and bounds that hold everything.
func TestTraps(t *testing.T) {
	for _, list := range testsize.Recorded(t, "kernel-pokes-x86/*/traps.tsv") {
		f, err := os.Open(list)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		asyncs := map[string][]event.Event{}
		for cpu := range 2 {
			buf, err := os.ReadFile(filepath.Join(filepath.Dir(list), fmt.Sprintf("cpu%d.pt", cpu)))
			if err != nil {
				t.Fatal(err)
			}
			segs, _ := Segments(buf, cpu, realConfig())
			for _, s := range segs {
				for _, e := range decode(t, realConfig(), s) {
					if e.Kind == event.Async {
						key := fmt.Sprintf("%d %x", cpu, e.From)
						asyncs[key] = append(asyncs[key], e)
					}
				}
			}
		}
		held, missed, width := 0, 0, uint64(0)
		for r := bufio.NewScanner(f); r.Scan(); {
			var cpu int
			var addr, tsc uint64
			if _, err := fmt.Sscanf(strings.Join(strings.Fields(r.Text())[:3], " "), "%d %x %d", &cpu, &addr, &tsc); err != nil {
				continue // the heading
			}
			found := false
			for _, e := range asyncs[fmt.Sprintf("%d %x", cpu, addr)] {
				if e.Time.Lo <= tsc && tsc <= e.Time.Hi {
					found = true
					width = max(width, e.Time.Hi-e.Time.Lo)
				}
			}
			if found {
				held++
			} else {
				missed++
				t.Errorf("%s: no Async from %x on CPU %d at %d: %v", list, addr, cpu, tsc, asyncs[fmt.Sprintf("%d %x", cpu, addr)])
			}
		}
		t.Logf("%s: %d traps in their bounds, the widest %d ticks, %d not", filepath.Base(filepath.Dir(list)), held, width, missed)
		const period = 320 // ticks, in these recordings
		if !strings.Contains(list, "coarse") && width > period+2*edgeSlack+1 {
			t.Errorf("%s: a bound is %d ticks wide, MTCs are %d apart", list, width, period)
		}
		if held == 0 {
			t.Errorf("%s: no trap was read", list)
		}
	}
}
