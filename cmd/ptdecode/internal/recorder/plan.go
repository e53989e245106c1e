package recorder

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/kcore/image"
)

// note is something that a recording will lack, or that keeps it from being made, and
// what to do about it.
type note struct {
	what, hint string
	stops      bool // nothing is recorded
}

// plan is what perf is run with, and what it will not record.
type plan struct {
	perf    string // the program
	args    *args
	output  string // the recording's directory
	kernel  bool   // the kernel's code is needed
	copies  bool   // ptdecode copies it before perf runs, as perf cannot
	events  []string
	options []string // besides events
	breaks  []breakpoint
	notes   []note
}

// defaultOutput is the recording's directory where -o names none, as perf has it.
const defaultOutput = "perf.data"

func (p *plan) lacks(hint, format string, a ...any) {
	p.notes = append(p.notes, note{fmt.Sprintf(format, a...), hint, false})
}

func (p *plan) stop(hint, format string, a ...any) {
	p.notes = append(p.notes, note{fmt.Sprintf(format, a...), hint, true})
}

// stopped reports whether nothing can be recorded.
func (p *plan) stopped() bool {
	return slices.ContainsFunc(p.notes, func(n note) bool { return n.stops })
}

// command is perf's command line. What was asked for stands behind what is added.
func (p *plan) command() []string {
	list := []string{p.perf, "record"}
	if p.args.output == "" && !p.copies {
		list = append(list, "-o", p.output)
	}
	list = append(list, p.options...)
	for i := range p.breaks {
		list = append(list, "-e", p.breaks[i].event())
	}
	if len(p.breaks) > 0 {
		list = append(list, breakRegisters)
	}
	for _, e := range p.events {
		list = append(list, "-e", e)
	}
	list = append(list, p.args.options...)
	command := p.args.command
	if h := heldIn(p.output); p.copies {
		list = append(append(list, h.options()...), "-o", filepath.Join(p.output, "data")) // the last one holds
		if len(command) > 0 {
			command = h.waiting(command)
		}
	}
	if len(command) > 0 {
		list = append(append(list, "--"), command...)
	}
	return list
}

// makePlan says how perf, of a version, records on a machine what was asked for.
func makePlan(m *machine, a *args, perf string, version kernelVersion, code *image.Image) *plan {
	p := &plan{perf: perf, args: a, output: a.output, kernel: !a.userOnly()}
	if p.output == "" {
		p.output = defaultOutput
	}
	if p.output == "-" {
		p.stop("name a directory with -o", "-o -: a pipe holds no copy of the kernel's code")
	}
	p.chooseEvents(m)
	p.chooseOptions(m, version)
	if m.arm && p.kernel {
		p.chooseBreaks(m, code)
	}
	p.rights(m)
	p.untold(m)
	return p
}

// chooseEvents adds the machine's trace unit where no event is named.
func (p *plan) chooseEvents(m *machine) {
	a := p.args
	for _, name := range traced() {
		if a.asksFor(name) && m.unitNamed(name) == nil {
			p.stop(hintUnit(m), "%s: this machine has no such trace unit: %s/%s is not there", name, devices, name)
		}
	}
	if len(a.events) == 0 {
		if len(m.units) == 0 {
			p.stop(hintUnit(m), "no trace unit: neither %s is in %s", strings.Join(traced(), " nor "), devices)
			return
		}
		p.events = append(p.events, m.units[0].name+"//k")
	}
	if u := m.unitNamed("cs_etm"); u != nil && u.sinks == 0 && (a.asksFor("cs_etm") || len(a.events) == 0) {
		p.stop("load the drivers of the machine's sinks: modprobe coresight-tmc, coresight-etb10 or coresight-trbe", "cs_etm: %s/cs_etm/sinks lists no sink: trace has nowhere to go", devices)
	}
	for _, list := range a.events {
		for _, e := range splitEvents(list) {
			if strings.HasPrefix(e, "intel_pt/") && strings.Contains(e, "tsc=0") {
				p.lacks("leave tsc=0 out", "%s: without TSC packets the trace has no time: changes to code cannot be put in time with it", e)
			}
		}
	}
}

// buffers is what each CPU's records have room for until perf writes them: a function
// tracer that is switched on changes tens of thousands of places at once.
const buffers = "4M"

// hintUnit says how a machine comes to a trace unit.
func hintUnit(m *machine) string {
	how := "Intel PT needs a processor that has it, and in a virtual machine a hypervisor that passes it on"
	if m.arm || m.arm32 {
		how = "CoreSight needs a board whose firmware describes it, and the modules coresight, coresight-etm4x and those of its sinks"
	}
	return how + "; to record the kernel's changes alone, add -a -e dummy"
}

// widestCopy is what perf may copy of the kernel's memory between the first symbol of a module
// and the last one, bytes: more fills disks. arm64 with KASLR has BPF programs terabytes from
// modules (tools/perf/util/symbol-elf.c, kcore_copy__calc_maps, v6.12;
// arch/arm64/mm/init.c, execmem_arch_setup, v6.12).
const widestCopy = 4 << 30

// chooseOptions adds the options that decoding needs.
func (p *plan) chooseOptions(m *machine, version kernelVersion) {
	a := p.args
	add := func(name, option string) {
		if !a.has[name] {
			p.options = append(p.options, option)
		}
	}
	own := a.has["kcore"] || a.has["delay"] || a.has["control"] || version.before(5, 12) // perf knows ping from then on
	if p.kernel && m.arm && m.moduleSpan() > widestCopy && !own {
		p.copies = true // without --kcore; no TEXT_POKE records are missed on Arm
	} else if p.kernel {
		add("kcore", "--kcore") // and with it TEXT_POKE records
	}
	add("no-buildid-cache", "--no-buildid-cache") // it lies in the home directory
	add("timestamp", "--timestamp")
	add("switch-events", "--switch-events")
	if m.may(capIPCLock) {
		add("mmap-pages", "--mmap-pages="+buffers)
	}
	if !a.all && !a.some && !a.perTask && len(a.command) == 0 {
		p.options = append(p.options, "--all-cpus")
	}
	if a.clock != "" {
		p.lacks("leave -k out", "-k %s: times of another clock do not convert to those of the trace", a.clock)
	}
	if version.before(5, 9) && p.kernel {
		p.lacks("install a perf of v5.9 or later; one that is newer than the kernel does", "perf %d.%d asks for no TEXT_POKE records: changes to the kernel's code are not recorded", version.major, version.minor)
	}
}

// chooseBreaks adds the breakpoints that record an AArch64 kernel's changes.
func (p *plan) chooseBreaks(m *machine, code *image.Image) {
	a := p.args
	if m.syms == nil {
		return // told of by rights
	}
	list := breakpoints(m.syms, code)
	switch {
	case len(list) == 0:
		p.lacks("give them with --events FILE when decoding", "%s is not in /proc/kallsyms: this kernel's changes to its code cannot be recorded by breakpoints", insnWrite)
		return
	case a.has["intr-regs"]:
		p.lacks("leave --intr-regs out: x0, x1, x2 and lr are recorded", "--intr-regs: perf takes it once, so no breakpoints record the changes to the kernel's code")
		return
	case a.period != "" && a.period != "-c 1":
		p.lacks("give the period to the event: -e cycles/period=100000/", "%s: it would hold for breakpoints too, so none records the changes to the kernel's code", a.period)
		return
	}
	p.breaks = list
	if a.some || a.perTask || !a.all && len(a.command) > 0 {
		p.lacks("record with -a", "without -a only the changes are recorded that the traced threads make themselves")
	}
}

// untold says what of the kernel's changes the kernel itself does not tell.
func (p *plan) untold(m *machine) {
	if !p.kernel {
		return
	}
	switch {
	case m.arm:
	case m.arm32:
		p.lacks("give them with --events FILE when decoding", "kernels of 32-bit Arm let nothing record the changes to their code")
	case m.version.before(5, 8):
		p.lacks("set the probes that docs/recording.md has for such kernels, and add -e 'txt:*'", "Linux %d.%d makes no TEXT_POKE records, v5.8 was the first: changes to its code are not recorded", m.version.major, m.version.minor)
	}
}
