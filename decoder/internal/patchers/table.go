package patchers

import (
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
// kernel/stop_machine.c; v5.4, arch/x86/kernel/alternative.c.
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
		{"aarch64_insn_write_literal_u64", patchLiteral, patchNone, true, false},
		{"caches_clean_inval_pou", patchCaches, patchNone, true, false},
		{"aarch64_insn_copy", patchCopy, patchNone, true, false},
		{"aarch64_insn_set", patchSet, patchNone, true, false},
		{"kick_all_cpus_sync", patchKick, patchKicked, true, true},
		{"arch_jump_label_transform_queue", patchJump, patchJumped, false, true},
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
		if y, ok := syms.Find(row.name); ok && y.Module == "" {
			p.at[y.Addr] = row
		}
	}
	return p
}

// within reports whether an address lies in a function of the kernel.
func (p *table) within(addr uint64, name string) bool {
	y, _, ok := p.syms.Lookup(addr, 0)
	return ok && y.Name == name
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
