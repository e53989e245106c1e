package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestInterruptedPipe would catch Ctrl-C that does not end the command while it reads a pipe that
// stays open, and a file that it leaves then.
func TestInterruptedPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted on Windows")
	}
	for _, call := range []string{"info -", "flow -", "events -", "summary -", "info /dev/stdin"} {
		dir := t.TempDir()
		c := exec.Command(process, strings.Fields(call)...)
		c.Env = append(os.Environ(), "TMPDIR="+dir)
		in, err := c.StdinPipe()
		must(t)(err)
		must(t)(c.Start())
		written := make(chan error, 1)
		go func() { // more than stays in memory
			_, err := in.Write([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"))
			block := make([]byte, 1<<20)
			for n := 0; n < 65 && err == nil; n++ {
				_, err = in.Write(block)
			}
			written <- err
		}()
		late := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
		must(t)(<-written)
		must(t)(c.Process.Signal(os.Interrupt))
		err = c.Wait()
		late.Stop()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%s: %v, want the exit code %d", call, err, exitInterrupted)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", call, left, err)
		}
	}
}
