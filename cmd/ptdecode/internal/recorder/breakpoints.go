package recorder

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// breakpoint is a hardware breakpoint on a function of the kernel that changes its code.
type breakpoint struct {
	addr uint64
	what string // what its samples tell
}

// event is the breakpoint as perf's -e takes it.
func (b *breakpoint) event() string { return fmt.Sprintf("mem:%#x:x", b.addr) }

// breakRegisters are the registers that say what is written: address, word, length,
// caller (docs/formats/kernel-samples.md).
const breakRegisters = "--intr-regs=x0,x1,x2,lr"

// The kernel's functions (arch/arm64/kernel/patching.c, v6.12).
const (
	insnWrite  = "__aarch64_insn_write"
	insnPatch  = "aarch64_insn_patch_text_nosync"
	cleanCache = "caches_clean_inval_pou"
)

// breakpoints returns the breakpoints that record the changes to an AArch64 kernel's
// code, the most telling first: CPUs have two to sixteen, and most have four or six.
// code is the kernel's, nil where it cannot be read.
func breakpoints(syms *symbols.Kallsyms, code *image.Image) (list []breakpoint) {
	add := func(name, what string) {
		if addr, ok := addrOf(syms, name); ok {
			list = append(list, breakpoint{addr, what})
		}
	}
	add(insnWrite, "words that are written")
	if len(list) == 0 {
		return nil // nothing else tells what is written
	}
	add(cleanCache, "the maintenance of caches behind a write")
	if addr := cleaned(syms, code); addr != 0 {
		list = append(list, breakpoint{addr, "the end of each change"})
	}
	add("aarch64_insn_copy", "code that BPF and execmem write")
	add("aarch64_insn_set", "code that BPF and execmem fill")
	add("aarch64_insn_write_literal_u64", "literals of ftrace")
	return list
}

// addrOf returns where a function of the kernel begins. Of an older kernel, or where a
// compiler left none, it is the function that does the same.
func addrOf(syms *symbols.Kallsyms, name string) (uint64, bool) {
	instead := map[string][]string{
		insnWrite:  {"aarch64_insn_write", insnPatch},
		cleanCache: {"__flush_icache_range"}, // before v5.14, arch/arm64/mm/cache.S
	}
	for _, name := range append([]string{name}, instead[name]...) {
		if addr, ok := syms.Addr(name); ok {
			return addr, true
		}
	}
	return 0, false
}

// cleaned returns the address behind the call of cleanCache in insnPatch; 0 where there
// is none. Its code says it.
func cleaned(syms *symbols.Kallsyms, code *image.Image) uint64 {
	from, ok := syms.Addr(insnPatch)
	to, known := addrOf(syms, cleanCache)
	if !ok || !known || code == nil {
		return 0
	}
	const most = 512 // bytes; the function has about 100
	end := from + most
	for i := range syms.Len() {
		if y := syms.Entry(i); y.Addr > from && y.Addr < end {
			end = y.Addr
		}
	}
	text := make([]byte, end-from)
	text = text[:code.ReadAt(text, from)]
	for at := from; len(text) >= 4; at, text = at+4, text[4:] {
		var in isa.Insn
		if (a64.Decoder{}).Decode(&in, text[:4], at, isa.ModeA64) != isa.OK {
			continue
		}
		if in.Class == isa.Call && in.Target == to {
			return at + 4
		}
	}
	return 0
}

// fitting returns as many of the breakpoints as the CPUs have room for, the first ones:
// try says whether some can be set at once.
func fitting(list []breakpoint, try func([]breakpoint) bool) []breakpoint {
	for len(list) > 0 && !try(list) {
		list = list[:len(list)-1]
	}
	return slices.Clip(list)
}
