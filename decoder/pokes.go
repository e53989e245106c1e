package decoder

import (
	"cmp"
	"context"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/kcore"
)

// PokeInfo is a poke and what is known about it.
type PokeInfo struct {
	*kcore.Poke
	Index  int // in the journal: the epoch before it
	Kind   kcore.Kind
	Symbol string         // symbol+offset of its address at its time; "" if it has none
	Broken *kcore.Finding // not nil: its old text is not what lay there
}

// Pokes returns all pokes in order of time.
func (s *Session) Pokes() []PokeInfo {
	kinds := kcore.Kinds(s.journal, s.symbols)
	list := make([]PokeInfo, s.journal.Len())
	for i := range list {
		p := s.journal.Poke(i)
		list[i] = PokeInfo{Poke: p, Index: i, Kind: kinds[i], Symbol: s.kernelSymbol(p.Addr, p.Time)}
	}
	fs := s.Text().Findings()
	for i := range fs {
		if f := &fs[i]; f.Kind == kcore.Break && f.Next >= 0 {
			list[f.Next].Broken = f
		}
	}
	return list
}

// kernelSymbol renders symbol+offset of a kernel address, "" if it has none.
func (s *Session) kernelSymbol(addr, time uint64) string {
	if s.symbols == nil {
		return ""
	}
	y, off, ok := s.symbols.Lookup(addr, time)
	if !ok {
		return ""
	}
	return y.Format(off)
}

// TrapKind says why a breakpoint was there.
type TrapKind uint8

// The kinds of traps.
const (
	TrapUnknown TrapKind = iota // nothing recorded says
	TrapWindow                  // a patch was in progress
	TrapArmed                   // a probe's
	TrapSlot                    // inside text that a record brought: behind a copied instruction
)

var trapNames = [...]string{"unknown", "window", "armed", "slot"}

// String returns the kind's name as output prints it.
func (k TrapKind) String() string { return trapNames[k] }

// Trap is a breakpoint exception that was taken.
type Trap struct {
	Stream int
	IP     uint64 // of the breakpoint
	To     uint64 // where its handler begins
	Time   event.Time
	Off    int64 // in the stream, bytes
	Kind   TrapKind
	Poke   int // the poke that it was taken for, in the journal; -1: none
}

// Traps decodes what q asks for and returns the breakpoint exceptions in it, by
// time, and how many gaps there were in which others may lie.
func (s *Session) Traps(ctx context.Context, q Query) (list []Trap, gaps uint64, err error) {
	c := &trapSink{s: s}
	err = s.Flow(ctx, q, c)
	slices.SortStableFunc(c.list, func(a, b Trap) int { return cmp.Compare(a.Time.Lo, b.Time.Lo) })
	return c.list, c.gaps, err
}

// trapSink collects traps.
type trapSink struct {
	s    *Session
	list []Trap
	gaps uint64
}

// Flow takes the notes of b.
func (c *trapSink) Flow(b *flow.Batch) error {
	for i := range b.Notes {
		switch n := &b.Notes[i]; n.Kind {
		case flow.NoteGap:
			c.gaps++
		case flow.NoteTrap:
			t := Trap{Stream: b.Stream, IP: n.IP, To: n.Event.IP, Time: n.Event.Time, Off: n.Event.Off}
			t.Poke, t.Kind = c.s.trapped(n.IP, t.Time)
			c.list = append(c.list, t)
		}
	}
	return nil
}

// trapped tells which poke put the breakpoint at ip, at which a CPU trapped at
// a time, and what for.
//
// Text that ends in a breakpoint is a slot, or an armed probe; else a patch
// was under way there. The breakpoint stands from before its record until
// after it, and one batch is over before the next begins: so not before the
// record of the batch before, nor after that of the batch behind. Where that
// leaves two, it is the one whose record is nearer.
func (s *Session) trapped(ip uint64, t event.Time) (int, TrapKind) {
	time := t.Lo // where the bounds are wide, the CPU slept after the trap, not before it
	last, next := -1, -1
	for _, i := range s.Text().Between(ip, 1, 0, event.MaxEpoch, nil) {
		if p := s.journal.Poke(i); p.Time <= time {
			last = i
		} else if next < 0 && p.TrapProves() && p.Addr == ip {
			next = i
		}
	}
	if last >= 0 {
		p := s.journal.Poke(last)
		if d := ip - p.Addr; d < uint64(len(p.New)) && p.New[d] == breakpoint {
			if len(p.Old) == 0 {
				return last, TrapSlot
			}
			return last, TrapArmed
		}
	}
	switch {
	case last >= 0 && !s.couldTrap(last, ip, t):
		last = next
	case next >= 0 && s.couldTrap(next, ip, t) && (last < 0 || s.journal.Poke(next).Time-time < time-s.journal.Poke(last).Time):
		last = next
	}
	if last < 0 {
		return -1, TrapUnknown
	}
	if p := s.journal.Poke(last); p.Scheme == kcore.SchemeKprobe && p.New[0] == breakpoint {
		return last, TrapArmed
	}
	return last, TrapWindow
}

// couldTrap reports whether poke i's breakpoint may have stood at ip at some
// moment of t.
func (s *Session) couldTrap(i int, ip uint64, t event.Time) bool {
	j := s.journal
	p := j.Poke(i)
	if p.Addr != ip || len(p.Old) == 0 || len(p.New) == 0 {
		return false
	}
	// Slots are written outside of the lock that orders the others.
	other := func(k int) bool { return j.Poke(k).Batch != p.Batch && j.Poke(k).Scheme != kcore.SchemeSlot }
	before, behind := i-1, i+1
	for before >= 0 && !other(before) {
		before--
	}
	for behind < j.Len() && !other(behind) {
		behind++
	}
	return (before < 0 || t.Hi >= j.Poke(before).Time) && (behind == j.Len() || t.Lo <= j.Poke(behind).Time)
}

// breakpoint is the first byte of INT3 (Intel SDM, volume 2, "INT n/INTO/INT3/INT1").
const breakpoint = 0xcc
