package perfdata

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestResident would catch a large file that stays in memory as a whole once it was read. It
// would also catch bytes that change as the process lets go of them, those of a mended
// header above all.
func TestResident(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what is resident, in /proc")
	}
	for _, damaged := range []bool{false, true} {
		path, trace := filepath.Join(t.TempDir(), "perf.data"), bytes.Repeat([]byte("0123456789abcdef"), 3<<20) // 48 MiB
		b := file{attrs: []tattr{usual}, data: auxtrace(0, 0, -1, 3, trace)}.bytes()
		if damaged {
			b[1] ^= 8
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(nil, path)
		if err != nil {
			t.Fatal(err)
		}
		s := &r.Streams()[0]
		for range 2 {
			for off := int64(0); off < s.Size; off += 1 << 20 {
				if !bytes.Equal(s.Bytes(off, 1<<20), trace[off:off+1<<20]) {
					t.Fatalf("the trace at %#x is not what was recorded", off)
				}
			}
		}
		if string(r.srcs[0].data[:8]) != magic2 {
			t.Error("the mended header is not what it was mended to")
		}
		if n := mappedBytes(t, path); !damaged && n > residentBytes+(4<<20) {
			t.Errorf("%d bytes of the file are resident, want %d at most", n, residentBytes)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// mappedBytes returns how many bytes of a file the process has resident.
func mappedBytes(t *testing.T, path string) (n int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		switch {
		case strings.Contains(f[0], "-"):
			inside = f[len(f)-1] == path
		case inside && f[0] == "Rss:":
			var kb int
			for _, c := range f[1] {
				kb = kb*10 + int(c-'0')
			}
			n += kb << 10
		}
	}
	return n
}
