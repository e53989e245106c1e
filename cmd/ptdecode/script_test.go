package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// The scripts of testdata/script are in the language of
// github.com/rogpeppe/go-internal/testscript. They have these commands besides
// those of its documentation:
//
//	ptdecode ARGS: runs the command. After "!" it must not exit 0.
//	code N: the last exit code is N.
//	reversed A B: the lines of A, read backwards, are those of B.
//	trace, bytes, cut, tail, goldens, json, perf, elf, jitdump: see scriptCommands.
//
// [data] in front of a command makes it conditional on there being recordings, [full] on the
// full form of the tests.
// With -update, "cmp stdout FILE" (or stderr) writes FILE in the archive.

var update = flag.Bool("update", false, "write the expected outputs of scripts")

// process is what this test runs as a process of its own: the command.
const process = "ptdecode-process"

// TestMain lets scripts run the command.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		process: func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the scripts of testdata/script: a verb or a flag each. What
// each would catch stands in its first comment.
func TestScripts(t *testing.T) {
	data, full := "", testsize.Full(t)
	t.Run("recordings", func(t *testing.T) { data = testsize.Recordings(t) })
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATA", data)
			e.Values[exitCode{}] = new(int)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "data":
				return data != "", nil
			case "full":
				return full, nil
			}
			return false, errors.New("no such condition")
		},
		Cmds: scriptCommands(),
	})
}

// exitCode is the key of a script's last exit code.
type exitCode struct{}

// scriptCommands returns the commands that testscript does not have.
func scriptCommands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"ptdecode": scriptPtdecode,
		"code": func(ts *testscript.TestScript, _ bool, args []string) {
			if got := strconv.Itoa(*ts.Value(exitCode{}).(*int)); got != args[0] {
				ts.Fatalf("exit code %s, want %s", got, args[0])
			}
		},
		"reversed": scriptReversed,
		"trace":    scriptTrace,
		"bytes":    scriptBytes,
		"cut":      scriptCut,
		"tail":     scriptTail,
		"goldens":  scriptGoldens,
		"json":     scriptJSON,
		"perf":     scriptPerf,
		"elf":      scriptELF,
		"jitdump":  scriptDump,
	}
}

// scriptPtdecode is the command "ptdecode ARGS".
func scriptPtdecode(ts *testscript.TestScript, neg bool, args []string) {
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(process, args...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	*ts.Value(exitCode{}).(*int) = code
	if (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
	holdToSchemas(ts, args)
}

// scriptTrace is the command "trace IN OUT": the bytes of packets in text form.
func scriptTrace(ts *testscript.TestScript, _ bool, args []string) {
	b, err := pt.Assemble(nil, ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}

// scriptBytes is the command "bytes IN OUT": the bytes of hex; what follows a #
// is passed over.
func scriptBytes(ts *testscript.TestScript, _ bool, args []string) {
	var b []byte
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		line, _, _ = strings.Cut(line, "#")
		x, err := hex.DecodeString(strings.Join(strings.Fields(line), ""))
		ts.Check(err)
		b = append(b, x...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}

// scriptCut is the command "cut IN N OUT": the first N bytes.
func scriptCut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[0])[:n]), 0o666))
}

// scriptJSON is the command "json FILE": every line is a JSON object with a type.
func scriptJSON(ts *testscript.TestScript, _ bool, args []string) {
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var o struct{ Type string }
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Type == "" {
			ts.Fatalf("%q: %v", line, err)
		}
	}
}

// scriptTail is the command "tail IN N OUT": the last N lines.
func scriptTail(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(lines[max(0, len(lines)-1-n):], "")), 0o666))
}

// scriptGoldens is the command "goldens FILE RECORDING": the file's lines
// "CPU INSTRUCTIONS SHA256" are what the reference decoder made of it.
func scriptGoldens(ts *testscript.TestScript, _ bool, args []string) {
	b, err := os.ReadFile(filepath.Join(ts.Getenv("DATA"), args[1], "golden.json"))
	ts.Check(err)
	type sum struct {
		Instructions uint64 `json:"instructions"`
		SHA          string `json:"ips_sha256"`
	}
	var g struct {
		sum
		CPUs map[string]sum `json:"cpus"`
	}
	ts.Check(json.Unmarshal(b, &g))
	if g.CPUs == nil {
		g.CPUs = map[string]sum{"0": g.sum}
	}
	var want []string
	for cpu, u := range g.CPUs {
		want = append(want, fmt.Sprintf("%s %d %s", cpu, u.Instructions, u.SHA))
	}
	slices.Sort(want)
	if got := strings.TrimSpace(ts.ReadFile(args[0])); got != strings.Join(want, "\n") {
		ts.Fatalf("digests of %s:\n%s\nwant\n%s", args[1], got, strings.Join(want, "\n"))
	}
}

// scriptReversed is the command "reversed A B": the lines of A, read backwards,
// are those of B.
func scriptReversed(ts *testscript.TestScript, _ bool, args []string) {
	lines := func(name string) []string { return strings.Split(strings.TrimSuffix(ts.ReadFile(name), "\n"), "\n") }
	got, want := lines(args[0]), lines(args[1])
	slices.Reverse(got)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			ts.Fatalf("line %d of %s, read backwards, differs; lines: %d, %d", i+1, args[0], len(got), len(want))
		}
	}
}
