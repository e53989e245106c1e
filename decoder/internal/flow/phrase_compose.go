package flow

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// composer makes a phrase: it walks over its events as fast does. It touches nothing but
// the phrase, and where blocks lead.
type composer struct {
	w  *Walker
	t  *thread
	p  *phrase
	rs [phraseRanges]Range
	n  int // of rs

	ev    [phraseEvents]event.Event
	after [phraseEvents]int
	lasts [phraseEvents]uint64

	b      *Block
	span   event.Span
	stamp  uint32
	marks  uint8
	height int                  // calls open, less the returns from calls before the phrase
	low    int                  // the least that it was, 0 at most
	high   int                  // the most
	call   [phraseRanges]*Block // those open, from low on
}

// compose makes p the phrase at b with the bytes win, where addresses are relative to
// last. It keeps all events of which it knows where they lead.
func (w *Walker) compose(p *phrase, b *Block, win []byte, last uint64) {
	c := &w.composer
	ev, after, lasts := &c.ev, &c.after, &c.lasts
	n, mask := w.exec.events.bytes.Tell(ev[:], after[:], lasts[:], win, last)
	*p = phrase{from: b, span: event.EveryEpoch}
	for i := range p.key {
		p.key[i] = binary.LittleEndian.Uint64(win[8*i:])
	}
	c.w, c.t, c.p = w, &w.t, p
	c.n, c.b, c.span, c.stamp, c.marks, c.height, c.low, c.high = 0, b, event.EveryEpoch, 0, 0, 0, 0, 0
	kept := 0 // of c.rs
	for i := 0; i < n; i++ {
		e := &ev[i]
		switch e.Kind {
		case event.Outcomes:
			if !c.outcomes(e) {
				n = 0
			}
		case event.Target:
			if !c.target(e) {
				n = 0
			}
		case event.Disable:
			if i+1 < n && c.leaves(e, &ev[i+1]) {
				i++
			} else {
				n = 0
			}
		default:
			n = 0
		}
		if n == 0 || c.b.Space != b.Space || c.height-c.low > phraseCalls {
			break
		}
		kept, p.span, p.end, p.stamps, p.marks = c.n, c.span, c.b, uint8(c.stamp), c.marks
		p.used, p.events = uint8(after[i]), uint8(i+1)
		p.pops, p.deep, p.open = uint8(-c.low), uint8(c.high), uint8(c.height-c.low)
		copy(p.call[:], c.call[:p.open])
		p.turns = p.turns || e.Kind != event.Target
		if lasts[i] != last || mask != 0 {
			p.states, p.last = true, lasts[i]
		}
		if e.Kind == event.Disable {
			p.off, p.end = &interlude{b: c.b, off: *e, on: ev[i]}, nil
			break
		}
	}
	p.mask, p.upper = mask, last&mask
	p.first, p.n, p.stacks = w.paths.phrases.rooms.stay(c.rs[:kept]), uint8(kept), p.pops|p.deep != 0
}

// goThrough has the flow go through b, and on to next. It returns false where there is no room.
func (c *composer) goThrough(next *Block) bool {
	b := c.b
	if c.n == phraseRanges || next == nil {
		return false
	}
	c.rs[c.n] = Range{Block: b, N: b.N, Stamp: c.stamp}
	c.n++
	c.span = c.span.Intersect(b.Span)
	switch {
	case b.lead&calls != 0:
		c.call[c.height-c.low] = b
		c.height++
		c.high = max(c.high, c.height)
	case b.lead&returns != 0:
		c.height--
		c.low = min(c.low, c.height)
	}
	c.b = next
	return true
}

// to returns the block that way out of c.b leads to.
func (c *composer) to(way int) *Block {
	t := c.t
	nb := c.b.succ[way].Load()
	if nb == nil || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
		if nb = c.w.exec.code.block(t.space, c.b.way(way), t.mode, t.lo, t.hi); nb != nil {
			c.b.succ[way].Store(nb)
		}
	}
	return nb
}

// toStated returns the block at ip, where the trace states that c.b leads.
func (c *composer) toStated(ip uint64) *Block {
	t := c.t
	nb := c.b.succ[taken].Load()
	if nb == nil || nb.Addr != ip || nb.Mode != t.mode || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
		if nb = c.w.exec.code.block(t.space, ip, t.mode, t.lo, t.hi); nb != nil {
			c.b.succ[taken].Store(nb)
		}
	}
	return nb
}

// silent takes the flow on over blocks whose code alone says where they lead, up to one
// that does not; e is the next event. It returns false where that is not to be known.
func (c *composer) silent(e *event.Event) bool {
	for idle := 0; c.b.N > 0; {
		way := fall
		switch c.b.lead {
		case toTarget, toTarget | calls:
			way = taken
			if idle++; idle > loopBlocks || e.Kind == event.Disable && (e.HasIP() && e.IP == c.b.Target || c.b.endsInside(e)) {
				return false
			}
		case toNext:
			if e.Kind == event.Disable && c.b.endsInside(e) {
				return false
			}
		default:
			return true
		}
		if !c.goThrough(c.to(way)) {
			return false
		}
	}
	return false
}

// outcomes follows all outcomes of e.
func (c *composer) outcomes(e *event.Event) bool {
	bits := e.Value
	for n := int(e.N); n > 0; n-- {
		if !c.silent(e) {
			return false
		}
		if n == int(e.N) {
			c.p.at[c.stamp] = uint8(e.Off)
			c.stamp++
		}
		var nb *Block
		switch c.b.lead {
		case toTarget | spends | mayFail:
			nb = c.to(int(bits >> 63))
		case toStated | returns:
			if c.w.exec.cfg.Rules.Returns == isa.ReturnsCompressed && bits>>63 != 0 && c.height > c.low {
				nb = c.w.exec.code.block(c.t.space, narrow(c.call[c.height-c.low-1].End, c.t.mode), c.t.mode, c.t.lo, c.t.hi)
			}
		}
		if !c.goThrough(nb) {
			return false
		}
		bits <<= 1
	}
	return true
}

// target follows e.
func (c *composer) target(e *event.Event) bool {
	if !c.silent(e) || c.b.lead&^(calls|returns) != toStated {
		return false
	}
	if c.b.targetStated(c.w.exec.out.wait.told) {
		c.p.mark[c.marks] = uint8(c.n)
		c.marks++
	}
	if !c.goThrough(c.toStated(e.IP)) {
		return false
	}
	c.p.at[c.stamp] = uint8(e.Off)
	c.stamp++
	return true
}

// leaves follows off, behind which on has tracing go on. c.b is the block that ends it then.
func (c *composer) leaves(off, on *event.Event) bool {
	return c.w.follows(off) && c.t.mode != isa.ModeUnknown && on.Kind == event.Enable && c.silent(off) &&
		c.b.lead&^(calls|returns) == toStated && !c.b.endsInside(off)
}
