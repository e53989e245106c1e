package kcore

import (
	"fmt"
	"strings"
)

// Scheme is how a change was brought to the CPUs that may be executing it. It
// decides what another CPU can have executed around the poke's time.
type Scheme uint8

// The schemes. "trap" is the breakpoint instruction, "sync" an interrupt to all CPUs after
// which each has seen what was written, "tail" the instruction but for its first byte.
// "before" and "after" are before and after Poke.Time.
const (
	// SchemeNone: not said. As of SchemeUnsafe, a visit may execute anything.
	SchemeNone Scheme = iota
	// SchemeBP: the kernel writes the trap, syncs, writes the tail, makes the record, syncs,
	// writes the first byte, and syncs. Before, another CPU executes the old code or the
	// trap; after, the trap or the new code (arch/x86/kernel/alternative.c,
	// smp_text_poke_batch_finish, v7.3; text_poke_bp_batch in older kernels).
	SchemeBP
	// SchemeKprobe: a probe's trap is put in or taken out, which is one byte. As it is put
	// in, another CPU executes the old code or the trap before, and the trap after. As it
	// is taken out, the trap before, and the trap or the new code after. It is also the way
	// from an optprobe's jump back to the probe's trap (arch/x86/kernel/kprobes/).
	SchemeKprobe
	// SchemeSlot: code that appears before a CPU can come there, or goes when none can any
	// more, such as copies of probed instructions and trampolines.
	SchemeSlot
	// SchemeXMC: as SchemeBP, but the trap's handler runs the old instruction from a copy,
	// and no sync comes between the tail and the first byte. Another CPU executes the old
	// code or the trap before, and the trap or the new code after (the immediate values and
	// markers of LTTng's kernel patches).
	SchemeXMC
	// SchemeStop: all CPUs were stopped, so that each executes the old code before, and the
	// new code after (arch/arm64/kernel/patching.c, aarch64_insn_patch_text, and
	// arch/arm/kernel/patch.c, patch_text, v7.3).
	SchemeStop
	// SchemeAtomic: one aligned word was written at once, and CPUs are synchronised later.
	// Each visit from Begin to End may execute the old code or the new
	// (arch/arm64/kernel/patching.c, aarch64_insn_patch_text_nosync, v7.3).
	SchemeAtomic
	// SchemeUnsafe: none of these. A visit from Begin to End may execute anything.
	SchemeUnsafe
)

// scheme is a row of the table of schemes: what one promises. All that differs
// between schemes is here.
type scheme struct {
	name string
	// order is what the scheme says of the order of changes.
	order order
	// trap is whether a trap takes part.
	trap trapUse
	// arch indexes the architecture whose trap that is; archAny: told from the poke.
	arch archID
	// batches: sites written together share their syncs.
	batches bool
	// torn: a copy can show the change half written: the trap, then new bytes
	// as far as they had been copied, then old ones.
	torn bool
	// emulatesNew: the handler of the trap does what the new first instruction
	// does, and not the old one's work.
	emulatesNew bool
	// live: each visit from Begin to End sees the old text or the new one whole.
	live bool
	// replaces: code lies there before and after. A text that is empty is not said.
	replaces bool
	// unsafe: a visit from Begin to End may see anything.
	unsafe bool
}

// order is what a scheme says of the order of changes.
type order uint8

const (
	// orderLoose: no sync ends the change, so a later one may be seen without it.
	orderLoose order = iota
	// orderGuarded: a CPU that has seen a later guarded change has this one too.
	orderGuarded
	// orderApart: made outside of the lock that orders the others, but complete
	// before a CPU can come there.
	orderApart
)

// trapUse is what a scheme does with the trap.
type trapUse uint8

const (
	// trapNever: no trap is part of the scheme.
	trapNever trapUse = iota
	// trapDuring: a trap stands at the site while the change is made.
	trapDuring
	// trapStays: the trap is itself the old text or the new one.
	trapStays
)

// rules is the tables by which pokes are read. Tests add rows of their own.
type rules struct {
	schemes []scheme // by Scheme
	arches  []arch   // by archID
}

// kernelRules returns the tables of Linux (v6.1 to v7.3).
func kernelRules() *rules { return &linux }

var linux = rules{
	schemes: []scheme{
		SchemeNone:   {name: "none", unsafe: true, emulatesNew: true},
		SchemeBP:     {name: "bp", order: orderGuarded, trap: trapDuring, arch: archX86, batches: true, torn: true, emulatesNew: true, replaces: true},
		SchemeKprobe: {name: "kprobe", order: orderGuarded, trap: trapStays, arch: archX86, torn: true, emulatesNew: true, replaces: true},
		SchemeSlot:   {name: "slot", order: orderApart, emulatesNew: true},
		SchemeXMC:    {name: "xmc", order: orderGuarded, trap: trapDuring, arch: archX86, torn: true, replaces: true},
		SchemeStop:   {name: "stop_machine", order: orderGuarded, emulatesNew: true, replaces: true},
		SchemeAtomic: {name: "atomic", live: true, emulatesNew: true, replaces: true},
		SchemeUnsafe: {name: "unsafe", unsafe: true, emulatesNew: true, replaces: true},
	},
	arches: kernelArches(),
}

// scheme returns the row of s; of one that is none, that of SchemeNone.
func (r *rules) scheme(s Scheme) *scheme {
	if int(s) < len(r.schemes) {
		return &r.schemes[s]
	}
	return &r.schemes[SchemeNone]
}

// unsaid reports whether p replaces code and leaves a text unsaid. A
// recorder that sees only what the kernel writes does not know what lay there.
func (r *rules) unsaid(p *Poke) bool {
	return (len(p.Old) == 0 || len(p.New) == 0) && p.size() > 0 && r.scheme(p.Scheme).replaces
}

// guarded reports whether p's scheme orders it among others.
func (r *rules) guarded(p *Poke) bool { return r.scheme(p.Scheme).order == orderGuarded }

// String returns the scheme's name as output and the event stream write it.
func (s Scheme) String() string {
	if int(s) < len(linux.schemes) {
		return linux.schemes[s].name
	}
	return "?"
}

// ParseScheme is the inverse of String. The error names the schemes.
func ParseScheme(s string) (Scheme, error) {
	var names []string
	for i, r := range linux.schemes {
		if r.name == s {
			return Scheme(i), nil
		}
		names = append(names, r.name)
	}
	return SchemeNone, fmt.Errorf("scheme %q, want one of %s", s, strings.Join(names, ", "))
}

// Guarded reports whether pokes of the scheme take effect in order: a CPU that has seen a
// later guarded poke has seen this one, too.
func (s Scheme) Guarded() bool { return linux.scheme(s).order == orderGuarded }

// Traits is what the scheme of a poke and its bytes say of it.
type Traits struct {
	// Guarded: a CPU that has seen a later guarded poke's effect has this one's
	// too, once it is complete.
	Guarded bool
	// Live: each visit from Begin to End sees the old text or the new one whole.
	Live bool
	// Unsafe: a visit from Begin to End may see anything.
	Unsafe bool
	// TrapStands: a trap stands at the site while the poke is made and no
	// longer. The old text or the new one may itself begin with a trap, as that
	// of a probe does, but this one is the patcher's.
	TrapStands bool
	// EmulatesNew: the handler of that trap does what the new first instruction
	// does, and not the old one's work.
	EmulatesNew bool
	// Arms: the new text begins with a trap, so that a CPU which comes there
	// after it takes one.
	Arms bool
}

// Traits returns what the scheme of poke i and its bytes say of it.
func (j *Journal) Traits(i int) Traits {
	p := &j.pokes[i]
	row := j.rules.scheme(p.Scheme)
	return Traits{
		Guarded:     row.order == orderGuarded,
		Live:        row.live,
		Unsafe:      row.unsafe,
		TrapStands:  row.trap == trapDuring && len(p.Old) > 0 && len(p.New) > 0,
		EmulatesNew: row.emulatesNew,
		Arms:        j.rules.archOf(p).trapLen(p.New) > 0,
	}
}

// trapProves reports whether a trap taken at the site of p shows that p had
// begun. It does not where the old text began with the trap itself (an armed
// kprobe), nor where no trap is part of the scheme.
func (r *rules) trapProves(p *Poke) bool {
	return r.scheme(p.Scheme).trap != trapNever && len(p.Old) > 0 && r.archOf(p).trapLen(p.Old) == 0
}
