package patchers

import (
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// patcher is a function of the kernel that takes part in changing its code, or its
// end: what a sample taken there means.
type patcher uint8

const (
	patchNone patcher = iota
	patchWrite
	patchLiteral
	patchCaches
	patchCleaned
	patchCopy
	patchSet
	patchKick
	patchKicked
	patchJump
	patchJumped
	patchStop
	patchStopped
	patchFixmap
	patchPoke
	patchPoked
)

// patcherRow is a row of the table of patchers. The names are those of Linux v6.12,
// arch/arm64/kernel/patching.c, jump_label.c and mm/fixmap.c, kernel/smp.c,
// kernel/stop_machine.c; v5.10, arch/arm64/kernel/insn.c, jump_label.c and mm/cache.S;
// v5.4, arch/x86/kernel/alternative.c. Of rows that mean the same the first names them.
type patcherRow struct {
	name string
	at   patcher // a sample at its first instruction
	end  patcher // one of its return; patchNone: says nothing
	hit  bool    // breakpoints are read
	gets bool    // probe events are read
}

// patcherRows returns the functions of which samples are read.
func patcherRows() []patcherRow {
	return []patcherRow{
		{"__aarch64_insn_write", patchWrite, patchNone, true, false},
		{"aarch64_insn_write", patchWrite, patchNone, true, false},
		{insnPatch, patchWrite, patchNone, true, false},
		{"aarch64_insn_write_literal_u64", patchLiteral, patchNone, true, false},
		{"caches_clean_inval_pou", patchCaches, patchNone, true, false},
		{"__flush_icache_range", patchCaches, patchNone, true, false},
		{"aarch64_insn_copy", patchCopy, patchNone, true, false},
		{"aarch64_insn_set", patchSet, patchNone, true, false},
		{"kick_all_cpus_sync", patchKick, patchKicked, true, true},
		{"arch_jump_label_transform_queue", patchJump, patchJumped, false, true},
		{"arch_jump_label_transform", patchJump, patchJumped, false, true},
		{"stop_machine_cpuslocked", patchStop, patchStopped, false, true},
		{"__set_fixmap", patchFixmap, patchNone, false, true},
		{"text_poke_bp", patchPoke, patchPoked, false, true},
	}
}

// The functions that write code by __aarch64_insn_write. A breakpoint behind their
// call of caches_clean_inval_pou says that the caches are Maintained.
const (
	insnPatch     = "aarch64_insn_patch_text_nosync"
	insnPatchStop = "aarch64_insn_patch_text_cb" // all other CPUs are stopped
)

// The numbers of registers in samples (arch/arm64/include/uapi/asm/perf_regs.h).
const (
	regX0 = 0
	regX1 = 1
	regX2 = 2
	regLR = 30
)

// table says what samples mean, by the recording's symbols.
type table struct {
	at   map[uint64]patcherRow
	syms *symbols.Table
}

// newTable looks up the functions of which samples are read.
func newTable(syms *symbols.Table) *table {
	p := &table{at: map[uint64]patcherRow{}, syms: syms}
	for _, row := range patcherRows() {
		if addr, ok := p.find(row.name); ok {
			p.at[addr] = row
		}
	}
	return p
}

// find returns where a function of the kernel begins: by its name, else by that which a
// compiler made of it.
func (p *table) find(name string) (uint64, bool) {
	if y, ok := p.syms.Find(name); ok && y.Module == "" {
		return y.Addr, true
	}
	for _, y := range p.syms.Named(func(s string) bool { return len(s) > len(name) && plain(s) == name }) {
		if y.Module == "" {
			return y.Addr, true
		}
	}
	return 0, false
}

// plain returns a function's name without what a compiler appended to it, where its
// arguments are those that it has in the source. A clone for constant arguments has
// others.
func plain(name string) string {
	base, suffix, ok := strings.Cut(name, ".")
	if ok && (strings.HasPrefix(suffix, "isra.") || strings.HasPrefix(suffix, "llvm.") || suffix == "cfi") {
		return base
	}
	return name
}

// known returns the first of the patchers that mean the same as name does and that the kernel
// has; name if it has none.
func (p *table) known(name string) string {
	rows := patcherRows()
	i := slices.IndexFunc(rows, func(r patcherRow) bool { return r.name == name })
	for _, row := range rows {
		if row.at == rows[i].at {
			if _, ok := p.find(row.name); ok {
				return row.name
			}
		}
	}
	return name
}

// within reports whether an address lies in a function of the kernel.
func (p *table) within(addr uint64, name string) bool {
	y, _, ok := p.syms.Lookup(addr, 0)
	return ok && plain(y.Name) == name
}

// breakpoint returns what a breakpoint at an address is for.
func (p *table) breakpoint(addr uint64) patcher {
	if row, ok := p.at[addr]; ok {
		if row.hit {
			return row.at
		}
		return patchNone
	}
	if p.within(addr, insnPatch) || p.within(addr, insnPatchStop) {
		return patchCleaned
	}
	return patchNone
}

// probe returns what a sample of a probe event is, by the address that it states.
func (p *table) probe(f *perfdata.Format, raw []byte) patcher {
	if ip, ok := f.Int(raw, "__probe_func"); ok {
		if row, ok := p.at[ip]; ok && row.gets {
			return row.end
		}
	} else if ip, ok := f.Int(raw, "__probe_ip"); ok {
		if row, ok := p.at[ip]; ok && row.gets {
			return row.at
		}
	}
	return patchNone
}

// Watches reports whether an event may tell of a change to the kernel's code.
func Watches(a *perfdata.Attr, r *perfdata.Recording) bool {
	switch a.Type {
	case perfdata.EventBreakpoint:
		return a.BPType == perfdata.BreakpointX && a.SampleType&perfdata.SampleTime != 0
	case perfdata.EventTracepoint:
		f := r.Format(a.Config)
		return f != nil && a.SampleType&perfdata.SampleTime != 0 && a.SampleType&perfdata.SampleRaw != 0 && (f.Has("__probe_ip") || f.Has("__probe_func"))
	}
	return false
}
