package recorder

import (
	"slices"
	"strings"
	"testing"
)

// TestParseArgs would catch an output directory that is missed, so that another is
// written to, and a word of the command that is taken for one of perf's options.
func TestParseArgs(t *testing.T) {
	for _, x := range []struct {
		in, output, command, events string
		all, some                   bool
		period                      string
	}{
		{in: "-a -- sleep 1", all: true, command: "sleep 1"},
		{in: "-a sleep -o 1", all: true, command: "sleep -o 1"},
		{in: "-o x -e a/b,c/ -e d -- cmd", output: "x", events: "a/b,c/ d", command: "cmd"},
		{in: "-ox -ed -- -o y", output: "x", events: "d", command: "-o y"},
		{in: "-ao x -- cmd", output: "x", all: true, command: "cmd"},
		{in: "--output=x --event d --all-cpus", output: "x", events: "d", all: true},
		{in: "--output x --cpu 0-1 cmd -a", output: "x", all: true, command: "cmd -a"},
		{in: "-Se -p 12 -m 1,2", some: true},
		{in: "-e -o -- cmd", events: "-o", command: "cmd"},
		{in: "-F 99 -g -- cmd", period: "-F 99", command: "cmd"},
		{in: "--count=5 cmd", period: "-c 5", command: "cmd"},
		{in: "--call-graph dwarf -o x cmd", output: "x", command: "cmd"},
		{in: "-z3 -o x cmd", output: "x", command: "cmd"},
	} {
		a := parseArgs(strings.Fields(x.in))
		if a.output != x.output || strings.Join(a.command, " ") != x.command || strings.Join(a.events, " ") != x.events ||
			a.all != x.all || a.some != x.some || a.period != x.period {
			t.Errorf("%s: %+v", x.in, a)
		}
		words := slices.DeleteFunc(strings.Fields(x.in), func(w string) bool { return w == "--" })
		if got := append(slices.Clone(a.options), a.command...); !slices.Equal(got, words) && !strings.Contains(x.in, "-- -") {
			t.Errorf("%s: words are lost: %q", x.in, got)
		}
	}
}

// TestUserOnly would catch a recording of the kernel for which its code is not copied.
func TestUserOnly(t *testing.T) {
	for in, want := range map[string]bool{
		"-e intel_pt//u": true, "-e cycles:u -e intel_pt/cyc/u": true, "--all-user -e cycles": true,
		"-e intel_pt//": false, "-e intel_pt//k": false, "-e intel_pt//uk": false, "-e cycles": false, "-e cycles:u,dummy": false, "-a": false,
	} {
		if got := parseArgs(strings.Fields(in)).userOnly(); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

// TestQuote would catch a command line that a shell reads otherwise than it is run.
func TestQuote(t *testing.T) {
	if got, want := quote([]string{"a", "", "b c", "it's", "x=$1", "intel_pt//k"}), `a '' 'b c' 'it'\''s' 'x=$1' intel_pt//k`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
