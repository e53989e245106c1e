package flow

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// ahead returns the path on from b, given the n outcomes in hand and, where
// there are none, the next event e. If the path uses a target, to is that
// target. Where no path is known, k is how many outcomes to walk over before
// asking again.
func (w *Walker) ahead(t *thread, b *Block, e *event.Event, bits uint64, n int) (p *path, to *event.Event, k int) {
	q := t.q
	if n == 0 && e.Kind == event.Outcomes {
		if e.Time.Lo >= t.loEnd {
			return nil, nil, 0 // taking it in hand moves the clock
		}
		bits, n, q = e.Value, int(e.N), q+1
	}
	ps, is := w.paths, ask{from: b}
	if n >= pathBits {
		n = pathBits
	} else if to = w.exec.events.pulled(q); to != nil && to.Kind == event.Target && to.Flags == event.FlagIP {
		if to.Time.Hi >= t.hiEnd && t.hiEnd != math.MaxUint64 {
			return nil, nil, 0 // walking up to it moves the clock
		}
		is.key, is.to = wantsTarget, to.IP
	} else if to = nil; n == 0 {
		return nil, nil, 0
	}
	if ps.misses < pathAfter {
		ps.misses++
		return nil, nil, n
	}
	is.key |= bits>>(64-uint(n)) | uint64(n)<<pathBits
	is.back, _ = t.stack.sure(0, 0)
	p, h := ps.pathOf(&is, &t.stack)
	if p == nil {
		if p = ps.admit(h); p == nil {
			return nil, nil, n
		}
		w.trace(t, p, &is, false)
	}
	if p.n == 0 || p.span.From > t.lo || t.hi >= p.span.Until {
		if t.lo != t.hi || p.from == b && p.span.Has(t.lo) {
			return nil, nil, n
		}
		// It led there in other code than there is now. Where the clock leaves open which
		// code there is, no path holds for all of it.
		if w.renewed(t, p) {
			return p, to, n
		}
		if w.trace(t, p, &is, true); p.n == 0 {
			return nil, nil, n
		}
	}
	return p, to, n
}

// renewed replaces blocks of p whose code has changed since by what is there now. It
// reports whether p holds so: all of that does to the flow what was there before.
func (w *Walker) renewed(t *thread, p *path) bool {
	if p.n == 0 {
		return false
	}
	span := event.EveryEpoch
	rs := p.first[:p.n]
	for i := range rs {
		b := rs[i].Block
		if !b.Span.Has(t.lo) {
			now := w.exec.code.block(t.space, b.Addr, t.mode, t.lo, t.hi)
			if now == nil || !now.leadsAs(b) {
				return false
			}
			rs[i].Block, b = now, now
		}
		span = span.Intersect(b.Span)
	}
	p.span, p.from, p.number = span, rs[0].Block, 0
	return true
}

// tracer is what is known of a path while it is made.
type tracer struct {
	rs     [phraseRanges]Range
	call   [pathCalls]*Block // the open calls
	height int               // calls open, less the returns from calls before the path
	low    int               // the least that it was, 0 at most
	high   int               // the most
	kept   tracedUp          // up to where the path is kept
}

// tracedUp is a path up to behind the last outcome that it spends, or its target.
type tracedUp struct {
	end   *Block
	span  event.Span
	call  [pathCalls]*Block
	n     uint8
	backs uint8
	open  uint8
	pops  uint8
	deep  uint8
}

// trace makes p the path that is asked for by walking from its first block. It touches
// nothing else. If changed is set, p led through code that changed since. Now it ends before
// such code, or soon behind it: little is to be made anew at the next change.
func (w *Walker) trace(t *thread, p *path, is *ask, changed bool) {
	c := &w.tracer
	c.height, c.low, c.high, c.kept = 0, 0, 0, tracedUp{end: is.from, span: event.EveryEpoch}
	*p = path{ask: *is, end: is.from, span: event.EveryEpoch, first: p.first, room: p.room}
	for k := is.asked(); int(p.n) < pathRanges && !p.final; {
		b := p.end
		if b.N == 0 || changed && p.used > 0 && p.span.Intersect(b.Span) != event.EveryEpoch {
			break
		}
		nb, spent := c.on(w, t, p, k)
		if nb == nil || nb.Space != p.from.Space {
			break
		}
		if spent {
			if p.used == 0 {
				p.pre = p.n
			}
			k--
			p.used++
		}
		p.final = k == 0 && b.lead&place == toStated && !spent
		p.counts = p.final && b.targetStated(w.exec.out.wait.told)
		c.extend(p, nb, spent, &t.stack)
		if k > 0 || spent {
			p.post = p.n
		}
		if spent || p.final {
			c.keepTo(p)
		}
		if k == 0 && is.key < wantsTarget {
			break
		}
	}
	// No path ends elsewhere: how far a flow goes in silence, step says.
	to := &c.kept
	p.n, p.end, p.span, p.post = to.n, to.end, to.span, min(p.post, to.n)
	p.backs, p.pops, p.deep, p.open, p.call = to.backs, to.pops, to.deep, to.open, to.call
	if p.n > p.room {
		p.first, p.room = w.paths.rooms.stay(c.rs[:p.n]), p.n
	} else if p.n > 0 {
		copy(p.first[:p.n], c.rs[:p.n]) // where it led before
	}
}

// keepTo has p end where it is, or later.
func (c *tracer) keepTo(p *path) {
	to := &c.kept
	to.end, to.span, to.n, to.backs = p.end, p.span, p.n, p.backs
	to.pops, to.deep, to.open = uint8(-c.low), uint8(c.high), uint8(c.height-c.low)
	copy(to.call[:], c.call[:to.open])
}

// on returns the block behind p, k of whose outcomes are left, or nil, and whether an outcome
// says that it comes next.
func (c *tracer) on(w *Walker, t *thread, p *path, k uint8) (next *Block, spent bool) {
	b, on := p.end, k > 0 && p.key>>(k-1)&1 == 1
	way := fall
	switch l := b.lead; {
	case l == toTarget|spends|mayFail && k > 0:
		if spent = true; on {
			way = taken
		}
	case l == toTarget:
		way = taken
	case l == toTarget|calls:
		if way = taken; c.height-c.low == pathCalls {
			return nil, false
		}
	case l == toStated|returns && k > 0 && w.exec.cfg.Rules.Returns == isa.ReturnsCompressed:
		addr, ok := c.returnsTo(t, p)
		if !ok || !on {
			return nil, false
		}
		return w.exec.code.block(t.space, narrow(addr, t.mode), t.mode, t.lo, t.hi), true
	case l&^(calls|returns) == toStated && k == 0 && p.key >= wantsTarget:
		if l&calls != 0 && c.height-c.low == pathCalls {
			return nil, false
		}
		return w.exec.code.block(t.space, p.to, t.mode, t.lo, t.hi), false
	case l == toNext:
	default:
		return nil, false
	}
	if next = b.succ[way].Load(); next == nil || next.Span.From > t.lo || t.hi >= next.Span.Until {
		next = w.exec.code.block(t.space, b.way(way), t.mode, t.lo, t.hi)
	}
	return next, spent
}

// returnsTo returns where a compressed return behind p goes to, if that is sure.
func (c *tracer) returnsTo(t *thread, p *path) (addr uint64, ok bool) {
	if c.height > c.low {
		return c.call[c.height-c.low-1].End, true
	}
	if p.backs == pathBacks {
		return 0, false
	}
	return t.stack.sure(int(p.backs), c.high)
}

// extend appends p's end to p. After it next is executed. If spent is set, it spends an outcome;
// s is the stack before p.
func (c *tracer) extend(p *path, next *Block, spent bool, s *ReturnStack) {
	b := p.end
	c.rs[p.n] = Range{Block: b, N: b.N}
	p.n++
	p.span = p.span.Intersect(b.Span)
	p.end = next
	switch {
	case b.lead&returns != 0:
		if c.height == c.low {
			c.low--
			if spent {
				if p.backs > 0 {
					p.under[p.backs-1], _ = s.sure(int(p.backs), c.high)
				}
				p.backs++
			}
		}
		c.height--
	case b.lead&calls != 0:
		c.call[c.height-c.low] = b
		c.height++
		c.high = max(c.high, c.height)
	}
}
