package recording

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/patchers"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// patchesOf returns what makes pokes of samples. It is nil where the recording has none
// that could be of the kernel's patchers, or where no symbols say so.
func patchesOf(f *facts, c *Config, r *perfdata.Recording, take taker) *patchers.Patches {
	if !slices.ContainsFunc(r.Attrs(), func(a *perfdata.Attr) bool { return patchers.Watches(a, r) }) {
		return nil
	}
	path := f.Beside.Kallsyms
	if c.Kallsyms != "" {
		path = c.Kallsyms
	}
	var k *symbols.Kallsyms
	if path != "" {
		k, _ = f.OpenKallsyms(path) // why it cannot be read is told where symbols are read
	}
	if k == nil {
		f.Warnings = append(f.Warnings, Warning{
			What: f.Name + "+0x0: breakpoints and probes: 0 symbols, need the kernel's: where they were set is not known",
			Hint: "give the copy of /proc/kallsyms that was made in the same boot with --kallsyms FILE; changes to code may be among them",
		})
		return nil
	}
	return patchers.New(r, symbols.New(k, nil, nil), func(e *sideband.Record, file string, off int64) error { return take(e, place{file, off}) })
}

// copiedBefore sets that the kernel's code was copied before all changes, where that is sure.
// perf copies it to kcore_dir between opening its events and letting them record
// (tools/perf/builtin-record.c, __cmd_record, v6.12).
func copiedBefore(f *facts, c *Config, x *patchers.Patches) {
	own := c.Kcore == "" && len(c.Code) == 0 && path.Base(path.Dir(filepath.ToSlash(f.Beside.Kcore))) == "kcore_dir"
	if v := x.Covers(); own && v.Waited && v.First != 0 {
		f.Taken = &event.Time{Hi: v.First - 1}
	}
}

// tellCovered says which changes to the kernel's code the samples cover, and which not.
func tellCovered(f *facts, x *patchers.Patches) {
	v := x.Covers()
	f.Meta.Watched = v.Seen
	has := func(patcher string) bool { return v.Has(patchers.ByBreakpoint, patcher) }
	probed := func(patcher string) bool { return v.Has(patchers.ByProbe, patcher) }
	writes, literals := has("__aarch64_insn_write"), has("aarch64_insn_write_literal_u64")
	f.asksPokes = f.asksPokes || writes || probed("arch_jump_label_transform_queue") || probed("text_poke_bp")
	lacks := func(hint, format string, args ...any) {
		f.Warnings = append(f.Warnings, Warning{What: f.Name + "+0x0: " + fmt.Sprintf(format, args...), Hint: hint})
	}
	if writes {
		if !literals && x.There("aarch64_insn_write_literal_u64") {
			lacks("record with "+x.Event("aarch64_insn_write_literal_u64")+" too", "breakpoints: none at aarch64_insn_write_literal_u64: the literals of ftrace are not covered; nothing runs them")
		}
		if !has("caches_clean_inval_pou") {
			lacks("record with "+x.Event("caches_clean_inval_pou")+" too", "breakpoints: none at %s: each change is taken to last until the thread's next one, or 1 ms", x.Named("caches_clean_inval_pou"))
		} else if !has(patchers.Maintained) {
			hint := "record with a breakpoint at the lr of those samples too"
			if v.Back != 0 {
				hint = fmt.Sprintf("record with -e mem:0x%x:x too", v.Back)
			}
			lacks(hint, "breakpoints: none where %s returns to: the end of a change is estimated by the quickest one", x.Named("caches_clean_inval_pou"))
		}
		var not, how []string
		for _, name := range []string{"aarch64_insn_copy", "aarch64_insn_set"} {
			if !has(name) && x.There(name) {
				not, how = append(not, name), append(how, x.Event(name))
			}
		}
		if len(not) > 0 {
			lacks("record with "+strings.Join(how, " ")+", and x2 in --intr-regs, if the CPU has that many breakpoints",
				"breakpoints: none at %s: code that BPF and execmem write is not covered", strings.Join(not, ", "))
		}
		return
	}
	if probed("__set_fixmap") || probed("arch_jump_label_transform_queue") || probed("stop_machine_cpuslocked") {
		lacks("record by breakpoints, as ptdecode record does", "probes: the words of ftrace are in none of their samples: its sites are unknown behind a change")
	}
	if v.Unread > 0 {
		lacks("name the arguments as docs/recording.md does", "probes: %s lack%s the arguments that say what was written", plural.Count(v.Unread, "sample"), plural.Word(v.Unread, "s", ""))
	}
}
