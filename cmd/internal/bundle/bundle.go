// Package bundle is the verb that makes bundles (docs/formats/bundle.md).
package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/wholefile"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/bundle"
)

// Host is what the verb needs of the command.
type Host struct {
	Config func(args []string) (decoder.Config, error) // what the flags and arguments name
	// Times reads FROM,TO as of the recording that c names, ns.
	Times    func(c decoder.Config, flag string) (from, until uint64, err error)
	Info     func(w io.Writer, c decoder.Config) error // what info prints
	Say      func(format string, args ...any)          // tells something that is no error
	Size     func(s string) (int64, error)             // reads a number of bytes
	Progress func(done, total int64)
	Done     func() // ends the progress
	Jobs     func() int
}

// New returns the verb.
func New(h *Host) *cobra.Command {
	var out, times, debug string
	var o bundle.Options
	c := &cobra.Command{
		Use:   "bundle REC -o FILE.tar.zst",
		Short: "make one self-contained file of a recording, for a bug report or an archive",
		Long: `Make one file with a recording and all that decoding it needs. The bundle has trace
and records, the pages of code that the flow and the changes to the code use, and the
symbols there. It also has the files that flags name, so it needs no flags. Every verb
reads it as REC, and prints the same.

The whole recording is decoded, to find out what is needed. The bundle does not have
functions that the flow did not reach.

The debug information of files in which something ran goes in, as it tells source lines
and inlined functions. It may be most of the bundle. Files with the least come first, up
to --debug-info SIZE together. The verb says what is left out. Source files are not in it.

--time FROM,TO keeps only the trace of a time, cut at sync points.

--anonymise replaces the names of programs, of the host, of paths, and command
lines, with names of the same length. What stays: code, addresses, numbers of
threads, build IDs, the names of the kernel's symbols and modules, of events and of
functions. Debug information is left out, so no source line is known. Samples that
ptdecode does not read are left out, as they may hold anything.`,
		Example: `  ptdecode bundle perf.data -o bug.tar.zst
  ptdecode bundle perf.data -o bug.tar.zst --anonymise --time 4.5,4.6
  ptdecode bundle snapshot/ --events e.jsonl -o arm.tar.zst
  ptdecode flow bug.tar.zst
  tar -xOf bug.tar.zst info.txt                     # what it holds`,
		Args: host.MaxArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return &decoder.CallError{What: "-o FILE.tar.zst is missing: where the bundle goes"}
			}
			if f := c.Flag("vmlinux"); f != nil && f.Value.String() != "" {
				return &decoder.CallError{What: "--vmlinux: a bundle does not hold that file: give it to the verb that reads the bundle"}
			}
			size, err := h.Size(debug)
			if err != nil {
				return &decoder.CallError{What: "--debug-info " + err.Error()}
			}
			if o.DebugInfo = size; size == 0 {
				o.DebugInfo = -1
			}
			o.Jobs, o.Progress = h.Jobs(), h.Progress
			return h.run(c.Context(), c.OutOrStdout(), args, out, times, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&out, "output", "o", "", "write the bundle to `FILE`, which must not exist; - is standard output")
	f.StringVar(&times, "time", "", "only the trace of the time `FROM,TO`; either may be left out. Also +5ms, 10%-20%, poke:385±10us")
	f.StringVar(&debug, "debug-info", "256MiB", "take at most `SIZE` of debug information, which tells source lines; 0: none")
	f.BoolVar(&o.Anonymise, "anonymise", false, "replace names of programs, hosts, paths and command lines")
	return c
}

// run makes a bundle and writes it to the file out, or to stdout.
func (h *Host) run(ctx context.Context, stdout io.Writer, args []string, out, times string, o bundle.Options) error {
	c, err := h.Config(args)
	if err != nil {
		return err
	}
	if err := free(out); err != nil {
		return err
	}
	if o.From, o.Until, err = h.Times(c, times); err != nil {
		return err
	}
	b, err := bundle.Make(ctx, c, o)
	h.Done()
	if err != nil {
		return err
	}
	defer b.Close()
	for _, k := range b.Kept {
		h.Say("%s", k)
	}
	for _, l := range b.Lacks {
		h.Say("the bundle lacks %s", l)
	}
	if c, err = b.Config(); err != nil {
		return err
	}
	info, err := h.info(c)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(info)) {
		if what, ok := strings.CutPrefix(line, "missing "); ok {
			h.Say("the bundle lacks: %s", strings.TrimSpace(what))
		}
	}
	fill := func(w io.Writer) error { return b.Write(w, info) }
	if out == "-" {
		return fill(stdout)
	}
	size, err := write(out, fill)
	if err == nil {
		h.Say("%s: %d bytes, of %d when unpacked", out, size, b.Bytes())
	}
	return err
}

// info returns what info prints of a bundle.
func (h *Host) info(c decoder.Config) ([]byte, error) {
	var b bytes.Buffer
	err := h.Info(&b, c)
	return b.Bytes(), err
}

// free says why a bundle cannot go to out. What exists may be what it is made of.
func free(out string) error {
	st, err := os.Lstat(out)
	switch {
	case out == "-" || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case st.IsDir():
		return &decoder.CallError{What: fmt.Sprintf("-o %s: it is a directory, need the name of a file", out)}
	}
	return &decoder.CallError{What: fmt.Sprintf("-o %s: it exists; remove it first, or name another file", out)}
}

// write fills a file. It appears under its name when it is whole.
func write(out string, fill func(io.Writer) error) (size int64, err error) {
	f, err := wholefile.New(out, ".ptdecode-*.tar.zst")
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = &fs.PathError{Op: "create", Path: out, Err: at.Err}
		}
		return 0, err
	}
	err = fill(f)
	if st, e := f.Stat(); e == nil {
		size = st.Size()
	}
	return size, wholefile.Keep(f, out, errors.Join(err, f.Chmod(0o644)))
}
