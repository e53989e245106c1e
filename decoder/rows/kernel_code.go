package rows

import (
	"slices"
	"strings"
)

// What the names of code say of calls: of the kernel's (Linux v6.1; Debian's 6.1 has what was
// added for ITS and SRSO), and of what linkers make.

// Thunks are code that only leads on, for the call that it serves. callThunks begin the names of the kernel's that lead to a
// function: retpolines (arch/x86/lib/retpoline.S), trampolines of static calls (include/linux/static_call.h). Linkers make
// more: see linked. returnThunks begin those that a function returns through (retpoline.S). They lead to none, unless a
// retpoline jumps to them.
var (
	callThunks   = []string{"__x86_indirect_", "__SCT__"}
	returnThunks = []string{"__x86_return_thunk", "its_return_thunk", "srso_", "retbleed_", "zen_untrain_ret"}
)

// switchNames are where the kernel takes another thread's stack: x86, arm64, arm
// (__switch_to_asm jumps to __switch_to behind that; cpu_switch_to; __switch_to).
var switchNames = []string{"__switch_to", "cpu_switch_to"}

// inKernel reports whether addr, an address of r, lies in code of the kernel whose symbol is
// what is says.
func (n *Names) inKernel(r *Row, addr uint64, is func(sym string) bool) bool {
	if !n.machine(r).Kernel(addr) {
		return false
	}
	p := n.At(r, addr)
	return is(p.Sym)
}

// LeadsOn reports whether p lies in a thunk: code that only leads on, for the call that it
// serves. kernel says that p is the kernel's, else it is a program's.
func (p *Place) LeadsOn(kernel bool) bool {
	return linked(p.Sym) || kernel && (begins(p.Sym, callThunks) || returnThunk(p.Sym))
}

// leadsOn reports whether addr, an address of r, lies in a thunk.
func (n *Names) leadsOn(r *Row, addr uint64) bool {
	return n.find(r, addr).LeadsOn(n.machine(r).Kernel(addr))
}

// toFunction reports whether addr, an address of r, lies in a thunk that leads to a function.
func (n *Names) toFunction(r *Row, addr uint64) bool {
	p := n.find(r, addr)
	return linked(p.Sym) || n.machine(r).Kernel(addr) && begins(p.Sym, callThunks)
}

// returnThunk reports whether a symbol of the kernel is that of a thunk that leads to no function.
func returnThunk(sym string) bool {
	return sym != "" && strings.IndexByte("_isrz", sym[0]) >= 0 && begins(sym, returnThunks)
}

// stubSuffix ends the names of stubs of the procedure linkage table, as package elfnames makes them.
const stubSuffix = "@plt"

// linked reports whether a symbol is of what a linker made for a call to get to a function. That is a stub of the
// procedure linkage table or a veneer of Arm. GNU ld's veneers have a suffix (binutils 2.40, bfd/elf32-arm.c and
// bfd/elfnn-aarch64.c, STUB_ENTRY_NAME). LLVM's are called __, then a name of the architecture, a kind that ends in Thunk, an
// underscore, and the function (lld/ELF/Thunks.cpp, LLVM 16, addSymbols).
func linked(sym string) bool {
	if !strings.HasPrefix(sym, "__") {
		return strings.HasSuffix(sym, stubSuffix)
	}
	if kind := sym[2:]; strings.HasPrefix(kind, "AArch64") || strings.HasPrefix(kind, "ARM") || strings.HasPrefix(kind, "Thumb") {
		return strings.Contains(kind, "Thunk_")
	}
	switch sym[len(sym)-1] {
	case 'r':
		return strings.HasSuffix(sym, "_veneer")
	case 'm':
		return strings.HasSuffix(sym, "_from_arm")
	case 'b':
		return strings.HasSuffix(sym, "_from_thumb")
	}
	return strings.HasSuffix(sym, stubSuffix)
}

// begins reports whether a symbol begins with one of the prefixes.
func begins(sym string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(sym, p) })
}

// trampolines begin the names of code that a function calls as it begins, and that calls who
// traces it: ftrace's (arch/x86/kernel/ftrace_64.S, arch/arm64/kernel/entry-ftrace.S), and
// those of BPF (kernel/bpf/trampoline.c).
var trampolines = []string{"ftrace_trampoline", "ftrace_caller", "ftrace_regs_caller", "ftrace_call", "ftrace_regs_call", "ftrace_graph_call", "bpf_trampoline_"}

// CallsOn reports whether p lies in a trampoline of the kernel. It calls for the function that
// called it, and these calls are that one's.
func (p *Place) CallsOn() bool { return callsOn(p.Sym) }

func callsOn(sym string) bool {
	if sym == "" || sym[0] != 'f' && sym[0] != 'b' {
		return false
	}
	return begins(sym, trampolines)
}

// slotPages are the names of pages that hold slots of probes: copies of instructions, to be
// stepped, and detours to handlers (kernel/kprobes.c, KPROBE_INSN_PAGE_SYM).
var slotPages = []string{"kprobe_insn_page", "kprobe_optinsn_page"}

// InSlot reports whether p lies in a slot of a probe. What runs there belongs to the function
// that has the probe.
func (p *Place) InSlot() bool { return inSlot(p.Sym) }

func inSlot(sym string) bool { return sym == slotPages[0] || sym == slotPages[1] }

// switches reports whether the kernel's symbols say where it takes another thread's stack.
func (n *Names) switches(r *Row) bool {
	rec := n.machine(r)
	has, known := n.hasSwitch[rec]
	if !known {
		if y := rec.Symbols(); y != nil {
			for _, name := range switchNames {
				_, ok := y.Find(name)
				has = has || ok
			}
		}
		n.hasSwitch[rec] = has
	}
	return has
}

// takesStack reports whether r, which enters a function, enters one that leaves another
// thread's stack behind.
func (n *Names) takesStack(r *Row) bool {
	if r.Transfer != TransferCall && r.Transfer != TransferJump || !n.machine(r).Kernel(r.Addr) {
		return false
	}
	p := n.At(r, r.Addr)
	return p.Off == 0 && (p.Sym == switchNames[0] || p.Sym == switchNames[1])
}

// fromUser reports whether tracing that comes on at r, in the kernel, does so as a thread
// enters the kernel. It does at the first instruction of a function, and in Arm's vectors
// for exceptions from EL0 (arch/arm64/kernel/entry.S, vectors, v6.1). No thread enters the kernel
// in a thunk, a trampoline or a slot: there, what is traced may begin.
func (n *Names) fromUser(r *Row) bool {
	const lowerEL = 0x400 // bytes
	p := n.At(r, r.Addr)
	return p.Sym != "" && p.Off == 0 && !p.InSlot() && !p.LeadsOn(true) && !p.CallsOn() || p.Sym == "vectors" && p.Off >= lowerEL
}
