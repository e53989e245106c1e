package decoder

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
)

// TestTraps would catch a breakpoint exception that is missed or taken for an
// interrupt, and one given to the wrong poke or taken for another kind.
func TestTraps(t *testing.T) {
	root := filepath.Join(dataDir(t), "kernel-pokes-x86")
	names := []string{"kprobes", "ftrace"}
	if testsize.Full(t) {
		names = append(names, "tracepoints", "tracepoints-coarse")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			s, err := Open(Config{Recording: filepath.Join(dir, "perf.data")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			traps, gaps, err := s.Traps(context.Background(), Query{})
			if err != nil || gaps > 0 {
				t.Fatalf("%d gaps, %v", gaps, err)
			}
			got := map[int32][]string{}
			for _, x := range traps {
				cpu, at := s.Streams()[x.Stream].CPU, uint64(0)
				if x.Poke >= 0 {
					at = s.Text().Poke(x.Poke).Time
				}
				got[cpu] = append(got[cpu], fmt.Sprintf("%d %016x %s %d", cpu, x.IP, x.Kind, at))
			}
			want := map[int32][]string{}
			for _, f := range readTable(t, filepath.Join(dir, "traps.tsv")) {
				var cpu int32
				fmt.Sscan(f[0], &cpu)
				want[cpu] = append(want[cpu], strings.Join([]string{f[0], f[1], f[3], f[4]}, " "))
			}
			for cpu := range want {
				if !slices.Equal(got[cpu], want[cpu]) {
					t.Errorf("cpu%d: %d traps, want %d", cpu, len(got[cpu]), len(want[cpu]))
					for i := range max(len(got[cpu]), len(want[cpu])) {
						g, w := at(got[cpu], i), at(want[cpu], i)
						if g != w {
							t.Fatalf("trap %d: %s, want %s", i, g, w)
						}
					}
				}
			}
		})
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// readTable reads a table with tabs between its columns, without its heading.
func readTable(t *testing.T, path string) (rows [][]string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan(); in.Scan(); {
		rows = append(rows, strings.Split(in.Text(), "\t"))
	}
	return rows
}

// TestPokesOfJournal would catch a poke that is left out, one that is broken
// and is not said to be, and one that is said to be and is not.
func TestPokesOfJournal(t *testing.T) {
	s, err := Open(Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", "journal", "perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ps := s.Pokes()
	if len(ps) != 695 {
		t.Errorf("%d pokes, want 695", len(ps))
	}
	kinds := map[kcore.Kind]int{}
	for i, p := range ps {
		kinds[p.Kind]++
		if bad := p.Broken != nil; bad != (p.Addr == 0xffffffffc0549094 && p.Time == 11244697897) {
			t.Errorf("poke %d at %#x: broken is %v", i, p.Addr, bad)
		}
		if p.Index != i || (i > 0 && p.Time < ps[i-1].Time) {
			t.Errorf("poke %d: index %d, time %d after %d", i, p.Index, p.Time, ps[i-1].Time)
		}
	}
	if kinds[kcore.KindUnknown] > 0 || len(kinds) < 6 {
		t.Errorf("kinds %v", kinds)
	}
}
