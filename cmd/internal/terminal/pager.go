// Package terminal knows what depends on output being read on a terminal. That is colour,
// how wide lines may be, the pager, and how long work will take.
package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Columns is how many columns text for people takes, where nothing says how many there are.
const Columns = 80

// most is how many columns lines can be asked to fit: each is padded up to that.
const most = 10_000

// WrongWidth says what is needed in place of n columns for lines to fit; "": n is right.
func WrongWidth(n int) string {
	if n < 0 || n > most {
		return fmt.Sprintf("0 to %d", most)
	}
	return ""
}

// Is reports whether what is written to w appears on a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns how many columns the terminal behind w has, 0 if it is none.
func Width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return min(n, most)
}

// Colour reports whether output to a terminal or elsewhere has colours: when is "always",
// "never", or "auto". Then the environment decides, too (https://no-color.org).
func Colour(when string, isTerminal bool, env func(string) string) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	return isTerminal && env("NO_COLOR") == "" && env("TERM") != "dumb"
}

// PagerCommand returns the command that shows output page by page, as git chooses it: that
// of PTDECODE_PAGER, else of PAGER, else less. It is "" where none is wanted.
func PagerCommand(env func(string) string, lookup func(string) (string, bool)) string {
	for _, name := range []string{"PTDECODE_PAGER", "PAGER"} {
		if c, ok := lookup(name); ok {
			if c = strings.TrimSpace(c); c == "cat" {
				return ""
			}
			return c
		}
	}
	if env("TERM") == "dumb" {
		return ""
	}
	if _, err := exec.LookPath("less"); err != nil {
		return ""
	}
	return "less"
}

// Pager is a writer to a pager, which begins with the first byte.
type Pager struct {
	command string
	out     io.Writer // where the pager shows it
	errs    io.Writer // for messages

	mu    sync.Mutex
	pipe  io.WriteCloser
	cmd   *exec.Cmd
	kept  []byte // what was written, as long as nobody may have read it
	read  bool   // somebody did
	begun bool
	ended bool  // the pager
	err   error // how it ended
	plain bool  // the pager did not start
}

// unread is more than a pipe holds of which nothing is read, bytes.
const unread = 1 << 20

// NewPager returns a writer to command, which writes to out. Messages go to errs.
func NewPager(command string, out, errs io.Writer) *Pager {
	return &Pager{command: command, out: out, errs: errs}
}

// Write writes to the pager, or to the terminal where it cannot be started.
func (p *Pager) Write(b []byte) (int, error) {
	p.mu.Lock()
	if !p.begun {
		p.begun = true
		if err := p.start(); err != nil {
			p.plain = true
			p.tell(err.Error())
		}
	}
	w, plain := io.Writer(p.pipe), p.plain
	if plain {
		w = p.out
	} else if p.read = p.read || len(p.kept) > unread; !p.read {
		p.kept = append(p.kept, b...)
	}
	p.mu.Unlock()
	n, err := w.Write(b)
	if err == nil || plain {
		return n, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end(); p.plain {
		return len(b), p.err
	}
	return n, err
}

// start runs the pager. Less shows colours, ends where all fits on one screen, and chops
// long lines, unless LESS says otherwise.
func (p *Pager) start() (err error) {
	p.cmd = exec.Command("sh", "-c", p.command)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.errs
	p.cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRSX", "LV": "-c"} {
		if _, ok := os.LookupEnv(name); !ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	if p.pipe, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	return err
}

// tell says that there is no pager, and why.
func (p *Pager) tell(why string) {
	fmt.Fprintf(p.errs, "ptdecode: the pager %q cannot be started: %s\nptdecode: hint: PTDECODE_PAGER names another one; cat: none\n", p.command, why)
}

// end waits for the pager. Where a shell says that there is no such program (127), or that it
// cannot be run (126; POSIX, 2.8.2), it prints what was written. p.mu is held.
func (p *Pager) end() {
	if p.ended {
		return
	}
	p.ended = true
	p.err = p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); (code == 126 || code == 127) && !p.read {
		p.plain = true
		p.tell(fmt.Sprintf("the shell's exit code is %d", code))
		_, p.err = p.out.Write(p.kept)
	}
	p.kept = nil
}

// Close waits until the reader has seen all.
func (p *Pager) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun && p.cmd.Process != nil {
		p.pipe.Close()
		p.end()
	}
	return p.err
}
