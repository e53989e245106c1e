package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// openFlags are the flags that say what to read; every verb has them.
type openFlags struct {
	pt         []string
	text       []string
	kcore      []string
	kallsyms   string
	modules    string
	events     string
	model      string
	clockError uint64
	filter     string
	symfs      string
	buildIDs   []string
	jobs       int
	memory     string
	allowGaps  bool
	buffer     string
	allBuffers bool
	opcodes    bool
	isa        string
	quiet      *bool
}

// add gives c the flags, and its verbs.
func (o *openFlags) add(c *cobra.Command) {
	f := c.PersistentFlags()
	f.StringArrayVar(&o.pt, "pt", nil, "raw Intel PT `[CPU:]FILE` (CPU 0 if not said; repeatable)")
	f.StringArrayVar(&o.text, "text", nil, "machine code `FILE[@ADDR]`: ELF by its program headers, shifted by ADDR; anything else raw at ADDR (repeatable)")
	f.StringArrayVar(&o.kcore, "kcore", nil, "kernel text from `FILE`: a kcore or vmlinux; in place of the recording's own, but behind the dumps of a snapshot (twice: one of before the recording, one of after it)")
	f.Uint64Var(&o.clockError, "clock-error", 0, "times of records may be off by `NS` nanoseconds, either way")
	f.StringVar(&o.kallsyms, "kallsyms", "", "kernel symbols from `FILE`, as /proc/kallsyms")
	f.StringVar(&o.modules, "modules", "", "module list from `FILE`, as /proc/modules")
	f.StringVar(&o.events, "events", "", "the recording's other facts from `FILE`, as ptdecode events writes them")
	f.StringVar(&o.model, "cpu-model", "", "`FAMILY/MODEL[/STEPPING]` of the CPU, for its errata")
	f.StringVar(&o.filter, "filter", "", "address `FILTER` that the trace was recorded with, in numbers: \"filter 0x1000/0x20, tracestop 0x3000/0x10@FILE\"")
	f.StringVar(&o.buffer, "buffer", "", "of a snapshot: the trace buffer `NAME` (the first if not said)")
	f.BoolVar(&o.allBuffers, "all-buffers", false, "of a snapshot: all trace buffers")
	f.BoolVar(&o.opcodes, "check-opcodes", false, "A64 instructions whose upper half is zero are none: they show memory that is not what was executed")
	f.StringVar(&o.isa, "isa", "", "Arm: `a64|a32|t32` is the instruction set of text that no trace leads through, as text and pokes print it")
	f.StringVar(&o.symfs, "symfs", "", "look for mapped files under `DIR`")
	f.StringArrayVar(&o.buildIDs, "buildid-dir", nil, "look for mapped files by build ID in `DIR` (repeatable)")
	f.IntVarP(&o.jobs, "jobs", "j", 0, "decode `N` segments at once (0: one a CPU)")
	f.StringVar(&o.memory, "memory", "1GiB", "let all buffers together take `SIZE`: 256MiB, 1GiB, 500M, or bytes; less is slower, never different")
	f.BoolVar(&o.allowGaps, "allow-gaps", false, "exit 0, not 3, when there are gaps")
	o.quiet = f.BoolP("quiet", "q", false, "say nothing but errors on standard error")
}

// given reports whether any raw part is named.
func (o *openFlags) given() bool {
	return len(o.pt) > 0 || len(o.text) > 0 || len(o.kcore) > 0 || o.events != ""
}

// config makes what to open of the flags and of the arguments: REC or none.
func (o *openFlags) config(args []string) (decoder.Config, error) {
	c := decoder.Config{
		Text: o.text, ClockError: o.clockError, Kallsyms: o.kallsyms, Modules: o.modules,
		Events: o.events, Model: o.model, Filter: o.filter, SymFS: o.symfs, BuildIDs: o.buildIDs,
		Buffer: o.buffer, AllBuffers: o.allBuffers, CheckOpcodes: o.opcodes,
	}
	switch o.isa {
	case "":
	case "a64":
		c.Mode = isa.ModeA64
	case "a32":
		c.Mode = isa.ModeA32
	case "t32":
		c.Mode = isa.ModeT32
	default:
		return c, usagef("--isa %q: need a64, a32 or t32", o.isa)
	}
	switch len(o.kcore) {
	case 2:
		c.Late = o.kcore[1]
		fallthrough
	case 1:
		c.Kcore = o.kcore[0]
	case 0:
	default:
		return c, usagef("--kcore: %d files, at most 2", len(o.kcore))
	}
	if len(args) > 0 {
		c.Recording = args[0]
	} else if !o.given() {
		return c, usagef("nothing to read: name a recording, or raw parts with --pt and --kcore")
	}
	if o.buffer != "" && o.allBuffers {
		return c, usagef("--buffer %s: --all-buffers does not go with it", o.buffer)
	}
	if o.jobs < 0 {
		return c, usagef("--jobs %d: need 0 or more", o.jobs)
	}
	var err error
	if c.Memory, err = parseMemory(o.memory); err != nil {
		return c, usagef("--memory %s", err)
	}
	if o.model != "" {
		if _, err := pt.ParseModel(o.model); err != nil {
			return c, usagef("--cpu-model: %s", err)
		}
	}
	for _, s := range o.pt {
		r, err := parsePT(s)
		if err != nil {
			return c, err
		}
		for _, other := range c.PT {
			if other.CPU == r.CPU {
				return c, usagef("--pt %s: CPU %d has %s already", s, r.CPU, other.Path)
			}
		}
		c.PT = append(c.PT, r)
	}
	return c, nil
}

// parsePT reads [CPU:]FILE: a decimal number and a colon in front are the CPU.
func parsePT(s string) (decoder.RawPT, error) {
	r := decoder.RawPT{Path: s}
	if n, path, ok := strings.Cut(s, ":"); ok && isNumber(n) {
		cpu, err := strconv.ParseInt(n, 10, 32)
		if err != nil {
			return r, usagef("--pt %s: %q is no CPU number", s, n)
		}
		r = decoder.RawPT{CPU: int32(cpu), Path: path}
	}
	if r.Path == "" {
		return r, usagef("--pt %q names no file", s)
	}
	return r, nil
}

// isNumber reports whether s is decimal digits and nothing else.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// config is openFlags.config, with standard input and the tone of voice set.
func (a *app) config(args []string) (decoder.Config, error) {
	a.ui.quiet = *a.open.quiet
	c, err := a.open.config(args)
	if c.Recording == "-" {
		c.Stdin = a.in
	}
	return c, err
}

// session opens what the flags and args name and tells what is missing or
// doubtful. The caller closes it.
func (a *app) session(args []string) (*decoder.Session, error) {
	return a.sessionFor(args, func(*decoder.Warning) bool { return true })
}

// sessionFor is session for a verb that some of it does not concern.
func (a *app) sessionFor(args []string, concerns func(*decoder.Warning) bool) (*decoder.Session, error) {
	c, err := a.config(args)
	if err != nil {
		return nil, err
	}
	s, err := decoder.Open(c)
	if err != nil {
		return nil, err
	}
	limitMemory(c.Memory)
	a.ui.warn(slices.DeleteFunc(slices.Clone(s.Warnings()), func(w decoder.Warning) bool { return !concerns(&w) }))
	return s, nil
}

// whole is gaps for a session of which something may not have been readable,
// which was told when it was opened.
func (a *app) whole(s *decoder.Session, n uint64) error {
	if n == 0 {
		return a.undamaged(s.Warnings())
	}
	return a.gaps(n)
}

// undamaged fails if a warning tells of damage.
func (a *app) undamaged(warns []decoder.Warning) error {
	if !slices.ContainsFunc(warns, func(w decoder.Warning) bool { return w.Damage }) {
		return nil
	}
	a.ui.say("the recording could not be read whole")
	return a.gapCode()
}

// gaps tells how many gaps were met and makes the exit code of it.
func (a *app) gaps(n uint64) error {
	if n == 0 {
		return nil
	}
	a.ui.say("%d gap%s", n, pick(n, "", "s"))
	return a.gapCode()
}

// gapCode is the exit code for what was decoded, with gaps.
func (a *app) gapCode() error {
	if a.open.allowGaps {
		return nil
	}
	return &exitError{code: exitGaps}
}
