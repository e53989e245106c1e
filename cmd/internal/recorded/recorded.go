// Package recorded opens real recordings for the tests of verbs. Only tests import it.
package recorded

import (
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Pokes opens the recording of a kernel that changes its code: one of the folder
// kernel-pokes-x86, by its name. dir also holds what the CPUs executed. The session is
// closed when the test ends. Without recordings the test skips.
func Pokes(t testing.TB, name string) (s *decoder.Session, dir string) {
	t.Helper()
	dir = filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name)
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(dir, "perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// Arm opens the snapshot of a kernel that changes its code: a window of the folder
// kernel-pokes-arm64, of a Cortex-A57. It is as Pokes otherwise.
func Arm(t testing.TB, window string) *decoder.Session {
	t.Helper()
	root := filepath.Join(testsize.Recordings(t), "kernel-pokes-arm64")
	s, err := decoder.Open(decoder.Config{
		Recording: filepath.Join(root, window, "fine"), Events: filepath.Join(root, window, "journal.jsonl"),
		Kallsyms: filepath.Join(root, "text", "a57.kallsyms"),
		Code:     []decoder.CodeFile{{Path: filepath.Join(root, "text", "a57.bin"), Addr: 0xffff800080010000}}, // as the snapshot says
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
