package output

import (
	"github.com/ptdecode/ptdecode/decoder/flow"
)

// Counter counts what a sink printed and says what the lines do not.
type Counter struct {
	Insns     uint64 // instructions printed
	Ambiguous uint64 // instructions printed that are the likeliest of several
	Gaps      uint64

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

// note counts a gap, and tells it: in place, as a line "# gap ...", or by say.
func (c *Counter) note(stream int, n *flow.Note, out *lines) error {
	if n.Kind != flow.NoteGap {
		return nil
	}
	c.Gaps++
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
