package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// fast follows the flow while every block on its way is the same text for
// every moment that the clock allows, and the events are outcomes and targets.
// It returns when anything else is met; step takes it from there.
//
// It does what step does and nothing more; the naive walker in the tests holds
// both to account. What makes it fast: outcomes are taken from a word,
// successors from pointers in the blocks, and a block's validity from two
// compares.
func (w *Walker) fast() {
	t := &w.t
	if !t.on || t.lost || w.cfg.Rules.Waypoints != pointsPT {
		return
	}
	e := w.event(t.q)
	if e == nil {
		return
	}
	bits, n := t.bits, t.n
	if n == 0 {
		if e.Kind != event.Outcomes && e.Kind != event.Target {
			return
		}
		w.until(t, e)
	}
	ip := t.ip
	b := w.block(t.space, ip, t.mode, t.lo, t.hi)
	compressed := w.cfg.Rules.Returns == isa.ReturnsCompressed
	rs := w.out.Ranges
	idle := 0
	for b != nil && b.N > 0 {
		var nb *Block
		switch b.Class {
		case isa.Cond:
			if n == 0 {
				if e.Kind != event.Outcomes {
					goto out
				}
				bits, n = e.Value, int(e.N)
				w.loaded(t, e)
			}
			rs = append(rs, Range{Block: b, N: b.N, Stamp: w.stamp})
			n--
			if bits>>63 != 0 {
				ip, nb = b.Target, b.take.Load()
			} else {
				ip, nb = b.End, b.next.Load()
			}
			bits <<= 1
		case isa.Jump:
			if idle++; idle > maxIdle || (n == 0 && e.Kind == event.Disable) {
				goto out
			}
			rs = append(rs, Range{Block: b, N: b.N, Stamp: w.stamp})
			ip, nb = b.Target, b.take.Load()
			goto next
		case isa.Call:
			if idle++; idle > maxIdle || (n == 0 && e.Kind == event.Disable) {
				goto out
			}
			rs = append(rs, Range{Block: b, N: b.N, Stamp: w.stamp})
			if b.Flags&isa.FlagZeroCall == 0 {
				t.stack.Push(b.End, b)
			}
			ip, nb = b.Target, b.take.Load()
			goto next
		case isa.Return:
			if compressed && (n > 0 || e.Kind == event.Outcomes) {
				if n == 0 {
					bits, n = e.Value, int(e.N)
					w.loaded(t, e)
				}
				if bits>>63 == 0 || t.stack.n == 0 {
					goto out
				}
				rs = append(rs, Range{Block: b, N: b.N, Stamp: w.stamp})
				n--
				bits <<= 1
				a, call, _ := t.stack.Pop()
				if ip = a; t.mode != isa.Mode64 {
					ip = narrow(a, t.mode)
				} else {
					nb = call.next.Load()
					if nb == nil {
						nb = w.block(t.space, ip, t.mode, t.lo, t.hi)
						if nb != nil {
							call.next.Store(nb)
						}
					}
				}
				break
			}
			fallthrough
		case isa.JumpInd, isa.CallInd:
			if n > 0 {
				e = w.event(t.q) // a deferred target
			}
			if e == nil || e.Kind != event.Target || e.Flags != event.FlagIP {
				goto out
			}
			rs = append(rs, Range{Block: b, N: b.N, Stamp: w.stamp})
			ip = e.IP
			if b.Class == isa.CallInd {
				t.stack.Push(b.End, b)
			} else if b.Class == isa.Return {
				t.stack.Pop()
			}
			t.q++
			if n == 0 {
				w.since(t, e)
				w.mark(e)
			}
			if nb = b.take.Load(); nb == nil || nb.Addr != ip || nb.Mode != t.mode {
				if nb = w.block(t.space, ip, t.mode, t.lo, t.hi); nb != nil {
					b.take.Store(nb)
				}
			}
			if e = w.event(t.q); e == nil {
				b = nil
				goto out
			}
		case isa.Other:
			if b.Stop != event.ReasonNone {
				goto out
			}
			rs = append(rs, Range{Block: b, N: b.N, Stamp: w.stamp})
			ip, nb = b.End, b.next.Load()
			goto next
		default:
			goto out
		}
		idle = 0
		if n == 0 {
			if e = w.event(t.q); e == nil {
				b = nil
				goto out
			}
			if e.Kind != event.Outcomes && e.Kind != event.Target {
				b = nil
				goto out
			}
			w.until(t, e)
		}
	next:
		if len(rs) >= batchRanges {
			w.out.Ranges = rs
			w.flush()
			w.trim()
			rs = w.out.Ranges
			if n == 0 {
				e = w.event(t.q)
			}
			if w.err != nil {
				b = nil
				goto out
			}
		}
		if nb == nil || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
			if nb = w.block(t.space, ip, t.mode, t.lo, t.hi); nb != nil {
				b.link(nb, ip)
			}
		}
		b = nb
	}
out:
	w.out.Ranges = rs
	t.ip, t.bits, t.n = ip, bits, n
}

// pointsPT is the classes that spend an outcome in the protocols that fast knows.
const pointsPT = isa.ClassSet(1 << isa.Cond)

// loaded counts the outcomes event e as taken in hand.
func (w *Walker) loaded(t *thread, e *event.Event) {
	w.since(t, e)
	w.mark(e)
	t.q++
}

// link remembers that nb, at ip, followed b.
func (b *Block) link(nb *Block, ip uint64) {
	switch b.Class {
	case isa.Jump, isa.Call, isa.JumpInd, isa.CallInd:
		b.take.Store(nb)
	case isa.Cond:
		if ip == b.Target {
			b.take.Store(nb)
		} else {
			b.next.Store(nb)
		}
	case isa.Other:
		b.next.Store(nb)
	}
}
