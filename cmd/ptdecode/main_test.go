package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptdecode/ptdecode/pt"
)

// broken is a writer whose reader went away after some bytes.
type broken struct{ left int }

func (w *broken) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
	}
	return len(b), nil
}

// TestBrokenPipe would catch a complaint, or a long silence, when the reader of
// the output goes away, as head does.
func TestBrokenPipe(t *testing.T) {
	dir := t.TempDir()
	trace, err := pt.Assemble(nil, strings.Repeat("psb\nmode.exec l\ntip.pge 3: 0x1000\npsbend\npad 7\n", 1<<13))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "cpu0.pt")
	if err := os.WriteFile(file, trace, 0o666); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	if code := run([]string{"packets", "--pt", file}, nil, &broken{left: 1 << 18}, &errs); code != exitPipe || errs.Len() != 0 {
		t.Errorf("exit code %d, want %d; said %q", code, exitPipe, errs.String())
	}
}

// TestRealPipe is TestBrokenPipe with a pipe of the system.
func TestRealPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var errs bytes.Buffer
	if code := run([]string{"completion", "bash"}, nil, w, &errs); code != exitPipe || errs.Len() != 0 {
		t.Errorf("exit code %d, want %d; said %q", code, exitPipe, errs.String())
	}
}

// TestHelpUnwritten would catch help that could not be written, and an exit code that says it was.
func TestHelpUnwritten(t *testing.T) {
	for _, call := range []string{"help", "help words", "help config", "help flow", "--help", "flow --help", "--version", "explain"} {
		var errs bytes.Buffer
		if code := run(strings.Fields(call), nil, full{}, &errs); code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit code %d, said %q", call, code, errs.String())
		}
	}
}

// full is a writer to a full disk.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

// TestDrawsNothing would catch progress that goes into a pipe or a file.
func TestDrawsNothing(t *testing.T) {
	var errs bytes.Buffer
	u := newUI(io.Discard, &errs)
	u.began = u.began.Add(1)
	for i := range int64(100) {
		u.progress(i, 100)
	}
	u.done()
	if errs.Len() != 0 {
		t.Errorf("drew %q", errs.String())
	}
}

// TestDrawsFor would catch progress between the lines of the output, and none where a verb says
// nothing for long. A pager does not get it.
func TestDrawsFor(t *testing.T) {
	for _, c := range []struct {
		verb                 string
		each, stdout, stderr bool
		want                 bool
	}{
		{"flow", false, false, true, true}, {"flow", false, true, true, false}, {"calls", false, true, true, true}, {"calls", false, false, true, true},
		{"calls", false, true, false, false}, {"check", false, true, true, false}, {"bundle", false, true, true, true},
		{"calls", true, true, true, false}, {"calls", true, false, true, true},
	} {
		if got := draws(c.verb, c.each, c.stdout, c.stderr); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	var errs, pager bytes.Buffer
	u := newUI(io.Discard, &errs)
	u.draw, u.began, u.w = true, u.began.Add(1), &pager
	u.progress(50, 100)
	u.say("hello")
	if !strings.Contains(errs.String(), "50%") || pager.String() != "ptdecode: hello\n" {
		t.Errorf("drew %q, and to the pager %q", errs.String(), pager.String())
	}
}

// TestDraws would catch a progress line that is not taken away before a message.
func TestDraws(t *testing.T) {
	var errs bytes.Buffer
	u := newUI(io.Discard, &errs)
	u.draw, u.began = true, u.began.Add(1)
	u.progress(50, 100)
	u.say("hello")
	got := errs.String()
	if !strings.Contains(got, "50%") || !strings.HasSuffix(got, " \rptdecode: hello\n") {
		t.Errorf("drew %q", got)
	}
}
