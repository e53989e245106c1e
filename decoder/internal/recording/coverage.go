package recording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
)

// How a function of the kernel is watched.
const (
	byBreakpoint = "breakpoint at "
	byProbe      = "probe of "
)

// watch notes which of the kernel's patchers the breakpoints of a recording are set at.
func (x *patches) watch() {
	for _, a := range x.r.Attrs() {
		if a.Type == perfdata.EventBreakpoint && watches(a, x.r) {
			x.seen[byBreakpoint+x.nameOf(x.breakpoint(a.Config1))] = true
		}
	}
	delete(x.seen, byBreakpoint)
}

// maintained names a breakpoint behind the maintenance of caches.
const maintained = "the end of their maintenance"

// nameOf names a patcher; "" is that of none.
func (x *patches) nameOf(what patcher) string {
	if what == patchCleaned {
		return maintained
	}
	for _, row := range patcherRows() {
		if what != patchNone && (row.at == what || row.end == what) {
			return row.name
		}
	}
	return ""
}

// addressOf names a function with its address, for a command line.
func (x *patches) addressOf(name string) string {
	if y, ok := x.syms.Find(name); ok {
		return fmt.Sprintf("-e mem:0x%x:x", y.Addr)
	}
	return name
}

// tellCovered says which changes to the kernel's code the samples cover, and which not.
func tellCovered(f *facts, x *patches) {
	for name := range x.seen {
		f.Meta.Watched = append(f.Meta.Watched, name)
	}
	slices.Sort(f.Meta.Watched)
	has := func(patcher string) bool { return x.seen[byBreakpoint+patcher] }
	writes, literals := has("__aarch64_insn_write"), has("aarch64_insn_write_literal_u64")
	f.asksPokes = f.asksPokes || writes || x.seen[byProbe+"arch_jump_label_transform_queue"] || x.seen[byProbe+"text_poke_bp"]
	lacks := func(hint, format string, args ...any) {
		f.Warnings = append(f.Warnings, Warning{What: f.Name + "+0x0: " + fmt.Sprintf(format, args...), Hint: hint})
	}
	if writes {
		if !literals && x.there("aarch64_insn_write_literal_u64") {
			lacks("record with "+x.addressOf("aarch64_insn_write_literal_u64")+" too", "breakpoints: none at aarch64_insn_write_literal_u64: the literals of ftrace are not covered; nothing runs them")
		}
		if !has("caches_clean_inval_pou") {
			lacks("record with "+x.addressOf("caches_clean_inval_pou")+" too", "breakpoints: none at caches_clean_inval_pou: each change is taken to last until the thread's next one, or 1 ms")
		} else if !has(maintained) {
			hint := "record with a breakpoint at the lr of those samples too"
			if x.back != 0 {
				hint = fmt.Sprintf("record with -e mem:0x%x:x too", x.back)
			}
			lacks(hint, "breakpoints: none where caches_clean_inval_pou returns to: the end of a change is estimated by the quickest one")
		}
		var not, how []string
		for _, name := range []string{"aarch64_insn_copy", "aarch64_insn_set"} {
			if !has(name) && x.there(name) {
				not, how = append(not, name), append(how, x.addressOf(name))
			}
		}
		if len(not) > 0 {
			lacks("record with "+strings.Join(how, " ")+", and x2 in --intr-regs, if the CPU has that many breakpoints",
				"breakpoints: none at %s: code that BPF and execmem write is not covered", strings.Join(not, ", "))
		}
		return
	}
	if x.seen[byProbe+"__set_fixmap"] || x.seen[byProbe+"arch_jump_label_transform_queue"] || x.seen[byProbe+"stop_machine_cpuslocked"] {
		lacks("record by breakpoints, as ptdecode record does", "probes: the words of ftrace are in none of their samples: its sites are unknown behind a change")
	}
	if x.unread > 0 {
		lacks("name the arguments as docs/recording.md does", "probes: %d samples lack the arguments that say what was written", x.unread)
	}
}

// there reports whether the kernel has a function.
func (x *patches) there(name string) bool {
	_, ok := x.syms.Find(name)
	return ok
}
