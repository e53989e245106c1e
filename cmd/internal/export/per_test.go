package export

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestPer would catch blocks that --per loses or that are in no part of the whole, and those
// of one system call among another's.
func TestPer(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")}
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	runVerb(t, New(testHost(c, io.Discard)), "-o", "pcs:"+filepath.Join(dir, "all"))
	want := linesOf(t, filepath.Join(dir, "all"))
	for _, per := range []string{perSyscall, perThread, perCPU} {
		runVerb(t, New(testHost(c, io.Discard)), "-o", "pcs:"+filepath.Join(dir, per), "--per", per)
		files, err := filepath.Glob(filepath.Join(dir, per, "*.pcs"))
		if err != nil || len(files) < 2 {
			t.Fatalf("--per %s: files %v, %v", per, files, err)
		}
		got := map[string]bool{}
		for _, f := range files {
			lines := linesOf(t, f)
			maps.Copy(got, lines)
			for _, of := range files {
				name := strings.TrimSuffix(filepath.Base(of), ".pcs")
				if at, ok := s.Symbols().Find("__x64_sys_" + name); per == perSyscall && ok && lines[fmt.Sprintf("0x%016x", at.Addr)] != (f == of) {
					t.Errorf("%s has the first block of %s: %v", filepath.Base(f), name, f != of)
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("--per %s: %d blocks in all files, want %d", per, len(got), len(want))
		}
	}
	for _, args := range [][]string{{"--per", "pid", "-o", "pcs:" + dir}, {"--per", "tid", "-o", "pcs:-"}, {"--per", "tid", "-o", "pprof:x"}} {
		v := New(testHost(c, io.Discard))
		v.SilenceErrors, v.SilenceUsage = true, true
		v.SetArgs(args)
		if err := v.Execute(); !errors.As(err, new(*decoder.CallError)) {
			t.Errorf("%q: %v, want an error of the call", args, err)
		}
	}
}

// linesOf returns the lines of a file.
func linesOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		all[strings.TrimSpace(line)] = true
	}
	return all
}
