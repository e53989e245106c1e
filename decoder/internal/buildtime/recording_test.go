package buildtime

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// recordedKernel opens the vmlinux of the recordings, told symbols by name's kallsyms
// if those are wanted.
func recordedKernel(t testing.TB, name string, with bool) (k *Kernel, m *image.Image, shift uint64) {
	t.Helper()
	dir := os.Getenv("PTDECODE_DATA")
	if dir == "" {
		t.Skip("PTDECODE_DATA is not set: no recordings")
	}
	dir = filepath.Join(dir, "kernel-pokes-x86")
	f, err := os.Open(filepath.Join(dir, "vmlinux.zst"))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	data, err := files.Unpack(f, "vmlinux.zst", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	kc := filepath.Join(dir, name, "perf.data", "kcore_dir")
	y, err := symbols.OpenKallsyms(filepath.Join(kc, "kallsyms"))
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := y.Addr("_text")
	shift = runs - 0xffffffff81000000
	var find Find
	if with {
		find = func(name string) (uint64, bool) {
			a, ok := y.Addr(name)
			return a - shift, ok
		}
	}
	if k, err = Read(bytes.NewReader(data), int64(len(data)), "vmlinux", find); err != nil {
		t.Fatal(err)
	}
	if m, err = image.Open(filepath.Join(kc, "kcore"), image.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return k, m, shift
}

// unlike counts the groups of which the image holds other code than k makes in s, and
// those it holds.
func unlike(k *Kernel, m *image.Image, shift uint64, list []*Group, s State) (n, held int) {
	for _, g := range list {
		have := make([]byte, len(g.Built))
		if m.ReadAt(have, g.Addr+shift) < len(have) {
			continue
		}
		held++
		if want := g.Code(s); !bytes.Equal(want, have) && !sameFlow(want, have, g.Addr, false) {
			n++
		}
	}
	return n, held
}

// TestRecordedBoots would catch a rule of boot that is not the kernel's. The code of all
// sites must be what a copy of the running kernel's memory holds. The values of the choices
// are taken from the copy, and each is the same for all its sites.
func TestRecordedBoots(t *testing.T) {
	names := []string{"nomitig-late", "tracepoints"}[:testsize.Of(t, 1, 2)]
	for _, name := range names {
		for _, with := range []bool{false, true}[:testsize.Of(t, 1, 2)] {
			k, m, shift := recordedKernel(t, name, with)
			k.Thunk = 0xffffffff81e01d20 // its_return_thunk
			s := State{}
			for range 2 {
				for _, c := range k.Choices() {
					best, most := s.Get(c), 1<<30
					for _, v := range k.Values(c) {
						if n, _ := unlike(k, m, shift, k.Of(c), s.With(c, v)); n < most {
							best, most = v, n
						}
					}
					s[c] = best
				}
			}
			n, held := unlike(k, m, shift, k.Groups(), s)
			t.Logf("%s: %d of %d groups are other than in the kcore; %v", name, n, held, k.Tables)
			if n > 0 || held < 15_000 {
				t.Errorf("%s: %d of %d groups are other than in the kcore, want 0 of 15,000 or more", name, n, held)
			}
		}
	}
}
