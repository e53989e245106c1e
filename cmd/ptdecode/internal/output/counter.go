package output

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Counter counts what a sink wrote and says what the lines do not.
type Counter struct {
	rows.Count
	Gaps  uint64
	Hints []string // what to do about the gaps

	told [event.NumReasons]uint64 // gaps by reason, told by say or too many for that
	said int                      // of the gaps to come, those told before the flow began anew

	hint    func(*event.Gap) string
	streams []rows.Stream
	inPlace bool
	say     func(line string)
	scratch []byte
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

// note counts n if it is a gap. It tells the gap in place, as a line "# gap ...", or
// by say.
func (c *Counter) note(stream int, n *decoder.Note, out *lines) {
	if n.Kind != decoder.NoteGap {
		return
	}
	st := &c.streams[stream]
	if !c.inPlace {
		c.tell(st, &n.Gap)
		return
	}
	c.gap(&n.Gap)
	out.buf = append(AppendGap(append(out.buf, "# gap "...), st, &n.Gap), '\n')
}

// gapInPlace counts a gap that is written among the rows.
func (c *Counter) gapInPlace(_ *rows.Stream, g *event.Gap) { c.gap(g) }

// tell counts a gap and tells it by say.
func (c *Counter) tell(st *rows.Stream, g *event.Gap) {
	c.gap(g)
	if c.told[g.Reason]++; c.told[g.Reason] > maxTold {
		return
	}
	if c.said > 0 {
		c.said--
		return
	}
	c.scratch = AppendGap(append(c.scratch[:0], "gap: "...), st, g)
	c.say(string(c.scratch))
}

// restart forgets what was counted. Gaps that were told are not told again.
func (c *Counter) restart() {
	for _, n := range c.told {
		c.said += int(min(n, maxTold))
	}
	c.Count, c.Gaps, c.Hints, c.told = rows.Count{}, 0, nil, [event.NumReasons]uint64{}
}

// maxTold is how many gaps of one reason are told by say. Without code there are
// thousands, and nobody reads what stands before or behind them.
const maxTold = 20

// TellMore says how many gaps were not told one by one.
func (c *Counter) TellMore() {
	for r, n := range c.told {
		if n > maxTold {
			c.say(fmt.Sprintf("gap: %v: %d more like these; --gaps prints all, in place", event.Reason(r), n-maxTold))
		}
	}
}
