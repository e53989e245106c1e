package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestFits80 would catch a line of flow that is wider than the screen that it was made for,
// and colours that change what is printed.
func TestFits80(t *testing.T) {
	rec := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")
	sgr := regexp.MustCompile("\x1b\\[[0-9]*m")
	for _, level := range []string{"insn", "branch", "call"} {
		var screens [2]string
		for i, colour := range []string{"never", "always"} {
			var out, errs bytes.Buffer
			if code := run([]string{"flow", rec, "--cpu", "1", "--level", level, "--width", "80", "--bounds", "--color", colour, "--first", "5000"}, nil, &out, &errs); code != exitWhole {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			screens[i] = sgr.ReplaceAllString(out.String(), "")
		}
		if screens[0] != screens[1] || strings.Count(screens[0], "\n") < 1000 {
			t.Errorf("level %s: with colours it is another text, or there is too little of it", level)
		}
		for line := range strings.Lines(screens[0]) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("level %s: %d columns: %s", level, n, line)
			}
		}
	}
}
