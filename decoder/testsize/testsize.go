// Package testsize says how much a test has to try, where the real recordings
// are, and what their CPUs executed. Only tests import it.
//
// Tests have two forms. The small one is what make test runs. The full one is
// what make test-full runs, which sets PTDECODE_FULL=1 in the environment. A few
// tests can try even more, for minutes, where it says PTDECODE_FULL=all.
package testsize

import (
	"bytes"
	"encoding/binary"
	"os"
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

// Unpacked returns what a packed file holds (files.Unpack).
func Unpacked(t testing.TB, path string) []byte {
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
	b := Unpacked(t, path)
	ips := make([]uint64, len(b)/8)
	for i := range ips {
		ips[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return ips
}
