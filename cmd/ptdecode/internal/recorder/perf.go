package recorder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// perfVersion asks perf for its version; found is false where there is no perf.
func perfVersion(perf string) (v kernelVersion, found bool) {
	out, err := exec.Command(perf, "version").Output()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return v, false
	}
	return parseVersion(strings.TrimPrefix(string(out), "perf version ")), true
}

// outcome is how perf ended.
type outcome struct {
	code      int    // exit code; -1: killed
	killed    string // the signal that killed it; "" for none
	asked     bool   // it was told to end
	signalled bool   // it was told to, and ended by a signal: the command's, or that
}

// runPerf runs a command line with the standard streams given, and hands on the signals
// that this process gets meanwhile. perf's own words go where it writes them. Where ctx
// has ended, perf does not run. beside runs while perf does, until ended is closed. Its
// error ends perf.
func runPerf(ctx context.Context, list []string, in io.Reader, out, errs io.Writer, beside func(ended <-chan struct{}) error) (outcome, error) {
	cmd := exec.Command(list[0], list[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, handedOn()...)
	defer signal.Stop(signals)
	if err := ctx.Err(); err != nil { // by a signal of before
		return outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	done, ended := make(chan error, 1), make(chan struct{})
	go func() { done <- cmd.Wait() }()
	var failed error
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if failed = beside(ended); failed != nil {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}()
	var o outcome
	for {
		select {
		case s := <-signals:
			o.asked = o.asked || ends(s)
			// A terminal's Ctrl-C has reached perf as well. perf ends once.
			_ = cmd.Process.Signal(s)
		case err := <-done:
			close(ended)
			if <-stopped; failed != nil && !errors.Is(failed, errGone) {
				return o, failed
			}
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return o, err
			}
			o.code = cmd.ProcessState.ExitCode()
			if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
				o.killed, o.signalled = s.Signal().String(), o.asked
			}
			return o, nil
		}
	}
}

// tryBreaks reports whether perf can set breakpoints at once on all CPUs. What it would
// record goes nowhere. said is perf's last line where it cannot.
func tryBreaks(ctx context.Context, perf string, list []breakpoint) (ok bool, said string) {
	args := []string{"record", "-o", "-", "-a", "--no-buildid", "--no-buildid-cache"}
	for i := range list {
		args = append(args, "-e", list[i].event())
	}
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, perf, append(args, "--", "true")...)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &errs
	if err := cmd.Run(); err != nil {
		lines := strings.Fields(strings.ReplaceAll(errs.String(), "\n", " "))
		return false, strings.Join(lines, " ")
	}
	return true, ""
}
