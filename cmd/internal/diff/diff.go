// Package diff is the verb that compares what two recordings executed, function by
// function, wherever these were loaded.
//
// Start reading in gather.go, for what is counted in each recording, and compare.go, for
// what is a difference.
package diff

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
)

// exitDiffers is the exit code where the recordings differ.
const exitDiffers = 4

// ofOne are flags that name parts of one recording.
var ofOne = []string{"pt", "etm", "etm-config", "text", "kcore", "kallsyms", "modules", "events", "learned", "guest"}

// Host is the command, as the verb sees it.
type Host struct {
	*host.Host
	Jobs     func() int
	Progress func(done, total int64)
	Done     func()               // ends the progress
	Exit     func(code int) error // ends the command
}

// flags are the flags of the verb that need to be read.
type flags struct{ expect, format, threshold string }

// New returns the verb.
func New(h *Host) *cobra.Command {
	var o options
	var x flags
	c := describe()
	f := c.Flags()
	f.StringVar(&x.threshold, "threshold", "20", "by how many percent counts and times may differ: `PCT`")
	f.StringVar(&o.cpus, "cpu", "", "only what these CPUs ran: `0,2-3`; of a snapshot by the numbers of its cores")
	f.StringSliceVar(&o.comms, "comm", nil, "only what threads of these names ran: `NAME,...`, or globs as \"sh,perf*\"")
	f.BoolVar(&o.interrupts, "interrupts", false, "also what ran inside of interrupts and exceptions")
	f.BoolVar(&o.times, "times", false, "also compare how long functions ran themselves")
	f.StringVar(&x.expect, "expect", "", "differences that are right, as diff prints them: `FILE`")
	f.StringVarP(&x.format, "output", "o", "text", "lines or JSON objects: `text|jsonl`")
	c.RunE = func(c *cobra.Command, args []string) error {
		v, err := x.verb(c, h, o)
		if err != nil {
			return err
		}
		return v.run(c, args)
	}
	return c
}

// describe returns the verb without its flags.
func describe() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "compare what two recordings of a kernel or program executed",
		Long: `Compare what two recordings executed. Code is named by function and offset, so it does
not matter where the kernel, a module or a library was loaded. A line is one
difference: "+" only B ran it, "-" only A, "~" both did, and not alike.

  + function NAME            a function
  + code NAME+0x10..+0x1c    instructions of a function that both ran
  + edge NAME+0x8 -> NAME2+0x0
                             a branch between code that both ran
  ~ calls NAME               how often it was entered
  ~ instructions NAME        how many instructions ran, of those that both ran
  ~ time NAME                how long it ran itself, with --times

Counts differ where the smaller one lacks more than --threshold percent of the larger.

What is left out:
  - what interrupts and exceptions did, as they come by chance: --interrupts counts it.
    On x86 and Arm that is what ran from the interrupt to its return, or until the
    kernel takes another thread's stack. Breakpoint exceptions of a change in progress
    are left out too, those of probes are not.
  - the bytes that a change to the code replaces. The code to which they lead is not.
  - what the trace does not settle (ambiguous), for what only one recording ran.
  - code that nothing names. Functions of one name count as one.

--expect FILE holds lines as diff prints them, with * and ? in names; counts do not
matter. They are not printed. What FILE expects and is not there is a difference, too.

Exit codes: 0 alike, 4 different, 3 alike as far as the trace goes: there are gaps.`,
		Example: `  ptdecode diff before/perf.data after/perf.data
  ptdecode diff old.tar.zst new.tar.zst --comm nginx --threshold 50
  ptdecode diff a.data b.data --cpu 0-3
  ptdecode diff a.data b.data -o jsonl | jq 'select(.change == "added")'
  ptdecode diff a.data b.data >known.txt
  ptdecode diff a.data c.data --expect known.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("need two recordings, A and B: have %d", len(args))
			}
			if args[0] == "-" && args[1] == "-" {
				return usage("- -: standard input is one recording, and can be read once")
			}
			return nil
		},
	}
}

// verb reads the flags.
func (x *flags) verb(c *cobra.Command, h *Host, o options) (*verb, error) {
	pct, err := strconv.ParseFloat(strings.TrimSuffix(x.threshold, "%"), 64)
	switch {
	case err != nil || !(0 <= pct && pct <= 100): // NaN, too
		return nil, usage("--threshold %q: need a percentage from 0 to 100", x.threshold)
	case x.format != "text" && x.format != "jsonl":
		return nil, usage("--output %q: need text or jsonl", x.format)
	}
	if _, err := filter.Globs("comm", o.comms); err != nil {
		return nil, err
	}
	for _, name := range ofOne {
		if c.Flags().Changed(name) {
			return nil, usage("--%s is of one recording: make bundles of A and B, which hold such files", name)
		}
	}
	v := &verb{host: h, o: o, threshold: pct, asJSON: x.format == "jsonl"}
	if x.expect != "" {
		v.expected, err = readExpected(x.expect)
	}
	return v, err
}

func usage(format string, args ...any) error {
	return &decoder.CallError{What: fmt.Sprintf(format, args...)}
}

// verb is a call of the verb.
type verb struct {
	host      *Host
	o         options
	threshold float64 // percent
	asJSON    bool
	expected  *expected // nil: nothing is
}

// out returns where differences go: lines of text are wrapped where they shall fit.
func (v *verb) out() io.Writer {
	if v.asJSON {
		return v.host.Out
	}
	return terminal.Wrapped(v.host.Out, v.host.Columns(), 4)
}

// choose takes the CPUs that are asked for of s, which is called name.
func (v *verb) choose(name string, s *decoder.Session) error {
	f, err := (&filter.Flags{CPUs: v.o.cpus}).Resolve(s)
	if err != nil {
		return usage("%s: %s", name, err)
	}
	if v.o.streams = f.Streams; f.Lacks != "" {
		v.host.Say("%s: %s", name, f.Lacks)
	}
	for i, st := range s.Streams() {
		if st.Executes() && (f.Streams == nil || slices.Contains(f.Streams, i)) {
			return nil
		}
	}
	return fmt.Errorf("%s: no trace here says which instructions were executed: there is nothing to compare", name)
}

// lacks says what of the recording called name is not known, and fails where nothing has a name.
func (v *verb) lacks(name string, gaps uint64, x *side) error {
	if gaps > 0 {
		v.host.Say("%s: %s: what ran there is not known", name, plural.Count(gaps, "gap"))
	}
	if x.unnamed == 0 {
		return nil
	}
	v.host.Say("%s: %s", name, plural.Word(x.unnamed, "1 instruction that ran has no symbol: it is left out", fmt.Sprint(x.unnamed, " instructions that ran have no symbols: they are left out")))
	if len(x.functions) == 0 {
		return fmt.Errorf("%s: no code that ran has a name, so there is nothing to compare: put its symbols into a bundle, as by bundle --kallsyms FILE", name)
	}
	return nil
}

// run compares two recordings.
func (v *verb) run(c *cobra.Command, args []string) error {
	var sides [2]*side
	var gaps uint64
	var whole func() error
	var unknown error // of A: what --comm names and it lacks
	for i, name := range args {
		s, err := v.host.Open([]string{name})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := v.choose(name, s); err != nil {
			return err
		}
		switch _, err := (&filter.Flags{Comms: v.o.comms}).Resolve(s); {
		case i == 0:
			unknown = err
		case err != nil && unknown != nil:
			return unknown // neither has it
		}
		v.o.jobs, v.o.progress = v.host.Jobs(), v.host.Progress
		n, err := gather(c.Context(), s, &v.o, v.host.Deliver)
		v.host.Done()
		if err != nil {
			return err
		}
		sides[i] = n.side()
		gaps += n.gaps
		if err := v.lacks(name, n.gaps, sides[i]); err != nil {
			return err
		}
		if i == 1 {
			whole = func() error { return v.host.Whole(s, gaps) }
		}
	}
	list := compare(sides[0], sides[1], v.threshold, v.o.times)
	var missing []string
	if v.expected != nil {
		list = v.expected.rest(list)
		missing = v.expected.missing()
	}
	w := bufio.NewWriter(v.out())
	err := print(w, list, v.asJSON)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	for _, m := range missing {
		v.host.Say("%s expects this, and it is not there: %s", v.expected.file, m)
	}
	if len(list)+len(missing) > 0 {
		return v.host.Exit(exitDiffers)
	}
	return whole()
}
