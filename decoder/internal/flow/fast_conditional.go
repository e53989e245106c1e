package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// fast follows the flow while every block on its way is the same code for every
// moment that the clock allows, and the events are outcomes and targets. It returns
// when anything else is met; step takes it from there.
//
// It does what step does and nothing more. In the tests TestFastByClass holds it to
// that, class by class, and the naive walker holds both to account.
//
// What makes it fast: outcomes come from a word, the outcome's bit and not a branch
// picks the successor, and a block's validity is two compares. It works out an
// address only where a successor is not known yet.
func (w *Walker) fast() {
	w.phrasesOn()
	t := &w.t
	if w.exec.out.wait.err != nil || !w.plain(t) {
		return
	}
	e := w.exec.events.at(t.q)
	if e == nil {
		return
	}
	bits, n := t.bits, t.n
	if n == 0 {
		if !w.follows(e) {
			return
		}
		t.notAfter(w.exec.code.text, e)
	}
	t.wrote = 0
	b := w.exec.code.block(t.space, t.ip, t.mode, t.lo, t.hi)
	rs, l, stamp := w.exec.out.space()
	if n == 0 {
		stamp = w.exec.out.until(e)
	}
	idle := t.idle // blocks since the last outcome or event
	ip := t.ip     // of b, where b is nil
	var nb *Block
	tells, paths := w.exec.out.tells, !w.exec.cfg.Little
	skip := 0 // outcomes to walk over before a path is looked for
loop:
	for b != nil && b.N > 0 {
		way := fall
		if paths && skip <= 0 && b.lead&place <= toTarget {
			p, to, k := w.ahead(t, b, e, bits, n)
			if p == nil {
				skip = k
				goto slow
			}
			dst := rs[l : l+int(p.n)]
			copy(dst, p.first[:p.n])
			if n > 0 || p.used == 0 {
				stampAll(dst, stamp)
			} else {
				bits, n = e.Value, int(e.N)
				first := w.loaded(t, e)
				stampAll(dst[:p.pre], stamp)
				dst[p.pre].Stamp = first
				stamp = w.exec.out.stamp
				stampAll(dst[p.pre+1:], stamp)
			}
			if p.post < p.n && w.exec.out.outlasts(to) {
				stamp = w.exec.out.until(to)
				stampAll(dst[p.post:], stamp)
			}
			if tells {
				w.walked(p, l)
			}
			l += int(p.n)
			if p.pops|p.deep != 0 {
				t.stack.reenact(dst, p.call[:p.open], int(p.pops), int(p.deep))
			}
			bits <<= p.used
			n -= int(p.used)
			idle = 0
			nb = p.end
			if p.final {
				t.q++
				t.notBefore(w.exec.code.text, to)
				w.exec.out.mark(to)
				if p.counts {
					w.exec.out.marks.put(l - 1)
				}
			}
			if n == 0 {
				if e = w.next(t); e == nil {
					b, ip = nil, nb.Addr
					break loop
				}
				stamp = w.exec.out.stamp
			}
			if nb.Span.From > t.lo || t.hi >= nb.Span.Until {
				ip = nb.Addr
				nb = w.exec.code.block(t.space, ip, t.mode, t.lo, t.hi)
			}
			goto room
		}
	slow:
		switch b.lead {
		case toTarget | spends | mayFail:
			if n == 0 {
				if e.Kind != event.Outcomes {
					break loop
				}
				bits, n = e.Value, int(e.N)
				stamp = w.loaded(t, e)
			}
			way = int(bits >> 63)
			bits <<= 1
			n--
			skip--
			nb = b.succ[way].Load()
		case toTarget, toTarget | calls:
			if idle+1 >= loopBlocks || n == 0 && e.Kind == event.Disable && (e.HasIP() && e.IP == b.Target || b.endsInside(e)) {
				break loop
			}
			idle++
			if b.lead&calls != 0 {
				t.stack.Push(b.End, b)
			}
			way = taken
			nb = b.succ[taken].Load()
			rs[l] = Range{Block: b, N: b.N, Stamp: stamp}
			l++
			goto next
		case toStated | returns:
			if w.exec.cfg.Rules.Returns == isa.ReturnsCompressed && (n > 0 || e.Kind == event.Outcomes) {
				if n == 0 {
					bits, n = e.Value, int(e.N)
					stamp = w.loaded(t, e)
				}
				if bits>>63 == 0 || t.stack.n <= t.stack.vague {
					break loop
				}
				bits <<= 1
				n--
				skip--
				a, call, _ := t.stack.Pop()
				rs[l] = Range{Block: b, N: b.N, Stamp: stamp}
				l++
				idle = 0
				if n == 0 {
					if e = w.next(t); e == nil {
						b, ip = nil, narrow(a, t.mode)
						break loop
					}
				}
				stamp = w.exec.out.stamp
				// Another program's call may have left the address.
				own := t.mode == isa.Mode64 && call.Mode == isa.Mode64 && call.Space == b.Space
				if nb = call.succ[fall].Load(); nb == nil || !own || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
					ip = narrow(a, t.mode)
					if nb = w.exec.code.block(t.space, ip, t.mode, t.lo, t.hi); nb != nil && own {
						call.succ[fall].Store(nb)
					}
				}
				way = -1
				goto room
			}
			fallthrough
		case toStated, toStated | calls:
			if n > 0 {
				if t.seldomLeft(seldom) || w.exec.events.tooMany(t.q, n) || t.tooEarly(&w.exec.events) {
					break loop
				}
				e = w.exec.events.at(t.q) // a deferred target
			}
			if n == 0 && e.Kind == event.Disable {
				if b.endsInside(e) {
					break loop
				}
				w.exec.out.batch.Ranges = rs[:l]
				e = w.pause(t, b, e)
				rs, l, stamp = w.exec.out.space()
				ip, idle, skip = t.ip, 0, 0
				if b = nil; e == nil || w.exec.out.wait.err != nil {
					break loop
				}
				nb = w.exec.code.block(t.space, ip, t.mode, t.lo, t.hi)
				goto room
			}
			if e == nil || e.Kind != event.Target || e.Flags != event.FlagIP {
				break loop
			}
			rs[l] = Range{Block: b, N: b.N, Stamp: stamp}
			l++
			if n > 0 {
				t.left++
				rs[l-1].flags = ahead
			} else {
				w.exec.out.counts(b, l-1)
			}
			ip = e.IP
			switch {
			case b.lead&calls != 0:
				t.stack.Push(b.End, b)
			case b.lead&returns != 0:
				t.stack.Pop()
			}
			t.q++
			idle, skip = 0, 0
			if n == 0 {
				t.notBefore(w.exec.code.text, e)
				w.exec.out.mark(e)
				if e = w.next(t); e == nil {
					b = nil
					break loop
				}
				stamp = w.exec.out.stamp
			}
			if nb = b.succ[taken].Load(); nb == nil || nb.Addr != ip || nb.Mode != t.mode || nb.Space != b.Space || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
				if nb = w.exec.code.block(t.space, ip, t.mode, t.lo, t.hi); nb != nil {
					b.succ[taken].Store(nb)
				}
			}
			way = -1
			goto room
		case toNext:
			if idle+1 >= loopBlocks || n == 0 && e.Kind == event.Disable && b.endsInside(e) {
				break loop
			}
			idle++
			nb = b.succ[fall].Load()
			rs[l] = Range{Block: b, N: b.N, Stamp: stamp}
			l++
			goto next
		default:
			break loop
		}
		rs[l] = Range{Block: b, N: b.N, Stamp: stamp}
		l++
		idle = 0
		if n == 0 {
			if e = w.next(t); e == nil {
				ip = b.way(way)
				b = nil
				break loop
			}
		}
		stamp = w.exec.out.stamp
	next:
		if nb == nil || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
			ip = b.way(way)
			if nb = w.exec.code.block(t.space, ip, t.mode, t.lo, t.hi); nb != nil {
				b.succ[way].Store(nb)
			}
		}
	room:
		b = nb
		if l >= w.exec.out.full {
			w.exec.out.batch.Ranges = rs[:l]
			w.exec.out.flush()
			rs, l, stamp = w.exec.out.space()
			if w.exec.out.wait.err != nil {
				break
			}
		}
	}
	if b != nil {
		ip = b.Addr
	}
	w.exec.out.batch.Ranges = rs[:l]
	if n > 0 {
		w.exec.out.unspent(t, stamp)
	}
	t.ip, t.bits, t.n, t.idle = ip, bits, n, idle
}

// plain reports whether the fast paths may take t on: where it is and what lies there
// is not in doubt, and outcomes say where it goes.
func (w *Walker) plain(t *thread) bool {
	return t.on && !t.lost && !t.fresh && t.early == 0 && !t.unsure() && t.held == 0 && !t.gapBefore && !(t.vague && !w.exec.code.isKernel(t.ip)) && !w.exec.cfg.Rules.NoOutcomes
}

// conditionalOnly is the classes that spend an outcome in the protocols that fast knows.
const conditionalOnly = isa.ClassSet(1 << isa.Cond)

// loaded counts the outcomes event e as taken in hand. The range that spends the first of
// them has the stamp that it returns, those behind it the newest.
func (w *Walker) loaded(t *thread, e *event.Event) (first uint32) {
	t.notBefore(w.exec.code.text, e)
	t.q++
	return w.exec.out.markOutcomes(e)
}

// next returns the event that is next when no outcome is in hand, nil if it is
// not one that fast can take. The clock's upper bound moves with it, and there may be
// a new stamp.
func (w *Walker) next(t *thread) *event.Event {
	if t.q-w.exec.events.base > queueEvents {
		w.exec.events.trim(w.t.q, queueEvents)
	}
	if w.exec.events.bytes != nil && w.exec.events.spent(t.q) {
		w.again = true // what follows may be known: see phrasesOn
		return nil
	}
	e := w.exec.events.at(t.q)
	if e == nil || !w.follows(e) {
		return nil
	}
	t.notAfter(w.exec.code.text, e)
	w.exec.out.until(e)
	return e
}

// follows reports whether e tells only of branches that tell themselves apart:
// under a filter the end of tracing may be any branch's.
func (w *Walker) follows(e *event.Event) bool {
	return e.Kind == event.Outcomes || e.Kind == event.Target ||
		(e.Kind == event.Disable && e.Flags&event.FlagAbort == 0 && (e.HasIP() || w.exec.cfg.Traced == nil))
}

// pause executes b, whose last instruction ends tracing as e says. If tracing
// starts again at once, it goes on there and returns what next does.
func (w *Walker) pause(t *thread, b *Block, e *event.Event) *event.Event {
	w.exec.out.wentOff(b, e, t.space)
	w.goesOff(t, b, e)
	if e = w.exec.events.at(t.q); e == nil || e.Kind != event.Enable || e.Flags != event.FlagIP || t.mode == isa.ModeUnknown {
		return nil
	}
	on, confirms := w.comesOn(t, e)
	w.exec.confirmIf(confirms, t)
	if w.exec.out.cameOn(e, t.space); !on {
		return nil
	}
	return w.next(t)
}

// goesOff takes t through b, whose last instruction ends tracing as e says. Who calls it
// gives b to the writer.
func (w *Walker) goesOff(t *thread, b *Block, e *event.Event) {
	t.bits, t.n, t.ip = 0, 0, b.Addr
	if b.lead&returns != 0 {
		t.stack.Pop()
	}
	t.notBefore(w.exec.code.text, e)
	t.moves(e, w.exec.cfg.Guests)
	t.on, t.expect = false, b.resumesAt()
	t.use()
}

// comesOn has tracing start as e says. It reports whether fast may go on there, and whether
// that confirms the flow, of which the writer is not told here.
func (w *Walker) comesOn(t *thread, e *event.Event) (on, confirms bool) {
	t.notAfter(w.exec.code.text, e)
	t.notBefore(w.exec.code.text, e)
	if confirms = t.resumes(e); confirms {
		t.early = 0
	}
	w.exec.goTo(t, e.IP, e)
	t.on = true
	t.use()
	return !t.vague || w.exec.code.isKernel(t.ip), confirms
}
