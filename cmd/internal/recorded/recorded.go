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
