package output

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
)

// Counter counts what a sink printed and says what the lines do not.
type Counter struct {
	Rows      uint64 // lines printed of what was executed, by a sink that filters
	Insns     uint64 // instructions printed
	Ambiguous uint64 // instructions printed that are the likeliest of several
	Gaps      uint64
	Hints     []string // what to do about the gaps

	told [event.NumReasons]uint64 // gaps told by say, and that would have been

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
	if c.told[n.Gap.Reason]++; c.told[n.Gap.Reason] > maxTold {
		return nil
	}
	c.scratch = AppendGap(append(c.scratch[:0], "gap: "...), st, &n.Gap)
	c.say(string(c.scratch))
	return nil
}

// maxTold is how many gaps of one reason are told by say. Without text there
// are thousands, and nobody reads what stands before or behind them.
const maxTold = 20

// TellMore says how many gaps were not told one by one.
func (c *Counter) TellMore() {
	for r, n := range c.told {
		if n > maxTold {
			c.say(fmt.Sprintf("gap: %v: %d more like these; --gaps prints all, in place", event.Reason(r), n-maxTold))
		}
	}
}
