package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/misread"
	"github.com/ptdecode/ptdecode/decoder"
)

// The rules of speech. Standard output has what a verb was asked for, and nothing
// else. All messages go to standard error, one per line, with the prefix
// "ptdecode: ", in lower case and without a full stop. What to do about one
// follows as "ptdecode: hint: ". Progress is drawn on a terminal only, never into
// a pipe or a file.

// The exit codes.
const (
	exitWhole       = 0
	exitFailed      = 1
	exitUsage       = 2
	exitGaps        = 3   // the output is incomplete, or check found something
	exitInterrupted = 130 // 128 + SIGINT, as shells have it
	exitPipe        = 141 // 128 + SIGPIPE: the reader of the output went away
)

// usageError is a call that the command does not understand.
type usageError struct{ what string }

// Error returns what is wrong with the call.
func (e *usageError) Error() string { return e.what }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// exitError ends the command with a code. what is empty where all was said.
type exitError struct {
	code int
	what string
}

// Error returns what there is to say.
func (e *exitError) Error() string { return e.what }

// Gapped reports whether all was written, and it only says that there are gaps.
func (e *exitError) Gapped() bool { return e.code == exitGaps }

// hinted is an error with a hint: what to do about it.
type hinted struct {
	error
	hint string
}

// Unwrap returns the error without the hint.
func (e *hinted) Unwrap() error { return e.error }

// ui speaks to the user.
type ui struct {
	mu    sync.Mutex
	w     io.Writer
	tty   io.Writer // where progress is drawn, also while a pager waits for output
	width int       // columns of the terminal that w is; 0: it is none
	quiet bool      // say errors and nothing else
	draw  bool      // progress may be drawn
	drawn int       // columns of the progress line that stands
	began time.Time
	last  time.Time
	args  []string // of the call

	besideSaid string // what beside told
}

// newUI speaks on stderr.
func newUI(stdout, stderr io.Writer) *ui {
	return &ui{w: stderr, tty: stderr, width: terminal.Width(stderr), draw: draws("", false, terminal.Is(stdout), terminal.Is(stderr))}
}

// late are the verbs that print nothing before all is decoded, or nothing at all.
var late = []string{"bundle", "calls", "diff", "hot", "profile", "summary"}

// draws reports whether progress is drawn: stderr must be a terminal. Where stdout is one, too,
// progress would stand between the lines of the output, but for verbs that are late. With --each (each) a
// verb is not.
func draws(verb string, each, stdout, stderr bool) bool {
	return stderr && (!stdout || slices.Contains(late, verb) && !each)
}

// line writes one line with the prefix.
func (u *ui) line(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wipe()
	for l := range strings.Lines(strings.TrimRight(terminal.OneLine(s, u.args), "\n")) {
		l = "ptdecode: " + terminal.Plain(strings.TrimRight(l, "\n"))
		_, _ = u.w.Write(append(terminal.Wrap(nil, l, u.width, len("ptdecode: ")), '\n'))
	}
}

// say tells something that is no error.
func (u *ui) say(format string, args ...any) {
	if !u.quiet {
		u.line(fmt.Sprintf(format, args...))
	}
}

// hint tells what to do.
func (u *ui) hint(format string, args ...any) {
	if !u.quiet {
		u.line("hint: " + fmt.Sprintf(format, args...))
	}
}

// warn says what is missing or doubtful, and what to do about it. Warnings in a row
// with the same hint share it, behind the last of them.
func (u *ui) warn(ws []decoder.Warning) {
	for i, w := range ws {
		u.say("%s", w.What)
		if w.Hint != "" && (i+1 == len(ws) || ws[i+1].Hint != w.Hint) {
			u.hint("%s", w.Hint)
		}
	}
}

// fileHint is what to do about an error of a file.
type fileHint struct {
	of   error
	hint string
}

// hintNoInput is for a file that is to be read.
const hintNoInput = "is the name right, and the directory that it begins in?"

var fileHints = []fileHint{
	{fs.ErrNotExist, hintNoInput + " For an output that must be there: mkdir -p makes it"},
	{fs.ErrPermission, "run as a user who may, or take a copy or a directory that you may use"},
	{syscall.ENOSPC, "make room there, or write elsewhere"},
}

// fail says what went wrong and what to do about it.
func (u *ui) fail(err error) {
	u.line(err.Error())
	var h *hinted
	var file *fs.PathError
	if errors.As(err, &h) && h.hint != "" {
		u.line("hint: " + h.hint)
	} else if errors.As(err, &file) && errors.Is(err, fs.ErrNotExist) && (file.Op == "stat" || exists(filepath.Dir(file.Path))) {
		u.line("hint: " + hintNoInput) // an output would have been made there
	} else if at := slices.IndexFunc(fileHints, func(h fileHint) bool { return errors.Is(err, h.of) }); at >= 0 {
		u.line("hint: " + fileHints[at].hint)
	}
}

// progress draws how far the work has come. It may be called often.
func (u *ui) progress(done, total int64) {
	if !u.draw || u.quiet || total <= 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	if u.began.IsZero() {
		u.began = now
	}
	if now.Sub(u.began) < 300*time.Millisecond || now.Sub(u.last) < 100*time.Millisecond {
		return
	}
	u.last = now
	s := "ptdecode: " + terminal.Progress(done, total, now.Sub(u.began))
	pad := max(0, u.drawn-len(s))
	fmt.Fprintf(u.tty, "\r%s%s", s, strings.Repeat(" ", pad))
	u.drawn = len(s)
}

// wipe takes the progress line away. u.mu is held.
func (u *ui) wipe() {
	if u.drawn > 0 {
		fmt.Fprintf(u.tty, "\r%s\r", strings.Repeat(" ", u.drawn))
		u.drawn = 0
	}
}

// done ends the drawing.
func (u *ui) done() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wipe()
	u.draw = false
}

// exit prints err and returns its exit code. ctx is the command's: if it is
// cancelled, the user interrupted.
func (a *app) exit(ctx context.Context, err error, verb string) int {
	a.ui.done()
	var usage *usageError
	var call *decoder.CallError
	var code *exitError
	if errors.As(err, &call) {
		err = usagef("%s", call.What)
	}
	switch {
	case err == nil:
		return exitWhole
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return exitPipe
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return exitInterrupted
	case errors.As(err, &usage):
		a.ui.line(misread.Whose(usage.what, a.preset))
		a.ui.line("hint: see " + verb + " --help")
		return exitUsage
	case errors.As(err, &code):
		if code.what != "" {
			a.ui.say("%s", code.what)
		}
		return code.code
	}
	a.ui.fail(err)
	return exitFailed
}
