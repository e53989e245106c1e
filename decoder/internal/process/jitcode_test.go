package process

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDumpsBeside would catch dumps beside a recording that are looked for by name and not
// found by listing the folder, as is done for many processes.
func TestDumpsBeside(t *testing.T) {
	dir := t.TempDir()
	for _, pid := range []int{1, manyNames} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("jit-%d.dump", pid)), []byte("no dump"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range map[int32]int{manyNames - 1: 1, manyNames: 1, manyNames + 1: 2, 4 * manyNames: 2} {
		u := NewSpaces("", nil)
		u.Beside = []string{filepath.Join(dir, "jit-1.dump"), dir} // the first is no folder
		for pid := range n {
			u.Mapped(pid, Mapping{Addr: 0x1000, Len: 0x1000, Path: "/bin/one", Exec: true})
		}
		u.Seal()
		if len(u.Untimed) != want {
			t.Errorf("%d processes: %d damaged dumps, want %d", n, len(u.Untimed), want)
		}
	}
}
