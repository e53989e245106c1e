package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Config says what to record, and where to speak.
type Config struct {
	// FS is what /proc and /sys are looked for in; nil: the operating system's files.
	// The recording itself is always a directory of the operating system.
	FS   fs.FS
	Perf string   // the program; "": perf
	Args []string // of perf record, the command behind -- included

	DryRun bool // print perf's command line, and run nothing but perf version

	In        io.Reader
	Out, Errs io.Writer

	Say, Hint func(format string, args ...any) // one line each
}

// Run records. whole is false where the recording lacks something that was to be
// recorded: Say has told what. An error says that there is no recording.
//
// ctx ends what comes before perf runs. A signal that ends perf ends the recording only.
func Run(ctx context.Context, c Config) (whole bool, err error) {
	if c.Perf == "" {
		c.Perf = "perf"
	}
	m := look(files.Tree{FS: c.FS}, runtime.GOARCH)
	version, found := perfVersion(c.Perf)
	p := makePlan(m, parseArgs(c.Args), c.Perf, version, c.kernelCode(m))
	if !found {
		p.stop("install it, of the kernel's version or newer: Debian has linux-perf, Ubuntu linux-tools-"+m.release+", Fedora perf", "%s: there is no such program", c.Perf)
	}
	if _, err := os.Stat(p.output); err == nil {
		p.stop("move it away, or name another directory with -o", "%s is there already", p.output)
	}
	c.Say("%s; perf %d.%d", m.describe(), version.major, version.minor)
	c.tell(p.notes)
	if p.copies {
		c.Say("modules and BPF programs lie %d GiB apart, and perf would copy all between: ptdecode copies the kernel's code in its place", m.moduleSpan()>>30)
	}
	if c.DryRun {
		if _, err := fmt.Fprintln(c.Out, quote(p.command())); err != nil {
			return false, err
		}
	}
	if p.stopped() {
		return false, errors.New("nothing is recorded: what stands in the way is said above")
	}
	if c.DryRun {
		return true, nil
	}
	c.fitBreaks(ctx, p)
	if whole, err = c.perf(ctx, m, p); err != nil {
		return false, err
	}
	late, err := c.late(m, p)
	if err != nil {
		return false, err
	}
	sound, err := c.verify(p)
	return whole && late && sound, err
}

// kernelCode opens the kernel's code, of which breakpoints ask; nil: it is not needed,
// or cannot be read.
func (c *Config) kernelCode(m *machine) *image.Image {
	if !m.arm || m.kcoreErr != nil {
		return nil
	}
	img, err := image.Open("/proc/kcore", image.Options{NeedELF: true, FS: c.FS})
	if err != nil {
		m.kcoreErr = err
		return nil
	}
	return img
}

// tell says what a recording lacks.
func (c *Config) tell(notes []note) {
	for _, n := range notes {
		c.Say("%s", n.what)
		if n.hint != "" {
			c.Hint("%s", n.hint)
		}
	}
}

// fitBreaks leaves those breakpoints out that the CPUs have no room for.
func (c *Config) fitBreaks(ctx context.Context, p *plan) {
	if len(p.breaks) == 0 {
		return
	}
	all, said := p.breaks, ""
	p.breaks = fitting(all, func(list []breakpoint) bool {
		ok, why := tryBreaks(ctx, p.perf, list)
		if !ok {
			said = why
		}
		return ok
	})
	if n := len(p.breaks); ctx.Err() != nil {
		return
	} else if n == 0 {
		c.Say("breakpoints on the kernel's code are refused: changes to it are not recorded; perf says: %s", said)
		c.Hint("a hypervisor may have none for its guests; docs/recording.md says what probes record")
	} else if n < len(all) {
		var not []string
		for _, b := range all[n:] {
			not = append(not, b.what)
		}
		c.Say("the CPUs have room for %d of %d breakpoints: not recorded: %s", n, len(all), strings.Join(not, "; "))
	}
}

// perf runs perf and says how it ended.
func (c *Config) perf(ctx context.Context, m *machine, p *plan) (whole bool, err error) {
	beside := func(<-chan struct{}) error { return nil }
	if h := heldIn(p.output); p.copies {
		defer h.remove()
		if err := h.make(); err != nil {
			return false, err
		}
		beside = func(ended <-chan struct{}) error {
			return h.copied(ended, func() error { return c.early(m, p, ended) })
		}
	}
	o, err := runPerf(ctx, p.command(), c.In, c.Out, c.Errs, beside)
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return false, fmt.Errorf("%s: there is no such program", p.perf)
		}
		return false, err
	}
	wrote, finished := recorded(p.output)
	if !wrote {
		if _, err := os.Stat(filepath.Join(p.output, earlyDir)); err == nil {
			c.Hint("where perf failed to copy kcore: modules or symbols came or went meanwhile, or the disk is full; try again; on arm64 without --kcore, -D and --control, as BPF programs may lie far away")
		}
		return false, fmt.Errorf("perf record %s and recorded nothing: what it said stands above", o.how())
	}
	switch {
	case !finished:
		c.Say("perf record %s before it had finished: what it had written is used", o.how())
		return false, nil
	case o.code != 0 && !o.signalled:
		c.Say("perf record %s, which may be that of the command: what it said stands above", o.how())
	}
	return true, nil
}

// early makes the copies that perf would make.
func (c *Config) early(m *machine, p *plan, ended <-chan struct{}) error {
	held, err := copyKernel(m, p.output, earlyDir, func() error {
		select {
		case <-ended:
			return errGone
		default:
			return nil
		}
	})
	if err != nil {
		return fmt.Errorf("nothing is recorded: the kernel's code was not copied to %s: %w", filepath.Join(p.output, earlyDir), err)
	}
	c.Say("%s: %d KiB of the kernel's code", filepath.Join(p.output, earlyDir), held>>10)
	return nil
}

// recorded reports whether perf wrote something, and whether it had finished: it writes
// the size of the records last (tools/perf/util/header.h, struct perf_file_header,
// v6.12). It writes to a file where it makes no copy of the kernel's code.
func recorded(output string) (wrote, finished bool) {
	if st, err := os.Stat(output); err == nil && st.IsDir() {
		output = filepath.Join(output, "data")
	}
	f, err := os.Open(output)
	if err != nil {
		return false, false
	}
	defer f.Close()
	var size [8]byte
	const at = 48 // of the size of the records
	n, _ := f.ReadAt(size[:], at)
	st, err := f.Stat()
	return err == nil && st.Size() > 0, n == len(size) && size != [8]byte{}
}

// how says how perf ended.
func (o *outcome) how() string {
	if o.killed != "" {
		return "was killed (" + o.killed + ")"
	}
	return fmt.Sprintf("ended with exit code %d", o.code)
}

// late makes the copies of after. Ctrl-C breaks it off.
func (c *Config) late(m *machine, p *plan) (whole bool, err error) {
	if !p.kernel {
		return true, nil
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	held, err := copyKernel(m, p.output, lateDir, func() error {
		select {
		case <-signals:
			return context.Canceled
		default:
			return nil
		}
	})
	switch {
	case errors.Is(err, context.Canceled):
		c.Say("%s: broken off before the kernel's code was copied again", filepath.Join(p.output, lateDir))
		return false, err
	case err != nil:
		c.Say("%s: the kernel's code as it is now was not copied: %v", filepath.Join(p.output, lateDir), err)
		c.Hint("the recording works without; code that came meanwhile is unknown")
		return false, nil
	}
	c.Say("%s: %d KiB of the kernel's code as it is now", filepath.Join(p.output, lateDir), held>>10)
	return true, nil
}
