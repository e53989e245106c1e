package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ptdecode/ptdecode/decoder/testsize"
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
// [data] in front of a command makes it conditional on there being recordings.
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
	data := ""
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
			if cond != "data" {
				return false, errors.New("no such condition")
			}
			return data != "", nil
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
