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
	root := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86")
	names := []string{"kprobes", "ftrace"}
	if testsize.Full(t) {
		names = append(names, "tracepoints", "tracepoints-coarse")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			s := kernelSession(t, name)
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
