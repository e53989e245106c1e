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
	Index  int // in the journal, where the ends of losses count too: the epoch before it
	Kind   kcore.Kind
	Symbol string         // symbol+offset of its address at its time; "" if it has none
	Broken *kcore.Finding // not nil: its old text is not what lay there
}

// Pokes returns all pokes in order of time.
func (s *Session) Pokes() []PokeInfo {
	kinds := kcore.Kinds(s.journal, s.symbols)
	broken := map[int]*kcore.Finding{}
	fs := s.Text().Findings()
	for i := range fs {
		if f := &fs[i]; f.Kind == kcore.Break && f.Next >= 0 {
			broken[f.Next] = f
		}
	}
	list := make([]PokeInfo, 0, s.journal.Len())
	for i := range s.journal.Len() {
		if p := s.journal.Poke(i); !p.Mark() {
			list = append(list, PokeInfo{Poke: p, Index: i, Kind: kinds[i], Symbol: s.kernelSymbol(p.Addr, p.Time), Broken: broken[i]})
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

// Trap is a breakpoint exception that was taken.
type Trap struct {
	Stream int
	IP     uint64 // of the breakpoint
	To     uint64 // where its handler begins
	Time   event.Time
	Off    int64 // in the stream, bytes
	Kind   flow.TrapKind
	Poke   int // the poke that it was taken for, in the journal; -1: none
	// Verdict is flow.Exception, or flow.Ambiguous where it may have been taken
	// for several pokes, of which Poke is the likeliest.
	Verdict flow.Verdict
}

// Traps decodes what q asks for and returns the breakpoint exceptions in it, by
// time, and how many gaps there were in which others may lie.
func (s *Session) Traps(ctx context.Context, q Query) (list []Trap, gaps uint64, err error) {
	c := new(trapSink)
	err = s.Flow(ctx, q, c)
	slices.SortStableFunc(c.list, func(a, b Trap) int { return cmp.Compare(a.Time.Lo, b.Time.Lo) })
	return c.list, c.gaps, err
}

// trapSink collects traps.
type trapSink struct {
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
			c.list = append(c.list, Trap{
				Stream: b.Stream, IP: n.IP, To: n.Event.IP, Time: n.Event.Time, Off: n.Event.Off, Kind: n.Trap, Poke: n.Poke, Verdict: n.Verdict,
			})
		}
	}
	return nil
}
