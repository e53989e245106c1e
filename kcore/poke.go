package kcore

import (
	"fmt"
	"math"
)

// Scheme is how a change was brought to the CPUs that may be executing it. It
// decides what another CPU can have executed around the poke's time.
type Scheme uint8

// The schemes. "trap" is the breakpoint instruction.
const (
	// SchemeNone: not said.
	SchemeNone Scheme = iota
	// SchemeBP: trap, sync, tail, record, sync, first byte, sync. Before the
	// time: old or trap; after it: trap or new (arch/x86/kernel/alternative.c,
	// smp_text_poke_batch_finish, v7.3; text_poke_bp_batch before).
	SchemeBP
	// SchemeKprobe: one byte. Armed: old or trap before the time, trap after;
	// disarmed: trap before, trap or old text after. Also an optprobe's jump
	// that goes back to the probe's trap (arch/x86/kernel/kprobes/).
	SchemeKprobe
	// SchemeSlot: text that appears before it is reachable, or goes when it is
	// no longer: copied instructions, trampolines.
	SchemeSlot
	// SchemeXMC: trap, sync, tail, first byte, the old instruction run from a
	// copy: old or trap before, trap or new after.
	SchemeXMC
	// SchemeStop: all CPUs were stopped: old before, new after.
	SchemeStop
	// SchemeAtomic: one aligned word written at once, synchronised afterwards:
	// old or new at each visit from Begin to End.
	SchemeAtomic
	// SchemeUnsafe: none of these: anything from Begin to End.
	SchemeUnsafe
	numSchemes
)

var schemeNames = [numSchemes]string{"none", "bp", "kprobe", "slot", "xmc", "stop_machine", "atomic", "unsafe"}

// String returns the scheme's name as output and the event stream write it.
func (s Scheme) String() string {
	if s < numSchemes {
		return schemeNames[s]
	}
	return "?"
}

// ParseScheme is the inverse of String.
func ParseScheme(s string) (Scheme, bool) {
	for i, n := range schemeNames {
		if n == s {
			return Scheme(i), true
		}
	}
	return 0, false
}

// Guarded reports whether a CPU that has seen a later poke's effect has this
// one's too, once it is complete.
func (s Scheme) Guarded() bool {
	return s == SchemeBP || s == SchemeKprobe || s == SchemeXMC || s == SchemeStop
}

// Poke is one change to text. Old and New lie at Addr; either may be empty:
// text appears, text goes. Where one is longer, what it has beyond the other
// is not known on the other's side.
type Poke struct {
	Time uint64 // of the record, ns of the recording's clock
	// Begin and End bound when a CPU may go from the old text to the new, ns.
	// For bp, kprobe, slot and stop_machine both are Time: before it no CPU has
	// executed the new text, after it none the old. The trap may be met on
	// either side and is neither.
	Begin, End uint64
	Addr       uint64
	CPU        int // that made it; -1: not known
	Old, New   []byte
	Scheme     Scheme
	Batch      int // set by NewJournal: pokes of one batch share their syncs
}

// x86Trap is INT3 (Intel SDM, volume 2, "INT n/INTO/INT3/INT1").
const x86Trap = 0xcc

// RecordedPoke is the poke that a TEXT_POKE record states. Such records come
// from x86 only (Linux up to v7.3), and the lengths tell the scheme: either
// empty, a slot; one byte, a kprobe armed or disarmed; five bytes that become
// the trap with a tail, an optprobe taken back; all else, the batch protocol.
func RecordedPoke(time uint64, cpu int, addr uint64, old, new []byte) Poke {
	p := Poke{Time: time, Begin: time, End: time, CPU: cpu, Addr: addr, Old: old, New: new}
	switch {
	case len(old) == 0 || len(new) == 0:
		p.Scheme = SchemeSlot
	case len(old) == 1 && len(new) == 1:
		p.Scheme = SchemeKprobe
	case len(new) == 5 && new[0] == x86Trap && old[0] != x86Trap:
		p.Scheme = SchemeKprobe
	default:
		p.Scheme = SchemeBP
	}
	return p
}

// size returns the length of the poke's range, bytes.
func (p *Poke) size() int { return max(len(p.Old), len(p.New)) }

// Mark reports whether the poke changes nothing and only parts two epochs:
// records were lost from there on, or up to there.
func (p *Poke) Mark() bool { return p.size() == 0 }

// Range returns the addresses that the poke changes.
func (p *Poke) Range() Range { return Range{p.Addr, uint64(p.size())} }

// TrapProves reports whether a trap taken at the poke's site shows that the
// poke had begun: not where the old text began with the trap itself (an armed
// kprobe), nor where no trap is part of the scheme.
func (p *Poke) TrapProves() bool {
	if p.Scheme != SchemeBP && p.Scheme != SchemeKprobe && p.Scheme != SchemeXMC {
		return false
	}
	return len(p.Old) > 0 && p.Old[0] != x86Trap
}

// Arms reports whether the poke's new text begins with a breakpoint: a CPU
// that comes there after it takes a trap.
func (p *Poke) Arms() bool { return len(p.New) > 0 && p.New[0] == x86Trap }

// TrapStands reports whether a trap stands at the poke's site while it is made
// and no longer: the old text or the new one may itself begin with a trap, as
// that of a probe does, but this one is the patcher's.
func (p *Poke) TrapStands() bool {
	return (p.Scheme == SchemeBP || p.Scheme == SchemeXMC) && len(p.Old) > 0 && len(p.New) > 0
}

// Check returns what is wrong with the poke.
func (p *Poke) Check() error {
	n := uint64(p.size())
	switch {
	case n == 0:
		return fmt.Errorf("poke at %#x: neither old nor new bytes", p.Addr)
	case n > math.MaxUint16:
		return fmt.Errorf("poke at %#x: %d bytes, at most %d", p.Addr, n, math.MaxUint16)
	case p.Addr+(n-1) < p.Addr:
		return fmt.Errorf("poke at %#x: %d bytes reach beyond the last address", p.Addr, n)
	case p.Begin > p.End:
		return fmt.Errorf("poke at %#x: begins at %d ns, after its end at %d", p.Addr, p.Begin, p.End)
	case p.Scheme >= numSchemes:
		return fmt.Errorf("poke at %#x: scheme %d, at most %d", p.Addr, p.Scheme, numSchemes-1)
	}
	return nil
}
