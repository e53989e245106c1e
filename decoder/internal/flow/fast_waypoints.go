package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// points is fast for the protocols in which every branch spends an outcome
// (isa.Rules.Waypoints): ETMv4, ETE, PTM. It does what step does and nothing
// more; the same tests hold it to account.
func (w *Walker) points() {
	t := &w.t
	if !w.plain(t) {
		return
	}
	bits, n := t.bits, t.n
	var e *event.Event
	if n == 0 {
		if e = w.nextOutcomes(t); e == nil {
			return
		}
	}
	b := w.exec.code.block(t.space, t.ip, t.mode, t.lo, t.hi)
	if b == nil {
		return
	}
	rs, l, stamp := w.exec.out.space()
	ip, mode := t.ip, t.mode // of what is executed next, where b is nil
	for b != nil && b.N > 0 && b.lead&spends != 0 {
		if n == 0 {
			bits, n = e.Value, int(e.N)
			stamp = w.loaded(t, e)
		}
		k := 0
		if b.lead&^(mayFail|calls) == toTarget|spends {
			b, k = w.direct(t, b, rs[l:max(l, min(l+n, w.exec.out.full))], bits)
		}
		if k > 0 {
			rs[l].Stamp = stamp
			l += k
			bits <<= k
			n -= k
			if n == 0 {
				e = w.nextOutcomes(t)
			} else if n == 1 && bits>>63 == taken && l < w.exec.out.full && b.lead&^(calls|returns) == toStated|spends {
				if nb, more := w.goesTo(t, b, rs, l); nb != nil {
					b, e, l, bits, n = nb, more, l+1, 0, 0
				}
			}
			ip, mode, stamp = b.Addr, b.Mode, w.exec.out.stamp
			if n == 0 {
				if e == nil {
					b = nil
					break
				}
				if b.Span.From > t.lo || t.hi >= b.Span.Until {
					b = w.exec.code.block(t.space, ip, mode, t.lo, t.hi)
				}
			}
		} else {
			way := int(bits >> 63)
			if way == fall && b.lead&mayFail == 0 {
				break
			}
			var nb *Block
			var to *event.Event // the target that the trace states
			if way == taken {
				switch b.lead & place {
				case toTarget:
					if b.lead&calls != 0 {
						t.stack.Push(b.End, b)
					}
					mode = b.modeAhead()
				case toStated:
					if nb, to = w.leadsOn(t, b, n); nb == nil {
						goto out
					}
					way, mode = -1, nb.Mode
				case toNext:
					if b.lead&syncs != 0 {
						t.sync(&w.exec.cfg.Rules, w.exec.events.at(t.q-1))
					}
					way = fall
				default:
					goto out
				}
			}
			rs[l] = Range{Block: b, N: b.N, Stamp: stamp}
			l++
			stamp = w.exec.out.stamp
			bits <<= 1
			n--
			switch {
			case to != nil:
				w.exec.out.counts(b, l-1)
			case way < 0:
				rs[l-1].flags = ahead // the return stack said it
			}
			if to != nil {
				t.notBefore(w.exec.code.text, to)
				t.q++
				stamp = w.exec.out.markLate(to)
			}
			if way >= 0 {
				nb = b.succ[way].Load()
			}
			if n == 0 {
				if e = w.nextOutcomes(t); e == nil {
					if ip = b.way(max(way, 0)); nb != nil {
						ip = nb.Addr
					}
					b = nil
					break
				}
			}
			if nb == nil || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
				if way < 0 {
					ip = nb.Addr
				} else {
					ip = b.way(way)
				}
				if nb = w.exec.code.block(t.space, ip, mode, t.lo, t.hi); nb != nil && way >= 0 {
					b.succ[way].Store(nb)
				}
			}
			b = nb
		}
		if l >= w.exec.out.full {
			w.exec.out.batch.Ranges = rs[:l]
			w.exec.out.flush()
			if rs, l, stamp = w.exec.out.space(); w.exec.out.wait.err != nil {
				break
			}
		}
	}
out:
	if b != nil {
		ip, mode = b.Addr, b.Mode
	}
	w.exec.out.batch.Ranges = rs[:l]
	if n > 0 {
		w.exec.out.unspent(t, stamp)
	}
	t.ip, t.mode, t.bits, t.n, t.idle = ip, mode, bits, n, 0
}

// direct follows direct branches from b on, as long as outcomes are in hand and it is known
// which block comes next. It gives rs what is executed, with the newest stamp, and returns what
// is executed next, and how many ranges and outcomes that was.
func (w *Walker) direct(t *thread, b *Block, rs []Range, bits uint64) (next *Block, n int) {
	lo, hi, stamp := t.lo, t.hi, w.exec.out.stamp
	for i := range rs {
		way := bits >> 63
		if (b.lead|lead(way)*mayFail)&^calls != toTarget|spends|mayFail {
			return b, i
		}
		nb := b.succ[way].Load()
		if nb == nil || nb.Span.From > lo || hi >= nb.Span.Until {
			return b, i
		}
		if b.lead&calls != 0 && way == taken {
			t.stack.Push(b.End, b)
		}
		r := &rs[i]
		r.Block, r.Stamp, r.N, r.Verdict, r.flags = b, stamp, b.N, Certain, 0
		bits <<= 1
		b = nb
	}
	return b, len(rs)
}

// goesTo executes b, an indirect branch that took the last outcome in hand, as range l of rs, if
// the next event is its target. It returns what is executed next, and what nextOutcomes does. nb
// is nil, and nothing has changed, where more is to be looked at.
func (w *Walker) goesTo(t *thread, b *Block, rs []Range, l int) (nb *Block, e *event.Event) {
	to := w.exec.events.at(t.q)
	if to == nil || to.Kind != event.Target || to.Flags&^event.FlagMode != event.FlagIP ||
		w.exec.code.isKernel(to.IP) != w.exec.code.isKernel(b.Addr) {
		return nil, nil
	}
	mode := b.Mode
	if to.Flags&event.FlagMode != 0 {
		mode = isa.Mode(to.Mode)
	}
	nb = b.succ[taken].Load()
	if nb == nil || nb.Addr != to.IP || nb.Mode != mode || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
		if nb = w.exec.code.block(t.space, to.IP, mode, t.lo, t.hi); nb == nil {
			return nil, nil
		}
		if b.lead&returns == 0 { // a return goes elsewhere each time
			b.succ[taken].Store(nb)
		}
	}
	if b.lead&calls != 0 {
		t.stack.Push(b.End, b)
	}
	r := &rs[l]
	r.Block, r.Stamp, r.N, r.Verdict, r.flags = b, w.exec.out.stamp, b.N, Certain, 0
	w.exec.out.counts(b, l)
	t.notBefore(w.exec.code.text, to)
	t.q++
	w.exec.out.markLate(to)
	return nb, w.nextOutcomes(t)
}

// nextOutcomes returns the next event where it has outcomes, else nil; the
// clock's upper bound moves with it.
func (w *Walker) nextOutcomes(t *thread) *event.Event {
	if t.q-w.exec.events.base > queueEvents {
		w.exec.events.trim(w.t.q, queueEvents)
	}
	e := w.exec.events.at(t.q)
	if e == nil || e.Kind != event.Outcomes || e.N == 0 {
		return nil
	}
	t.notAfter(w.exec.code.text, e)
	return e
}

// leadsOn returns the block that b's indirect branch, which was taken, leads
// to, and the Target that says so, nil where the return stack does. n outcomes
// are in hand, the branch's among them. nb is nil, and nothing has changed, where
// step is needed.
func (w *Walker) leadsOn(t *thread, b *Block, n int) (nb *Block, to *event.Event) {
	if n == 1 {
		if to = w.exec.events.at(t.q); to == nil {
			return nil, nil
		}
	}
	switch {
	case to != nil && to.Kind == event.Target:
		if to.Flags&^event.FlagMode != event.FlagIP {
			return nil, nil
		}
		mode := b.Mode
		if to.Flags&event.FlagMode != 0 {
			mode = isa.Mode(to.Mode)
		}
		if w.exec.code.isKernel(to.IP) != w.exec.code.isKernel(b.Addr) {
			return nil, nil
		}
		if nb = b.succ[taken].Load(); nb == nil || nb.Addr != to.IP || nb.Mode != mode || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
			if nb = w.exec.code.block(t.space, to.IP, mode, t.lo, t.hi); nb == nil {
				return nil, nil
			}
			b.succ[taken].Store(nb)
		}
		if b.lead&calls != 0 {
			t.stack.Push(b.End, b)
		}
		return nb, to
	case b.lead&calls != 0 || w.exec.cfg.Rules.Returns != isa.ReturnsByOutcome || t.stack.n <= t.stack.vague:
		return nil, nil
	case to != nil && to.Kind != event.Outcomes:
		return nil, nil
	}
	i := (t.stack.top - 1 + isa.MaxStack) % isa.MaxStack
	call := t.stack.call[i]
	if call == nil {
		return nil, nil
	}
	own := call.Space == b.Space // else another program's call left the address
	if nb = call.succ[fall].Load(); nb == nil || !own || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
		if nb = w.exec.code.block(t.space, call.End, call.Mode, t.lo, t.hi); nb == nil {
			return nil, nil
		}
		if own {
			call.succ[fall].Store(nb)
		}
	}
	t.stack.Pop()
	return nb, nil
}
