// Command ptdecode rebuilds what each CPU executed from a hardware trace while
// the kernel was changing its own code. `ptdecode help` teaches by example;
// docs/cli.md says the same.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/heap"
)

// linked is the version that the linker was told; without one, version.Text reads the build.
var linked string

func main() {
	if os.Getenv("GOGC") == "" {
		heap.SweepInTime()
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command without the process around it. It takes the arguments behind
// the command's name and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{in: stdin, out: stdout, ui: newUI(stdout, stderr)}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends it wherever it is
	return a.execute(ctx, args)
}
