// Command ptdecode rebuilds what each CPU executed from a hardware trace while
// the kernel was changing its own code. `ptdecode help` teaches by example;
// docs/cli.md says the same.
package main

import (
	"io"
	"os"
	"runtime/debug"
)

// version is set when the command is linked; see versionText.
var version string

// gcPercent lets the heap grow further than Go's default before it is swept.
// What stays is a few ten MiB of symbols and blocks. Decoding a recording of
// 26 million instructions took 0.35 s of CPU and 180 MiB, against 0.48 s and
// 159 MiB with Go's default.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command without the process around it. It takes the arguments behind
// the command's name and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{in: stdin, out: stdout, ui: newUI(stdout, stderr)}
	ctx, stop := a.interruptible()
	defer stop()
	return a.execute(ctx, args)
}
