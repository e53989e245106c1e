package export

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/cmd/internal/vmlinux"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestVmlinux would catch addresses of the kernel that are not its vmlinux's. This kernel ran
// elsewhere (KASLR): there an emulator's log has what is at the addresses of branches. It would catch
// coverage without lines that does not say what this vmlinux lacks.
func TestVmlinux(t *testing.T) {
	testsize.OnlyFull(t)
	dir := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86")
	packed, err := os.Open(filepath.Join(dir, "vmlinux.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := zstd.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	file, out := filepath.Join(t.TempDir(), "vmlinux"), filepath.Join(t.TempDir(), "bolt")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, z); err != nil {
		t.Fatal(err)
	}
	k, err := vmlinux.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	c := decoder.Config{Recording: filepath.Join(dir, "kprobes", "perf.data")}
	h, said := testHost(c, io.Discard), ""
	h.Vmlinux = &file
	runVerb(t, New(h), "--object", kernelName, "-o", "bolt:"+out)
	h.Say = func(format string, args ...any) { said += fmt.Sprintf(format, args...) }
	lcov := New(h)
	lcov.SetArgs([]string{"--object", kernelName, "-o", "lcov:" + filepath.Join(t.TempDir(), "lcov")})
	lcov.SilenceErrors, lcov.SilenceUsage = true, true
	if err := lcov.ExecuteContext(t.Context()); err == nil {
		t.Error("it writes coverage without lines")
	}
	if !strings.Contains(said, "vmlinux has no DWARF") {
		t.Errorf("of coverage it says %q", said)
	}
	want := testsize.Ran(t, filepath.Join(dir, "kprobes"))
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ran, ok := s.Symbols().Find("_text")
	if !ok || ran.Addr == k.Text {
		t.Fatalf("_text is at %x: this kernel ran elsewhere than where it is linked to", ran.Addr)
	}
	b, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	n := 0
	for in := bufio.NewScanner(b); in.Scan(); {
		var from, to, id string
		if _, err := fmt.Sscanf(in.Text(), "B %s %s", &from, &to); err != nil {
			continue
		}
		if i := strings.IndexByte(from, ':'); i >= 0 {
			id, from = from[:i], from[i+1:]
		}
		var a uint64
		if _, err := fmt.Sscanf(from, "%x", &a); err != nil {
			t.Fatal(err)
		}
		if n++; a != 0 && want[a-k.Text+ran.Addr] == 0 {
			t.Fatalf("%s (build ID %q): nothing was executed at %x", in.Text(), id, a)
		}
	}
	if n < 1000 {
		t.Errorf("%d branches, want more", n)
	}
}
