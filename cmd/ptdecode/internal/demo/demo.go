// Package demo is the verb that decodes and explains an embedded recording.
package demo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Demo is what the verb needs of the command: the recording's files, where it prints, and
// what runs another verb and returns what that printed.
type Demo struct {
	Files fs.ReadDirFS // in the folder demo
	Out   io.Writer
	Run   func(args ...string) (string, error)
}

// New returns the verb.
func New(d *Demo) *cobra.Command {
	var keep string
	c := &cobra.Command{
		Use:   "demo",
		Short: "decode and explain an embedded recording",
		Long: `Decode a small built-in recording, and explain it. CPU 0 patches a jump label while
CPU 1 runs through it: first over the old instruction, then into the trap, then
over the new instruction. --keep DIR keeps its files, to try the other verbs.`,
		Example: `  ptdecode demo
  ptdecode demo --keep d && ptdecode flow --pt 0:d/cpu0.pt --pt 1:d/cpu1.pt \
      --kcore d/kcore --kallsyms d/kallsyms --events d/events.jsonl --level insn`,
		RunE: func(*cobra.Command, []string) error { return d.show(keep) },
	}
	c.Flags().StringVar(&keep, "keep", "", "keep the recording in `DIR`")
	return c
}

// show unpacks the recording, decodes it and prints it with explanations.
func (d *Demo) show(keep string) (err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ptdecode-demo-*"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	files, err := d.Files.ReadDir("demo")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := fs.ReadFile(d.Files, "demo/"+f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), b, 0o666); err != nil {
			return err
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	parts := []string{"--pt", "0:" + in("cpu0.pt"), "--pt", "1:" + in("cpu1.pt"), "--kcore", in("kcore"), "--kallsyms", in("kallsyms"), "--events", in("events.jsonl")}
	pokes, err := d.Run(append([]string{"pokes"}, parts...)...)
	if err != nil {
		return err
	}
	flow, err := d.Run(append([]string{"flow", "--level", "insn", "-F", "cpu,time,ip,sym,off,disasm,verdict", "--notes"}, parts...)...)
	if err != nil {
		return err
	}
	drawn, err := d.Run(append([]string{"pokes", "--poke", "0", "-o", "jsonl"}, parts...)...)
	if err != nil {
		return err
	}
	var picture strings.Builder
	if err := draw(&picture, drawn); err != nil {
		return err
	}
	return explain(d.Out, pokes, picture.String(), flow)
}

// explain prints what pokes and flow printed, with the picture and explanations between.
func explain(w io.Writer, pokes, picture, flow string) error {
	fmt.Fprintf(w, "# The kernel changed one instruction while this was recorded (ptdecode pokes):\n%s#\n%s", pokes, picture)
	fmt.Fprint(w, "# What the CPUs executed meanwhile (ptdecode flow --level insn):\n")
	said := map[string]bool{}
	for line := range strings.Lines(flow) {
		if strings.HasPrefix(line, "# on ") || strings.HasPrefix(line, "# off ") {
			continue // user space is not traced
		}
		for _, e := range explanations() {
			if !said[e.text] && e.fits(line) && (e.after == "" || said[e.after]) {
				said[e.text] = true
				for t := range strings.SplitSeq(e.text, "\n") {
					fmt.Fprintf(w, "# %s\n", t)
				}
			}
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(w, "# With the text of one moment only, the first or the last would come out wrong,\n# and look right.\n")
	return err
}

// explanation is printed in front of the first line that has all of words.
type explanation struct {
	words []string
	text  string
	after string // not before this one was printed
}

func (e *explanation) fits(line string) bool {
	for _, w := range e.words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

// explanations returns all explanations, in their order.
func explanations() []explanation {
	const (
		label  = " ffffffff81000023 " // in handle_event; names may be shortened
		patch  = " ffffffff81000080 " // text_poke_bp
		before = "CPU 1, a system call before the change: the jump label is a NOP."
		poke   = "CPU 0 patches: INT3 over the first byte, a sync of all CPUs, the tail, a sync\n(here the record is made), the first byte, a sync."
		trap   = "CPU 1, one during the change: it meets the INT3, which is in no copy of the\ntext. Its handler does what the new instruction will do: iretq goes where the\njump leads."
		behind = "CPU 1, one after the change: the same address holds a jump."
	)
	return []explanation{
		{[]string{label, "nop"}, before, ""},
		{[]string{patch, "movb"}, poke, ""},
		{[]string{"# trap"}, trap, ""},
		{[]string{label, "jmp"}, behind, trap},
	}
}
