package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/cyclecount"
)

// cycles counts the cycles of a core. The core counts on where what it executes is not traced.
// That is left out.
type cycles struct {
	*cyclecount.Cycles        // as of the event that led to the range that comes
	last               uint64 // Now as of the event before that
	skip               bool   // the next count that the flow has is in part of what was not traced
}

// cyclesOf returns the cycles of a stream, nil where its packets count none.
func cyclesOf(st *decoder.Stream) *cycles {
	if y := cyclecount.Of(st); y != nil {
		return &cycles{Cycles: y}
	}
	return nil
}

// counts takes a count that the flow has, of the core that c follows.
func (y *cycles) counts(c *cpu, e *event.Event) {
	switch {
	case !y.InFlow():
	case e.Value2&1 != 0: // nobody knows how many
		if c.thread != nil {
			c.thread.user.miscounts()
			c.thread.kernel.miscounts()
		}
	case !y.skip:
		y.Now += e.Value
	}
	y.skip = false
}

// passed notes that the range that comes is the last one from now on.
func passed(c *cpu) (fresh bool) {
	if c.last, c.lastStated = c.now, c.stated; c.cycles != nil {
		c.cycles.last = c.cycles.Now
	}
	return false
}

// follows takes what lies between ranges.
func (y *cycles) follows(n *decoder.Note) {
	switch n.Kind {
	case decoder.NoteGap:
		y.Lost()
		y.skip = true
	case decoder.NoteTrackOff:
		y.Reach(n.Event.Off)
	case decoder.NoteTrackOn:
		y.Skip(n.Event.Off)
		y.skip = true
	}
}

// miscounts notes that the cycles of the calls in progress are not known.
func (p *stack) miscounts() {
	for _, call := range p.calls {
		call.counts = false
	}
}

// opens notes that call begins.
func (y *cycles) opens(call *Call) {
	if y != nil {
		call.counts, call.count = true, y.Now
	}
}

// reopens notes that the innermost call of p begins only now: it led on for another one.
func (y *cycles) reopens(p *stack) {
	n := len(p.calls)
	call := p.calls[n-1]
	if n > 1 {
		p.calls[n-2].uncounted += call.uncounted
	}
	call.uncounted = 0
	y.opens(call)
}

// closes notes that call ended, which lay in up.
func (y *cycles) closes(call, up *Call) {
	n := y.last - call.count - call.uncounted
	if int64(n) < 0 { // it ran no instruction
		n = 0
	}
	if call.counts && !call.Gap && call.How != Unseen && call.Ended != AtEnd {
		call.Cycles, call.Counted = n, true
	}
	if up != nil {
		if up.uncounted += call.uncounted; call.async {
			up.uncounted += n
		}
	}
}

// moves notes that the flow leaves one stack for another. What passes until it comes back is
// not the calls'. The stacks may be of other streams, which count on their own.
func (y *cycles) moves(from, to *stack) {
	if y == nil {
		if to.left {
			to.miscounts()
		}
		to.left = false
		return
	}
	if from != nil {
		from.left, from.leftAt = true, y.last
	}
	if n := len(to.calls); n > 0 && to.left {
		to.calls[n-1].uncounted += y.Now - to.leftAt
	}
	to.left = false
}
