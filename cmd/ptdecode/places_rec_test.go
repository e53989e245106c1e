package main

import (
	"strings"
	"testing"
)

// TestNearRecording would catch a recording that is not found by what lies around it, or
// found without the files that belong to it. It tries a directory with a perf.data,
// perf.data/data, and ./perf.data where nothing is named.
func TestNearRecording(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, map[string][]byte{
		"perf.data/data": (&csFile{version: 1}).bytes(t), "perf.data/kcore_dir/kallsyms": []byte("ffffffc008000000 T _text\n"), "plain/perf.data": (&csFile{version: 1}).bytes(t),
	})
	for _, x := range []struct {
		args    []string
		symbols bool
	}{{[]string{"perf.data"}, true}, {[]string{"."}, true}, {[]string{"perf.data/data"}, true}, {nil, true}, {[]string{"plain"}, false}} {
		out, errs, _ := said(append([]string{"info"}, x.args...)...)
		if s := out; !strings.Contains(s, "trace ID 12: ETMv4") || strings.Contains(s, "symbols    1\n") != x.symbols {
			t.Errorf("info %q:\n%s%s", x.args, s, errs)
		}
	}
}
