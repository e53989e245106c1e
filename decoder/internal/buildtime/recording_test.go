package buildtime

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// recordedKernels opens the vmlinux of the recordings, told symbols by name's kallsyms
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

// unlike counts the groups of which the image holds other code than k makes in s.
func unlike(k *Kernel, m *image.Image, shift uint64, list []*Group, s State, each func(g *Group, want, have []byte)) (n int) {
	for _, g := range list {
		have := make([]byte, len(g.Built))
		if m.ReadAt(have, g.Addr+shift) < len(have) {
			continue
		}
		if want := g.Code(s); !bytes.Equal(want, have) && !sameFlow(want, have, g.Addr) {
			n++
			if each != nil {
				each(g, want, have)
			}
		}
	}
	return n
}

func TestDebug(t *testing.T) {
	for _, name := range []string{"tracepoints", "nomitig-late"} {
		for _, with := range []bool{false} {
			k, m, shift := recordedKernel(t, name, with)
			t.Logf("%s %v: %v groups %d choices %d", name, with, k.Tables, len(k.Groups()), len(k.Choices()))
			k.Thunk = 0xffffffff81e01d20
			s := State{}
			for range 3 {
				for _, c := range k.Choices() {
					best, most := 0, 1<<30
					for _, v := range k.Values(c) {
						if n := unlike(k, m, shift, k.Of(c), s.With(c, v), nil); n < most {
							best, most = v, n
						}
					}
					if best != 0 {
						s[c] = best
					} else {
						delete(s, c)
					}
				}
			}
			t.Logf("state %v", s)
			left := 0
			n := unlike(k, m, shift, k.Groups(), s, func(g *Group, want, have []byte) {
				if left++; left < 25 {
					t.Logf("%x %v: built %x want %x have %x", g.Addr, g.Choices, g.Built, want, have)
				}
			})
			t.Logf("%d groups unlike", n)
		}
	}
	_ = io.EOF
}
