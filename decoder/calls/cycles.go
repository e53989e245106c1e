package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/pt"
)

// cycles counts the cycles of a core, as far as the trace told of them up to a place in its
// stream. Only differences mean something. It did so by CYC packets (Intel SDM, "Cycle
// Count (CYC) Packet"). The flow has none of the packets, so they are read once more. The CYC of a packet
// stands before it, so cycles up to a packet are those that passed until then. The core counts
// on where what it executes is not traced. That is left out.
type cycles struct {
	now, last uint64 // as of the event that led to the range that comes, and to the one before it

	st     *decoder.Stream
	begun  bool  // the bytes are read from next on
	from   int64 // place in the stream of what was lent to the lexer, bytes
	next   int64 // place behind that
	lexer  pt.Lexer
	packet pt.Packet // the next one
	has    bool      // there is one
}

// maxAtOnce is how many bytes are read at once, firstCYC how far from the first sync point the
// first CYC may lie.
const (
	maxAtOnce = 8 << 10
	firstCYC  = 64 << 10
)

// countersOf returns what counts the cycles of a stream by its bytes, nil where these have none.
func countersOf(st *decoder.Stream) *cycles {
	u, ok := st.Unit.(pt.Config)
	if !ok || st.Guest != 0 {
		return nil
	}
	y := &cycles{st: st}
	if !u.CYC {
		y.reach(st.Head)
		if y.reach(st.Head + firstCYC); y.now == 0 {
			return nil
		}
		*y = cycles{st: st}
	}
	return y
}

// reach counts up to off.
func (y *cycles) reach(off int64) {
	if !y.begun {
		y.begun, y.has, y.next = true, false, off
		y.lexer.Reset(nil, off)
	}
	for {
		if !y.has && !y.lexer.Next(&y.packet) {
			if y.next >= off || !y.reads(y.next) {
				return
			}
			continue
		}
		p := &y.packet
		if y.has = p.Off >= off; y.has {
			return
		}
		switch {
		case p.Kind == pt.CYC:
			y.now += p.Value
		case p.Kind == pt.Bad && p.Off > y.from && p.End() >= y.next:
			y.reads(p.Off) // it may go on behind what was read
		}
	}
}

// reads lends the lexer what follows in the stream from a place on, and reports whether
// something does.
func (y *cycles) reads(from int64) bool {
	b := y.st.Data.Bytes(from, maxAtOnce)
	y.lexer.Reset(b, from)
	y.from, y.next = from, from+int64(len(b))
	return len(b) > 0
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
	y.begun = false
	y.reach(off)
}

// follows takes what lies between ranges.
func (y *cycles) follows(n *decoder.Note) {
	switch n.Kind {
	case decoder.NoteGap:
		y.begun = false
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
