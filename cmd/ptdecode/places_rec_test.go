package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNearRecording would catch a recording that is not found by what lies around it, or
// found without the files that belong to it. It tries a directory with a perf.data,
// perf.data/data, and ./perf.data where nothing is named.
func TestNearRecording(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, b := range map[string][]byte{
		"perf.data/data": (&csFile{version: 1}).bytes(t), "perf.data/kcore_dir/kallsyms": []byte("ffffffc008000000 T _text\n"), "plain/perf.data": (&csFile{version: 1}).bytes(t),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		args    []string
		symbols bool
	}{{[]string{"perf.data"}, true}, {[]string{"."}, true}, {[]string{"perf.data/data"}, true}, {nil, true}, {[]string{"plain"}, false}} {
		var out, errs bytes.Buffer
		run(append([]string{"info"}, x.args...), nil, &out, &errs)
		if s := out.String(); !strings.Contains(s, "trace ID 12: ETMv4") || strings.Contains(s, "symbols    1\n") != x.symbols {
			t.Errorf("info %q:\n%s%s", x.args, s, errs.String())
		}
	}
}
