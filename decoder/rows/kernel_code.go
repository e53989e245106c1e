package rows

import (
	"slices"
	"strings"
)

// What the names of the kernel's code say of calls (Linux v6.1; Debian's 6.1 has what was
// added for ITS and SRSO).

// Thunks are code that only leads on, for the call that it serves. callThunks begin the names of those that lead to a
// function: retpolines (arch/x86/lib/retpoline.S), trampolines of static calls (include/linux/static_call.h), veneers of
// Arm's linkers. returnThunks begin those that a function returns through (retpoline.S). They lead to none, unless a
// retpoline jumps to them.
var (
	callThunks   = []string{"__x86_indirect_", "__SCT__", "__AArch64", "__ThumbV"}
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

// LeadsOn reports whether p lies in a thunk of the kernel: code that only leads on, for the
// call that it serves.
func (p *Place) LeadsOn() bool { return leadsOn(p.Sym) }

func leadsOn(sym string) bool {
	if sym == "" || sym[0] != '_' && sym[0] != 'i' && sym[0] != 's' && sym[0] != 'r' && sym[0] != 'z' {
		return false
	}
	return callThunk(sym) || begins(sym, returnThunks)
}

// callThunk reports whether a symbol is that of a thunk that leads to a function.
func callThunk(sym string) bool { return begins(sym, callThunks) }

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
	return p.Sym != "" && p.Off == 0 && !p.InSlot() && !p.LeadsOn() && !p.CallsOn() || p.Sym == "vectors" && p.Off >= lowerEL
}
