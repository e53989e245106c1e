package report

import (
	"cmp"
	"context"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Trap is a breakpoint exception that was taken.
type Trap struct {
	Stream int
	IP     uint64 // of the breakpoint
	To     uint64 // where its handler begins
	Time   event.Time
	Off    int64 // in the stream, bytes
	Kind   decoder.TrapKind
	Poke   int // the poke that it was taken for, in the journal; -1: none
	// Verdict is decoder.Exception, or decoder.Ambiguous where it may have been taken
	// for several pokes, of which Poke is the likeliest.
	Verdict decoder.Verdict
}

// Traps decodes what q asks for and returns the breakpoint exceptions in it, by
// time, and how many gaps there were in which others may lie.
func Traps(ctx context.Context, s *decoder.Session, q decoder.Query) (list []Trap, gaps uint64, err error) {
	c := new(trapSink)
	err = s.Flow(ctx, own(s, q), c)
	slices.SortStableFunc(c.list, func(a, b Trap) int { return cmp.Compare(a.Time.Lo, b.Time.Lo) })
	return c.list, c.gaps, err
}

// trapSink collects traps.
type trapSink struct {
	list []Trap
	gaps uint64
}

// Flow takes the notes of b.
func (c *trapSink) Flow(b *decoder.Batch) error {
	for i := range b.Notes {
		switch n := &b.Notes[i]; n.Kind {
		case decoder.NoteGap:
			c.gaps++
		case decoder.NoteTrap:
			c.list = append(c.list, Trap{
				Stream: b.Stream, IP: n.IP, To: n.Event.IP, Time: n.Event.Time, Off: n.Event.Off, Kind: n.Trap, Poke: n.Poke, Verdict: n.Verdict,
			})
		}
	}
	return nil
}
