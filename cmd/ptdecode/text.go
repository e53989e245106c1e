package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/story"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/kcore"
)

// newTextCmd is the verb that prints the kernel's code as it was at a moment.
func newTextCmd(a *app) *cobra.Command {
	var o textFlags
	c := &cobra.Command{
		Use:   "text REC",
		Short: "print the kernel's code as it was at a given time",
		Long: `Print the kernel's code as it was at a given time: bytes and instructions. Unknown
code is shown as unknown. * marks code that changed during the recording.

TIME is start (before the first change), end (after the last), or a time as in
--time of flow: seconds with a decimal point, nanoseconds, +5ms, 10%, poke:385 or
poke:385-1us. A change counts from the time of its record on.

--diff prints what differs between two times. --write-kcore writes all code that is
known at that time as an ELF core file, like /proc/kcore. It has one segment for each
range of known bytes, and none for unknown ones. The machine of the file is that of the
code: x86-64, AArch64, or ARM (a 32-bit file).`,
		Example: `  ptdecode text perf.data --at 4.5 --sym try_to_wake_up
  ptdecode text perf.data --at end --range ffffffffc0549000-ffffffffc05490a0
  ptdecode text perf.data --diff start end
  ptdecode text perf.data --diff poke:385-1us poke:385
  ptdecode text perf.data --at end --write-kcore kcore.end
  ptdecode text snapshot/ --at start --range c0044700-c0044720 --isa t32`,
		Args: host.MaxArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.text(&o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.at, "at", "", "the moment: `TIME|start|end`")
	f.StringArrayVar(&o.syms, "sym", nil, "the function `NAME` (repeatable)")
	f.StringArrayVar(&o.ranges, "range", nil, "the addresses `A-B`, hexadecimal, B excluded (repeatable)")
	f.StringVar(&o.diff, "diff", "", "what differs between `T1 T2`")
	complete(c, "at", "start", "end")
	f.StringVar(&o.writeKcore, "write-kcore", "", "write an ELF core to `FILE` (-: standard output)")
	return c
}

// textFlags are the flags of text.
type textFlags struct {
	at, diff   string
	syms       []string
	ranges     []string
	writeKcore string
}

// secondTime takes T2 of --diff T1 T2 off the arguments. It is the last of them, or
// the first one if REC stands behind it.
func (o *textFlags) secondTime(args []string) (t1, t2 string, rest []string, err error) {
	t1, t2, two := strings.Cut(o.diff, ",")
	if o.diff == "" || two {
		return t1, t2, args, nil
	}
	n := len(args) - 1
	if n < 0 || n == 0 && !isMoment(args[0]) {
		return "", "", nil, usagef("--diff %s: need two moments, T1 T2", o.diff)
	}
	if n == 1 && !isMoment(args[1]) {
		return t1, args[0], args[1:], nil
	}
	return t1, args[n], args[:n], nil
}

// isMoment reports whether s can be read as a moment.
func isMoment(s string) bool {
	return s == "start" || s == "end" || filter.IsMoment(s)
}

// compatible fails if some of the flags do not go together.
func (o *textFlags) compatible() error {
	switch {
	case o.diff != "" && (o.at != "" || o.writeKcore != ""):
		return usagef("--diff names its moments itself: --at and --write-kcore do not go with it")
	case o.diff != "":
		return nil
	case o.at == "":
		return usagef("which moment? --at start, --at end, or --at TIME")
	case o.writeKcore != "" && len(o.syms)+len(o.ranges) > 0:
		return usagef("--write-kcore writes all code: --sym and --range do not go with it")
	case o.writeKcore == "" && len(o.syms)+len(o.ranges) == 0:
		return usagef("which code? --sym NAME, --range A-B, --diff T1 T2 or --write-kcore FILE")
	}
	return nil
}

func (a *app) text(o *textFlags, args []string) error {
	if len(args) > 1 && o.diff == "" {
		return usagef("argument %q is one too many: takes 1; --sym names functions, --at the moment", args[1])
	}
	if err := o.compatible(); err != nil {
		return err
	}
	t1, t2, args, err := o.secondTime(args)
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return usagef("argument %q is one too many: takes 1", args[1])
	}
	s, err := a.sessionFor(args, func(w *decoder.Warning) bool { return !w.NoTrace })
	if err != nil {
		return err
	}
	defer s.Close()
	for _, m := range [...][2]string{{"--at", o.at}, {"--diff", t1}, {"--diff", t2}} {
		if t, err := filter.ParseTime(m[1]); err == nil {
			a.ui.outside(s, m[0]+" "+m[1], t)
		}
	}
	if o.writeKcore != "" {
		e, _, err := moment(s, o.at)
		if err != nil {
			return err
		}
		if err := a.writeKcore(s, o.writeKcore, e); err != nil {
			return err
		}
		return a.whole(s, 0)
	}
	w := bufio.NewWriterSize(a.lines(false, 4), 1<<16)
	if o.diff != "" {
		a.ui.noChange(s, &a.open)
		err = printDiff(w, s, o, t1, t2)
	} else {
		err = printText(w, s, o, a.screen.width)
	}
	if e := w.Flush(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return a.whole(s, 0)
}

// moment reads start, end or a time.
func moment(s *decoder.Session, at string) (event.Epoch, uint64, error) {
	n := s.Text().Len()
	switch at {
	case "start":
		return 0, 0, nil
	case "end":
		if n == 0 {
			return 0, 0, nil
		}
		return event.Epoch(n), s.Text().Poke(n - 1).End, nil
	}
	t, err := filter.Moment(s, at)
	if err != nil {
		return 0, 0, usagef("%s; start and end are moments, too", err)
	}
	return s.EpochAt(t), t, nil
}

// stretch is addresses and the name under which they were asked for.
type stretch struct {
	name string
	addrRange
}

// findable gives those of names that text prints the code of.
func findable(s *decoder.Session, names []string) iter.Seq[string] {
	return slices.Values(slices.DeleteFunc(names, func(n string) bool {
		_, ok := s.FindSymbol(n)
		return !ok
	}))
}

// stretches returns what --sym and --range name.
func (o *textFlags) stretches(s *decoder.Session) ([]stretch, error) {
	var list []stretch
	for _, n := range o.syms {
		y, ok := s.FindSymbol(n)
		if !ok {
			functions, _, _ := decoder.NamesIn(s)
			if filter.Has(n, functions) {
				return nil, usagef("--sym %s: a program or a library has that function: text prints the kernel's code, and that of --text", n)
			}
			near := cmp.Or(filter.Nearest(n, findable(s, filter.Near(n, functions, 16))), ": give symbols with --kallsyms FILE, or an address with --range A-B")
			return nil, usagef("--sym %s: no such symbol%s", n, near)
		}
		list = append(list, stretch{n, addrRange{y.Addr, y.Len}})
	}
	for _, r := range o.ranges {
		a, err := parseRange(r)
		if err != nil {
			return nil, usagef("--range %s", err)
		}
		list = append(list, stretch{"", a})
	}
	return list, nil
}

// printText prints the code of each stretch.
func printText(w io.Writer, s *decoder.Session, o *textFlags, width int) error {
	e, t, err := moment(s, o.at)
	if err != nil {
		return err
	}
	list, err := o.stretches(s)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.name != "" {
			fmt.Fprintf(w, "%s: %s at epoch %d of %d\n", terminal.Plain(r.name), plural.Count(r.n, "byte"), e, s.Text().Len())
		}
		symbol := r.name
		report.Disassemble(s, r.first, r.n, e, t, func(l *report.Line) bool {
			_, err = io.WriteString(w, story.CodeLine(l, width, &symbol))
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// printDiff prints what differs between two moments, in the stretches asked for.
func printDiff(w io.Writer, s *decoder.Session, o *textFlags, t1, t2 string) error {
	from, ns1, err := moment(s, t1)
	if err != nil {
		return err
	}
	to, ns2, err := moment(s, t2)
	if err != nil {
		return err
	}
	list, err := o.stretches(s)
	if err != nil {
		return err
	}
	for _, c := range report.Diff(s, from, to) {
		wanted := len(list) == 0
		for _, r := range list {
			wanted = wanted || r.touches(c.Addr, c.Len)
		}
		if !wanted {
			continue
		}
		sym := c.Symbol
		if sym == "" {
			sym = "-"
		}
		_, err := fmt.Fprintln(w, terminal.Plain(fmt.Sprintf("%016x %s: %s -> %s", c.Addr, sym, diffSide(s, c.Old, &c, ns1), diffSide(s, c.New, &c, ns2))))
		if err != nil {
			return err
		}
	}
	return nil
}

// diffSide renders one side of a change.
func diffSide(s *decoder.Session, text []byte, c *report.Change, time uint64) string {
	switch {
	case text == nil:
		return plural.Count(c.Len, "byte") + " unknown"
	case len(text) > 2*output.SideBytes:
		return fmt.Sprintf("%d bytes (%s ...)", len(text), story.Disasm(s, text, c.Addr, time, 1))
	}
	return fmt.Sprintf("%x (%s)", text, story.Disasm(s, text, c.Addr, time, len(text)))
}

// writeKcore writes the code as of an epoch to a file.
func (a *app) writeKcore(s *decoder.Session, path string, e event.Epoch) error {
	_, mode := s.ISA()
	if path == "-" {
		return kcore.WriteKcore(a.out, s.Text(), e, mode)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = kcore.WriteKcore(f, s.Text(), e, mode)
	if c := f.Close(); err == nil {
		err = c
	}
	return err
}
