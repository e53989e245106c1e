package report

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestTraps would catch a breakpoint exception that is missed or taken for an
// interrupt, and one given to the wrong poke or taken for another kind.
func TestTraps(t *testing.T) {
	names := []string{"kprobes", "ftrace"}
	if testsize.Full(t) {
		names = append(names, "tracepoints", "tracepoints-coarse")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { trapsAre(t, kernelSession(t, name), name) })
	}
}

// TestTrapsWithoutSymbols would catch traps that are taken for interrupts where no
// kallsyms says where the handler of INT3 begins.
func TestTrapsWithoutSymbols(t *testing.T) {
	for _, name := range []string{"kprobes", "tracepoints-coarse"} {
		t.Run(name, func(t *testing.T) {
			from, to := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "perf.data"), t.TempDir()
			if err := os.Mkdir(filepath.Join(to, "kcore_dir"), 0o777); err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"data", "kcore_dir/kcore", "kcore_dir/modules"} {
				if err := os.Symlink(filepath.Join(from, f), filepath.Join(to, f)); err != nil {
					t.Fatal(err)
				}
			}
			s, err := decoder.Open(decoder.Config{Recording: to})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			trapsAre(t, s, name)
		})
	}
}

// trapsAre compares all traps of s with those that the recording name took.
func trapsAre(t *testing.T, s *decoder.Session, name string) {
	traps, gaps, err := Traps(t.Context(), s, decoder.Query{})
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
	for _, f := range readTable(t, filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "traps.tsv")) {
		var cpu int32
		fmt.Sscan(f[0], &cpu)
		want[cpu] = append(want[cpu], strings.Join([]string{f[0], f[1], f[3], f[4]}, " "))
	}
	for cpu := range want {
		if slices.Equal(got[cpu], want[cpu]) {
			continue
		}
		t.Errorf("cpu%d: %d traps, want %d", cpu, len(got[cpu]), len(want[cpu]))
		for i := range max(len(got[cpu]), len(want[cpu])) {
			if g, w := at(got[cpu], i), at(want[cpu], i); g != w {
				t.Fatalf("trap %d: %s, want %s", i, g, w)
			}
		}
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
