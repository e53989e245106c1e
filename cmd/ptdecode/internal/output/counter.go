package output

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
)

// Counter counts what a sink printed and says what the lines do not.
type Counter struct {
	Insns     uint64 // instructions printed
	Ambiguous uint64 // instructions printed that are the likeliest of several
	Gaps      uint64
	Hints     []string // what to do about the gaps

	hint    func(*event.Gap) string
	streams []Stream
	inPlace bool
	say     func(line string)
	scratch []byte
}

// count counts a range as printed.
func (c *Counter) count(r *flow.Range) {
	c.Insns += uint64(r.N)
	if r.Verdict == flow.Ambiguous {
		c.Ambiguous += uint64(r.N)
	}
}

// gap counts a gap and keeps what to do about it.
func (c *Counter) gap(g *event.Gap) {
	c.Gaps++
	if c.hint == nil {
		return
	}
	if h := c.hint(g); h != "" && !slices.Contains(c.Hints, h) {
		c.Hints = append(c.Hints, h)
	}
}

// note counts a gap, and tells it: in place, as a line "# gap ...", or by say.
func (c *Counter) note(stream int, n *flow.Note, out *lines) error {
	if n.Kind != flow.NoteGap {
		return nil
	}
	c.gap(&n.Gap)
	st := &c.streams[stream]
	if c.inPlace {
		out.buf = append(out.buf, "# gap "...)
		out.buf = append(AppendGap(out.buf, st, &n.Gap), '\n')
		return nil
	}
	c.scratch = AppendGap(append(c.scratch[:0], "gap: "...), st, &n.Gap)
	c.say(string(c.scratch))
	return nil
}
