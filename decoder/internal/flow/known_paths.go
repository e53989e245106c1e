package flow

import (
	mathbits "math/bits"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// path is what a block and the outcomes behind it have led to before: the
// blocks executed and where the flow stands then. One look-up takes the place
// of as many loads and guesses as it has blocks.
//
// A path takes at most pathBits outcomes of one event, and, where they are all
// that is in hand, the target that follows. Nothing in it depends on more than
// its key: it ends before a return whose call is not part of it.
type path struct {
	from  *Block
	key   uint64     // the outcomes, below a bit that marks their number; wantsTarget
	to    uint64     // the target
	end   *Block     // executed next
	span  event.Span // the epochs for which all of it is true
	n     uint8      // ranges; 0: the path leads nowhere
	pre   uint8      // ranges before the one that spends the first outcome
	post  uint8      // ranges up to the one that spends the last outcome before the target
	used  uint8      // outcomes spent
	deep  uint8      // the most calls that it made and had not returned from
	calls uint8      // calls it made and did not return from
	final bool       // the target is used
	pop   bool       // the last block returns from a call before the path
	// The last block counts as one whose target the trace states (Block.targetStated).
	counts bool
	call   [pathCalls]*Block
	rs     [pathRanges]Range // Stamp is to be filled in
}

const (
	pathBits   = 10      // outcomes
	pathRanges = 11      // ranges
	pathCalls  = 4       // calls open at once
	pathTable  = 1 << 14 // paths kept; 256 bytes each

	// pathAfter is how many look-ups are missed before the table is made: short
	// walks do without.
	pathAfter = 1 << 10

	wantsTarget = 1 << 32
)

// Paths keeps what a worker's walkers found to be walked often: at most
// pathTable paths, 4 MiB. It is used by one goroutine.
type Paths struct {
	table  *[pathTable]path
	seen   *[pathTable]uint32 // by slot: the hash of what was last missed there
	misses int
}

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
	key, ip := uint64(0), uint64(0)
	if n >= pathBits {
		n = pathBits
	} else if to = w.exec.events.at(q); to != nil && to.Kind == event.Target && to.Flags == event.FlagIP {
		key, ip = wantsTarget, to.IP
	} else if to = nil; n == 0 {
		return nil, nil, 0
	}
	key |= bits>>(64-pathBits)>>(pathBits-n) | 1<<n
	h := (b.Addr ^ mathbits.RotateLeft64(key, 40) ^ mathbits.RotateLeft64(ip*0x9e3779b97f4a7c15, 17)) * 0x9e3779b97f4a7c15
	ps := w.paths
	if ps.table == nil {
		if ps.misses++; ps.misses < pathAfter {
			return nil, nil, n
		}
		ps.table, ps.seen = new([pathTable]path), new([pathTable]uint32)
	}
	i := h >> 32 % pathTable
	p = &ps.table[i]
	if p.from != b || p.key != key || p.to != ip {
		if tag := uint32(h) | 1; ps.seen[i] != tag {
			ps.seen[i] = tag
			return nil, nil, n
		}
		*p = path{from: b, key: key, to: ip, end: b, span: event.EveryEpoch}
		w.trace(t, p, bits, n, to != nil)
	}
	if p.n == 0 || p.span.From > t.lo || t.hi >= p.span.Until {
		if !w.anew(t, p, bits, n) {
			return nil, nil, n
		}
	}
	return p, to, n
}

// anew finds out where p leads if it did so as of other code than there is now.
// Where the clock leaves open which code there is, no path holds for all of it.
func (w *Walker) anew(t *thread, p *path, bits uint64, n int) bool {
	if t.lo != t.hi || p.span.Has(t.lo) {
		return false
	}
	*p = path{from: p.from, key: p.key, to: p.to, end: p.from, span: event.EveryEpoch}
	w.trace(t, p, bits, n, p.key&wantsTarget != 0)
	return p.n > 0
}

// trace fills in p by walking from its first block, touching nothing else.
func (w *Walker) trace(t *thread, p *path, v uint64, k int, target bool) {
	compressed := w.exec.cfg.Rules.Returns == isa.ReturnsCompressed
	for int(p.n) < pathRanges && !p.final {
		b := p.end
		if b.N == 0 {
			break
		}
		way, spent := fall, false
		var nb *Block
		switch l := b.lead; {
		case l == toTarget|spends|mayFail && k > 0:
			way, spent = int(v>>63), true
		case l == toTarget:
			way = taken
		case l == toTarget|calls:
			if way = taken; p.calls == pathCalls {
				way = -1
			}
		case l == toStated|returns && compressed && k > 0:
			if way = -1; v>>63 == 1 && p.calls > 0 {
				spent = true
				nb = w.exec.code.block(t.space, narrow(p.call[p.calls-1].End, t.mode), t.mode, t.lo, t.hi)
			}
		case l&^(calls|returns) == toStated && k == 0 && target:
			way, p.final = -1, true
			if l&calls == 0 || p.calls < pathCalls {
				nb = w.exec.code.block(t.space, p.to, t.mode, t.lo, t.hi)
			}
		case l == toNext:
		default:
			way = -1
		}
		if way >= 0 {
			if nb = b.succ[way].Load(); nb == nil || nb.Span.From > t.lo || t.hi >= nb.Span.Until {
				nb = w.exec.code.block(t.space, b.way(way), t.mode, t.lo, t.hi)
			}
		}
		if nb == nil || nb.Space != p.from.Space {
			p.final = false
			break
		}
		if spent {
			if p.used == 0 {
				p.pre = p.n
			}
			v <<= 1
			k--
			p.used++
		}
		p.counts = p.final && b.targetStated(w.exec.out.wait.told)
		p.extend(b, nb, k > 0 || spent)
		if k == 0 && !target {
			break
		}
	}
	if p.used == 0 && !p.final {
		p.n = 0
	}
}

// extend appends b to p. After b, next is executed. When b ends, inHand says whether an
// outcome is in hand.
func (p *path) extend(b, next *Block, inHand bool) {
	p.rs[p.n] = Range{Block: b, N: b.N}
	if p.n++; inHand {
		p.post = p.n
	}
	p.span = p.span.Intersect(b.Span)
	p.end = next
	switch {
	case b.lead&returns != 0 && p.calls > 0:
		p.calls--
	case b.lead&returns != 0:
		p.pop = true
	case b.lead&calls != 0:
		p.call[p.calls] = b
		p.calls++
		p.deep = max(p.deep, p.calls)
	}
}

// stampAll gives all of rs the stamp s. A loop would cost six times as much.
func stampAll(rs *[pathRanges]Range, s uint32) {
	rs[0].Stamp, rs[1].Stamp, rs[2].Stamp, rs[3].Stamp = s, s, s, s
	rs[4].Stamp, rs[5].Stamp, rs[6].Stamp, rs[7].Stamp = s, s, s, s
	rs[8].Stamp, rs[9].Stamp, rs[10].Stamp = s, s, s
}

// replay does to the stack what the calls and returns of p do.
func (s *ReturnStack) replay(p *path) {
	if out := s.n - (s.depth - int(p.deep)); out > 0 { // so many are pushed out of a full stack
		s.n -= out
		s.vague = max(s.vague-out, 0)
	}
	for _, b := range p.call[:p.calls] {
		s.Push(b.End, b)
	}
	if p.pop {
		s.Pop()
	}
}
