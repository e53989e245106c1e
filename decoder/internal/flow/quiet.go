package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// quiet takes a Quiet: what all ways under it go through was executed, the rest
// is not known.
func (x *executor) quiet(t *thread, e *event.Event) status {
	branch := true
	if x.ways.all = x.ways.all[:0]; e.Flags&event.FlagCount != 0 && e.Value > 0 {
		x.ways.hide(t, e, t.ip, e.Value, t.mode)
	}
	switch {
	case len(x.ways.all) == 0:
		x.noPath(t, e, t.ip)
	case x.ways.all[0].live:
		branch = x.uncover(t, e)
	case x.window.several() && !t.lost:
		return fail(event.Mismatch)
	default:
		x.noPath(t, e, t.ip)
	}
	t.notBefore(x.code.text, e)
	x.out.stampFor(t, e)
	switch {
	case e.HasIP():
	case branch:
		return x.somewhere(t)
	default:
		t.use()
		return moved
	}
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	x.goTo(t, e.IP, e)
	t.use()
	return moved
}

// noPath notes that which instructions ran from ip on is not known.
func (x *executor) noPath(t *thread, e *event.Event, ip uint64) {
	x.out.note(t, Note{Kind: NoteGap, IP: ip, Poke: -1, Gap: event.Gap{
		Reason: event.NoPath, Stream: x.cfg.Stream, Off: e.Off, End: e.End, IP: ip, Time: e.Time}})
}

// uncover executes what all ways from x.ways.all[0] go through, with a gap where
// they part. branch says that where the flow goes on is not known by that.
func (x *executor) uncover(t *thread, e *event.Event) (branch bool) {
	t.choice, t.either = Certain, false
	x.ways.front = append(x.ways.front[:0], spot{ip: t.ip}) // what the ways have come to
	for {
		at := x.ways.foremost()
		h := &x.ways.all[at.i]
		b := h.b
		if len(x.ways.front) > 0 { // on by one instruction, to see whether they meet
			switch {
			case b != nil && at.k+1 < min(int(b.N), int(min(h.left, maxInsns))):
				x.ways.comeTo(spot{at.ip + uint64(b.Lens[at.k]), at.i, at.k + 1})
			case h.ends || h.open:
				return true
			default:
				x.ways.comeToNext(h)
			}
			continue
		}
		if at.k > 0 {
			b = x.ways.hiddenBlock(t, at.ip, h.mode)
		}
		if h.ends {
			n := int(h.left) - at.k
			x.emit(t, b, n)
			t.mode = h.mode
			for t.ip = at.ip; n > 0; n-- {
				t.ip += uint64(b.Lens[n-1])
			}
			return int(h.left) == int(h.b.N) && !b.lead.goesOn()
		}
		ip := at.ip
		if b != nil && b.N > 0 {
			x.emit(t, b, int(b.N))
			ip = b.LastIP()
		}
		if h.open || h.next[1] >= 0 {
			x.noPath(t, e, ip)
		}
		if h.open {
			return true
		}
		x.ways.comeToNext(h)
	}
}
