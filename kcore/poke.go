package kcore

import (
	"fmt"
	"math"

	"github.com/ptdecode/ptdecode/kcore/image"
)

// Poke is one change to code ("text"), at Addr, from the bytes Old to the bytes New.
//
// An empty Old says that code appears, an empty New that it goes. That is so with
// SchemeSlot and SchemeNone. All other schemes replace code that lies there before and
// after: then an empty one is only not known. Text.FillOld fills in such an Old from what
// is known of the code. Where one is longer than the other, the bytes beyond the shorter
// one are not known on its side.
type Poke struct {
	Time uint64 // of the record, ns of the recording's clock
	// Begin and End bound when a CPU may go from the old code to the new, ns. With the
	// schemes bp, kprobe, slot and stop_machine, both are Time: before it no CPU has
	// executed the new code, after it none the old. The trap may be met on either side and
	// is neither. A Journal widens both by JournalOptions.Slack.
	Begin, End uint64
	Addr       uint64
	CPU        int // that made it; -1: not known
	Old, New   []byte
	Len        int // bytes that change, where neither Old nor New is known; else 0
	Scheme     Scheme
	Stored     Scheme // how the bytes are written while Scheme keeps other CPUs away; SchemeNone: as Scheme says
	Learned    bool   // no record tells of it: the trace does
	TID        int32  // of the thread that made it, or for which it was made; 0: not known
	Batch      int    // set by NewJournal: pokes of one batch share their syncs
}

// size returns the length of the poke's range, bytes.
func (p *Poke) size() int { return max(len(p.Old), len(p.New), p.Len) }

// Mark reports whether the poke changes nothing and only parts two epochs:
// records were lost from there on, or up to there.
func (p *Poke) Mark() bool { return p.size() == 0 }

// Range returns the addresses that the poke changes.
func (p *Poke) Range() image.Range { return image.Range{Addr: p.Addr, Len: uint64(p.size())} }

// Check returns what is wrong with the poke, so that no journal may have it; nil if nothing
// is. It must change 1 to 65535 bytes that end within the address space, its Begin must not
// lie behind its End, and its scheme must be one of the schemes.
func (p *Poke) Check() error { return p.check(kernelRules()) }

// check is Check by the tables of r.
func (p *Poke) check(r *rules) error {
	n := uint64(p.size())
	switch {
	case p.Len < 0:
		return fmt.Errorf("poke at %#x: %d bytes", p.Addr, p.Len)
	case n == 0, p.Len > 0 && !r.scheme(p.Scheme).replaces:
		return fmt.Errorf("poke at %#x: neither old nor new bytes, nor a length", p.Addr)
	case n > math.MaxUint16:
		return fmt.Errorf("poke at %#x: %d bytes, at most %d", p.Addr, n, math.MaxUint16)
	case p.Addr+(n-1) < p.Addr:
		return fmt.Errorf("poke at %#x: %d bytes reach beyond the last address", p.Addr, n)
	case p.Begin > p.End:
		return fmt.Errorf("poke at %#x: begins at %d ns, after its end at %d", p.Addr, p.Begin, p.End)
	case int(p.Scheme) >= len(r.schemes):
		return fmt.Errorf("poke at %#x: scheme %d, at most %d", p.Addr, p.Scheme, len(r.schemes)-1)
	}
	return nil
}
