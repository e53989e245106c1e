// Package testsize says how much a test has to try, where the real recordings
// are, and what their CPUs executed. It also reads files for tests. Only tests import it.
//
// Tests have two forms. The small one is what make test runs. The full one is
// what make test-full runs, which sets PTDECODE_FULL=1 in the environment. A few
// tests can try even more, for minutes, where it says PTDECODE_FULL=all.
package testsize

import (
	"bytes"
	"encoding/binary"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/files"
)

// Full reports whether tests run in their full form. Where they do not, the
// log of t says so, and make test counts t among the small ones.
func Full(t testing.TB) bool {
	t.Helper()
	if os.Getenv("PTDECODE_FULL") != "" {
		return true
	}
	t.Log("small form: PTDECODE_FULL is not set")
	return false
}

// Of returns full where tests run in their full form, else small: how many
// seeds, rounds or bytes a test tries. all is what it tries where PTDECODE_FULL=all,
// if more than full.
func Of(t testing.TB, small, full int, all ...int) int {
	t.Helper()
	switch {
	case !Full(t):
		return small
	case len(all) > 0 && os.Getenv("PTDECODE_FULL") == "all":
		return all[0]
	}
	return full
}

// Some returns list where tests run in their full form, else n of it: the first, and others
// at even distances.
func Some[T any](t testing.TB, list []T, n int) []T {
	t.Helper()
	if Full(t) || n >= len(list) {
		return list
	}
	some := make([]T, n)
	for i := range some {
		some[i] = list[i*len(list)/n]
	}
	return some
}

// OnlyFull skips t where tests run in their small form.
func OnlyFull(t testing.TB) {
	t.Helper()
	if !Full(t) {
		t.Skip("full form only: PTDECODE_FULL is not set")
	}
}

// Recordings returns the folder of the real recordings, which PTDECODE_DATA
// names. Without it the test skips.
func Recordings(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("PTDECODE_DATA")
	if dir == "" {
		t.Skip("PTDECODE_DATA is not set: no recordings")
	}
	return dir
}

// Recorded returns the files among the recordings whose paths in their folder match
// pattern (filepath.Match). Where there is none the test skips.
func Recorded(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Recordings(t), pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("PTDECODE_DATA has no recordings %s", pattern)
	}
	return files
}

// Files gives the paths that match patterns (filepath.Match), and what lies there, unpacked
// (files.Unpack). The test fails where a pattern has none, or one that cannot be read.
func Files(t testing.TB, patterns ...string) iter.Seq2[string, []byte] {
	t.Helper()
	var names []string
	for _, pattern := range patterns {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: no file (%v)", pattern, err)
		}
		names = append(names, list...)
	}
	return func(yield func(string, []byte) bool) {
		for _, name := range names {
			if !yield(name, unpacked(t, name)) {
				return
			}
		}
	}
}

// unpacked returns what a packed file holds (files.Unpack).
func unpacked(t testing.TB, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := files.Unpack(bytes.NewReader(packed), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Executed returns the addresses of the instructions that a CPU of a real recording
// retired, in order. path names its list: packed words of 8 bytes, the lowest first.
func Executed(t testing.TB, path string) []uint64 {
	t.Helper()
	b := unpacked(t, path)
	ips := make([]uint64, len(b)/8)
	for i := range ips {
		ips[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return ips
}

// Ran returns how often the CPUs of a real recording of two retired the instruction at each
// address. dir is the recording's folder.
func Ran(t testing.TB, dir string) map[uint64]uint64 {
	t.Helper()
	ran := map[uint64]uint64{}
	lists, _ := filepath.Glob(filepath.Join(dir, "*cpu[01].ips.zst"))
	if len(lists) != 2 {
		t.Fatalf("%s: lists of what two CPUs retired: %q", dir, lists)
	}
	for _, list := range lists {
		for _, ip := range Executed(t, list) {
			ran[ip]++
		}
	}
	return ran
}
