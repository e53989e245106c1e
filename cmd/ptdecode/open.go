package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/vmlinux"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/bare"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/heap"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// openFlags are the flags that say what to read; every verb has them.
type openFlags struct {
	raw                               []rawFlag // a flag for each protocol that has one
	text, etm, kcore                  []string
	kallsyms, modules, vmlinux        string
	events, etmConfig, buffer, filter string
	model, memory, symfs, learned     string
	clockError                        uint64
	buildIDs, guests                  []string
	jobs, passes                      int
	allBuffers, allowGaps, noLearn    bool
	opcodes, mangled                  bool
	isa, syntax                       string
	quiet                             *bool
}

// addOpenFlags gives c and its verbs the flags.
func (o *openFlags) addOpenFlags(c *cobra.Command) {
	f := c.PersistentFlags()
	for _, p := range decoder.Protocols() {
		if p.RawFlag != "" {
			o.raw = append(o.raw, rawFlag{p, f.StringArray(p.RawFlag, nil, "raw "+p.Name+" trace `[CPU:]FILE` (default CPU 0; repeatable)")})
		}
	}
	f.StringArrayVar(&o.etm, "etm", nil, "raw ETMv4 or ETE trace `[ID:]FILE`, as a trace unit sent it: no frames, one trace ID (repeatable)")
	f.StringVar(&o.etmConfig, "etm-config", "", "what the units of --etm are configured as: `REGS`, values of TRCCONFIGR, TRCIDR0, TRCIDR1 and TRCIDR2, as TRCCONFIGR=0x1841,TRCIDR0=0x28000ea1, or an ini file")
	f.StringArrayVar(&o.text, "text", nil, "machine code `FILE[@ADDR]`: an ELF file by its program headers, shifted by ADDR; any other file as raw bytes at ADDR (repeatable)")
	f.StringArrayVar(&o.kcore, "kcore", nil, "kernel code from `FILE`, a kcore or vmlinux: replaces the recording's own; a snapshot's dumps come first (give it twice for copies from before and after the recording)")
	f.Uint64Var(&o.clockError, "clock-error", 0, "times of records may be wrong by up to `NS` nanoseconds")
	f.StringVar(&o.kallsyms, "kallsyms", "", "kernel symbols from `FILE`, in the form of /proc/kallsyms")
	f.StringVar(&o.vmlinux, "vmlinux", "", "take the kernel's source lines, names where nothing else has one, and in formats of export that name a file its addresses, from the vmlinux `FILE`; its code is not taken")
	f.StringVar(&o.modules, "modules", "", "module list from `FILE`, in the form of /proc/modules")
	f.StringVar(&o.events, "events", "", "everything but trace and code from `FILE`, as ptdecode events writes it")
	f.StringVar(&o.model, "cpu-model", "", "the CPU's `FAMILY/MODEL[/STEPPING]`, for its errata")
	f.StringVar(&o.filter, "filter", "", "the address `FILTER` of the recording, with numbers for addresses: \"filter 0x1000/0x20, tracestop 0x3000/0x10@FILE\"")
	f.StringVar(&o.buffer, "buffer", "", "read the trace buffer `NAME` of a snapshot (default: the first)")
	f.BoolVar(&o.allBuffers, "all-buffers", false, "read all trace buffers of a snapshot")
	f.BoolVar(&o.opcodes, "check-opcodes", false, "treat A64 words 0x0000xxxx as invalid: they mean that the memory image is not the code that ran")
	f.StringArrayVar(&o.guests, "guest", nil, "what a virtual machine executed, of `PID=FILE[,OFFSET]`: PID runs it, FILE is the perf.data recorded inside of it, OFFSET nanoseconds make its times the host's; without, that is found (repeatable)")
	f.StringVar(&o.isa, "isa", "", "instruction set `a64|a32|t32` for disassembling Arm code that the trace does not cover (text, pokes)")
	f.StringVar(&o.symfs, "symfs", "", "look for mapped files under `DIR`")
	f.StringArrayVar(&o.buildIDs, "buildid-dir", nil, "look for mapped files by build ID in `DIR` (repeatable)")
	f.BoolVar(&o.mangled, "no-demangle", false, "print names of C++ and Rust as the linker has them")
	f.IntVarP(&o.jobs, "jobs", "j", 0, "decode `N` segments at once (0: one per CPU)")
	f.StringVar(&o.memory, "memory", "1GiB", "let all buffers together take `SIZE`: 256MiB, 1GiB, 500M, or bytes; less is slower, and may leave more unconfirmed")
	f.BoolVar(&o.noLearn, "no-learn", false, "take the code as it is given, even if the trace contradicts it; what boot made of a vmlinux is still learned from the trace")
	f.IntVar(&o.passes, "learn-passes", 0, "decode all of the recording up to `N` times to test what is learned of the code (0: 3)")
	f.StringVar(&o.learned, "learned", "", "take what was learned of the code from `FILE`, as pokes --learned -o jsonl writes it")
	f.BoolVar(&o.allowGaps, "allow-gaps", false, "exit 0, not 3, when there are gaps")
	f.StringVar(&o.syntax, "syntax", "gnu", "print x86 instructions as `gnu|intel|go` does")
	complete(c, "isa", "a64", "a32", "t32")
	complete(c, "syntax", syntaxes...)
	o.quiet = f.BoolP("quiet", "q", false, "only errors on standard error")
}

// armModes is the mode that each value of --isa stands for.
var armModes = map[string]isa.Mode{"": isa.ModeUnknown, "a64": isa.ModeA64, "a32": isa.ModeA32, "t32": isa.ModeT32}

// syntaxes are the values of --syntax.
var syntaxes = []string{"gnu", "intel", "go"}

// anyPart reports whether any raw part is named.
func (o *openFlags) anyPart() bool {
	return o.anyTrace() || len(o.text) > 0 || len(o.kcore) > 0 || o.events != ""
}

// defaultRecording is what is read where no recording and no part is named, as perf does.
const defaultRecording = "perf.data"

// decoderConfig says what to open: the flags, and the arguments, REC or none.
func (o *openFlags) decoderConfig(args []string) (decoder.Config, error) {
	c := decoder.Config{
		ClockError: o.clockError, Kallsyms: o.kallsyms, Modules: o.modules,
		Events: o.events, SymFS: o.symfs, BuildIDs: o.buildIDs,
		Buffer: o.buffer, AllBuffers: o.allBuffers, CheckOpcodes: o.opcodes,
		NoLearn: o.noLearn, LearnPasses: o.passes, Learned: o.learned, NoDemangle: o.mangled,
	}
	var known bool
	if c.Mode, known = armModes[o.isa]; !known {
		return c, usagef("--isa %q: need a64, a32 or t32", o.isa)
	}
	if c.Syntax = o.syntax; !slices.Contains(syntaxes, o.syntax) {
		return c, usagef("--syntax %q: need gnu, intel or go", o.syntax)
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
	} else if !o.anyPart() {
		if _, err := os.Stat(defaultRecording); err != nil {
			return c, usagef("nothing to read: name a recording, or raw parts with --pt and --kcore")
		}
		c.Recording = defaultRecording
	}
	if o.buffer != "" && o.allBuffers {
		return c, usagef("--buffer %s: --all-buffers does not go with it", o.buffer)
	}
	if o.passes < 0 {
		return c, usagef("--learn-passes %d: need 0 or more", o.passes)
	}
	if o.jobs < 0 {
		return c, usagef("--jobs %d: need 0 or more", o.jobs)
	}
	o.jobs = min(o.jobs, maxJobs)
	err := o.values(&c)
	return c, err
}

// values sets what of c is written in flags as more than a name or a number.
func (o *openFlags) values(c *decoder.Config) (err error) {
	if c.Memory, err = heap.ParseSize(o.memory, decoder.MinMemory); err != nil {
		return usagef("--memory %s", err)
	}
	if o.model != "" {
		if c.Model, err = pt.ParseModel(o.model); err != nil {
			return usagef("--cpu-model: %s", err)
		}
	}
	if c.Filters, err = decoder.ParseFilters(o.filter); err != nil {
		return usagef("--filter: %s", err)
	}
	for _, t := range o.text {
		f, err := bare.Code(t)
		if err != nil {
			return usagef("--text: %s", err)
		}
		c.Code = append(c.Code, f)
	}
	if c.Guests, err = parseGuests(o.guests); err != nil {
		return err
	}
	if c.Raw, err = o.rawTrace(); err != nil {
		return err
	}
	units, err := bare.Traces(o.etm, o.etmConfig)
	if err != nil {
		return usagef("%s", err)
	}
	c.Raw = append(c.Raw, units...)
	return nil
}

// rawFlag is a protocol's flag that names files of bare trace.
type rawFlag struct {
	protocol *decoder.Protocol
	files    *[]string
}

// anyTrace reports whether a file of bare trace is named.
func (o *openFlags) anyTrace() bool {
	return len(o.etm) > 0 || slices.ContainsFunc(o.raw, func(r rawFlag) bool { return len(*r.files) > 0 })
}

// rawTrace returns the files of bare trace that the flags name.
func (o *openFlags) rawTrace() (list []decoder.RawTrace, err error) {
	for _, flag := range o.raw {
		for _, s := range *flag.files {
			r, err := bare.Trace(flag.protocol, s)
			if err != nil {
				return nil, usagef("%s", err)
			}
			for _, other := range list {
				if other.CPU == r.CPU {
					return nil, usagef("--%s %s: CPU %d has %s already", flag.protocol.RawFlag, s, r.CPU, other.Path)
				}
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// exists reports whether there is a file or a directory called name.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// maxJobs is more than is of use; each takes memory and time.
const maxJobs = 1 << 10

// config is openFlags.decoderConfig with standard input. It also sets whether a.ui
// is quiet.
func (a *app) config(args []string) (decoder.Config, error) {
	a.ui.quiet = *a.open.quiet
	c, err := a.open.decoderConfig(args)
	if c.Recording == "-" {
		c.Stdin = a.in
	}
	if err == nil {
		a.vmlinux, err = vmlinux.Read(a.open.vmlinux)
	}
	return c, err
}

// session opens what the flags and args name, and says what is missing or
// doubtful. The caller closes it.
func (a *app) session(args []string) (*decoder.Session, error) {
	return a.sessionFor(args, everyWarning)
}

// everyWarning is for a verb to which all warnings matter (sessionFor).
func everyWarning(*decoder.Warning) bool { return true }

// sessionFor is session for a verb to which only some warnings matter: those for
// which concerns returns true.
func (a *app) sessionFor(args []string, concerns func(*decoder.Warning) bool) (*decoder.Session, error) {
	s, err := named(a, args)
	if err == nil {
		a.ui.warn(slices.DeleteFunc(slices.Clone(s.Warnings()), func(w decoder.Warning) bool { return !concerns(&w) }))
	}
	return s, err
}

// named opens what the flags and args name, and has it named by --vmlinux.
func named(a *app, args []string) (s *decoder.Session, err error) {
	c, err := a.config(args)
	if err == nil {
		s, err = host.Until(a.ctx, func() (*decoder.Session, error) { return decoder.Open(c) })
	}
	if err != nil {
		return nil, err
	}
	heap.Limit(c.Memory)
	if err = a.vmlinux.Names(s, a.ui.say); err != nil {
		s.Close()
	}
	return s, err
}

// tracedSession is sessionFor for a verb that needs trace. It fails where there is none.
func tracedSession(a *app, args []string, concerns func(*decoder.Warning) bool) (*decoder.Session, error) {
	s, err := a.sessionFor(args, func(w *decoder.Warning) bool { return !w.NoTrace && concerns(w) })
	if err == nil && noBytes(s) {
		err = noTrace(s)
		s.Close()
	}
	return s, err
}

// traced does something with what args name, and with the part of it that the flags let
// pass. It fails where there is no trace. Warnings are those of sessionFor.
func (a *app) traced(args []string, concerns func(*decoder.Warning) bool, where *filter.Flags, do func(*decoder.Session, *filter.Filter) error) error {
	s, err := tracedSession(a, args, concerns)
	if err != nil {
		return err
	}
	defer s.Close()
	only, err := where.Resolve(s)
	if err != nil {
		return err
	}
	a.ui.doubtful(s, only, where.TIDs)
	return do(s, only)
}

// whole makes the exit code of the gaps met and of damage. What is damaged was said
// when s was opened.
func (a *app) whole(s *decoder.Session, n uint64) error {
	for _, st := range s.Streams() {
		if st.Missing > 0 {
			a.ui.say("%s: its trace is cut short: the last %s %s missing", st.Name, plural.Count(st.Missing, "byte"), plural.Word(st.Missing, "is", "are"))
		}
	}
	if n == 0 {
		return a.undamaged(s.Warnings())
	}
	return a.gaps(n)
}

// undamaged fails if one of the warnings says that something is damaged.
func (a *app) undamaged(warns []decoder.Warning) error {
	if !spoiled(warns) {
		return nil
	}
	a.ui.say("the recording could not be read whole")
	return a.gapCode()
}

// gaps says how many gaps were met, and makes the exit code of them.
func (a *app) gaps(n uint64) error {
	if n == 0 {
		return nil
	}
	a.ui.say("%s", plural.Count(n, "gap"))
	return a.gapCode()
}

// gapCode is the exit code for output that is incomplete.
func (a *app) gapCode() error {
	if a.open.allowGaps {
		return nil
	}
	return &exitError{code: exitGaps}
}
