package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnreadableBuffer catches a trace buffer that may not be read and is taken
// for an empty one: decoded, to nothing.
func TestUnreadableBuffer(t *testing.T) {
	dir := pokedSnapshot(t, "0x801")
	if err := os.Chmod(filepath.Join(dir, "trace.bin"), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(filepath.Join(dir, "trace.bin")); err == nil {
		f.Close()
		t.Skip("this user reads every file, whatever its mode: run as another")
	}
	for _, verb := range []string{"flow", "packets"} {
		var out, errs bytes.Buffer
		code := run([]string{verb, dir}, strings.NewReader(""), &out, &errs)
		for _, want := range []string{"trace.bin+0x0: cannot be read: permission denied", "make the trace buffer's file readable", "there is no trace to decode"} {
			if !strings.Contains(errs.String(), want) {
				t.Errorf("%s: no %q in\n%s", verb, want, errs.String())
			}
		}
		if code != exitFailed || out.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d; stdout %q", verb, code, exitFailed, out.String())
		}
	}
}

// TestUnreadableBeside would catch a verb that fails, or says nothing, where a file of the
// kernel beside a recording cannot be read. It may be a directory, which no user can
// read, or hold something else.
func TestUnreadableBeside(t *testing.T) {
	for _, x := range []struct {
		name string
		make func(kcoreDir string) error
		want []string
	}{
		{"kcore is a directory", func(d string) error { return os.MkdirAll(filepath.Join(d, "kcore"), 0o777) }, []string{"kcore_dir/kcore+0x0: cannot be read, and is left out", "hint: give another with --kcore FILE"}},
		{"kcore is something else", func(d string) error { return os.WriteFile(filepath.Join(d, "kcore"), []byte("nothing"), 0o666) }, []string{"kcore_dir/kcore+0x0: cannot be read, and is left out"}},
		{"kallsyms is a directory", func(d string) error { return os.MkdirAll(filepath.Join(d, "kallsyms"), 0o777) }, []string{"kallsyms+0x0: cannot be read, and is left out"}},
		{"modules is a directory", func(d string) error { return os.MkdirAll(filepath.Join(d, "modules"), 0o777) }, []string{"modules+0x0: cannot be read, and is left out"}},
	} {
		dir := t.TempDir()
		text := filepath.Join(dir, "text.bin")
		put(t, map[string][]byte{
			text: fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe)), filepath.Join(dir, "rec/data"): (&csFile{version: 1}).bytes(t),
		})
		if err := os.MkdirAll(filepath.Join(dir, "rec/kcore_dir"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := x.make(filepath.Join(dir, "rec/kcore_dir")); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"flow", "packets", "info", "check"} {
			out, errs, code := said(verb, filepath.Join(dir, "rec"), "--text", text+"@400000")
			for _, want := range x.want {
				if !strings.Contains(errs+out, want) && verb != "packets" {
					t.Errorf("%s: %s: no %q in\n%s", x.name, verb, want, errs+out)
				}
			}
			if code == exitFailed || code == exitUsage || out == "" {
				t.Errorf("%s: %s: exit code %d, %d bytes of output:\n%s", x.name, verb, code, len(out), errs)
			}
		}
	}
}
