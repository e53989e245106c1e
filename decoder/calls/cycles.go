package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/cyclecount"
)

// cycles counts the cycles of a core, as far as the trace told of them up to a place in its
// stream. Only differences mean something. The flow has the counts of ETMv4 and ETE. Other
// protocols have them in packets of which the flow does not tell, so these are read once more.
// The core counts on where what it executes is not traced. That is left out.
type cycles struct {
	now, last uint64 // as of the event that led to the range that comes, and to the one before it

	st      *decoder.Stream
	packets cyclecount.Counter // nil: the flow has the counts
	skip    bool               // it does: the next one is in part of what was not traced

	with   int64 // 1: a packet at a place tells of cycles that passed up to there, 0: of later ones
	begun  bool  // the bytes are read from next on
	from   int64 // place in the stream of what was lent, bytes
	next   int64 // place behind that
	packet cyclecount.Counted
	has    bool // packet is the next one
}

// maxAtOnce is how many bytes are read at once, firstCYC how far from the first sync point the
// first CYC may lie.
const (
	maxAtOnce = 8 << 10
	firstCYC  = 64 << 10
)

// reach counts up to off.
func (y *cycles) reach(off int64) {
	if y.packets == nil {
		return
	}
	if off += y.with; !y.begun {
		y.begun, y.has, y.next = true, false, off-y.with
		y.packets.Lend(nil, y.next)
	}
	for {
		if !y.has && !y.packets.Next(&y.packet) {
			if y.next >= off || !y.reads(y.next) {
				return
			}
			continue
		}
		p := &y.packet
		if y.has = p.Off >= off; y.has {
			return
		}
		y.now += p.Cycles
		if p.Bad && p.Off > y.from && p.End >= y.next {
			y.reads(p.Off) // it may go on behind what was read
		}
	}
}

// reads lends what follows in the stream from a place on, and reports whether something does.
func (y *cycles) reads(from int64) bool {
	b := y.st.Data.Bytes(from, maxAtOnce)
	y.packets.Lend(b, from)
	y.from, y.next = from, from+int64(len(b))
	return len(b) > 0
}

// counts takes a count that the flow has, of the core that c follows.
func (y *cycles) counts(c *cpu, e *event.Event) {
	switch {
	case y.packets != nil:
	case e.Value2&1 != 0: // nobody knows how many
		if c.thread != nil {
			c.thread.user.miscounts()
			c.thread.kernel.miscounts()
		}
	case !y.skip:
		y.now += e.Value
	}
	y.skip = false
}

// passed notes that the range that comes is the last one from now on.
func passed(c *cpu) (fresh bool) {
	if c.last, c.lastStated = c.now, c.stated; c.cycles != nil {
		c.cycles.last = c.cycles.now
	}
	return false
}

// skips leaves out what lies up to off.
func (y *cycles) skips(off int64) {
	y.begun, y.skip = false, true
	y.reach(off)
}

// follows takes what lies between ranges.
func (y *cycles) follows(n *decoder.Note) {
	switch n.Kind {
	case decoder.NoteGap:
		y.begun, y.skip = false, true
	case decoder.NoteTrackOff:
		y.reach(n.Event.Off)
	case decoder.NoteTrackOn:
		y.skips(n.Event.Off)
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
		call.counts, call.count = true, y.now
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
		to.calls[n-1].uncounted += y.now - to.leftAt
	}
	to.left = false
}
