package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// A Quiet says how many instructions ran and where the flow goes on, not which
// way branches went (DDI0487, "Q element"). Of all ways that are as long and
// lead there, what every one goes through was executed.

// maxHidden bounds the places that are looked at on the ways under one Quiet.
const maxHidden = 256

// hidden is a place on a way under a Quiet: left instructions are to run from ip.
type hidden struct {
	ip   uint64
	left uint64
	mode isa.Mode
	b    *Block
	next [2]int // indices of the places behind b from which the ways lead on; -1: none
	live bool   // a way goes on from here
	ends bool   // the last of them is in b
	open bool   // nothing says where a way from here leads
}

// hide finds the ways under e, a Quiet with a count, from ip with left
// instructions to run. It returns the index of the place in w.hidden.
func (w *Walker) hide(t *thread, e *event.Event, ip, left uint64, m isa.Mode) int {
	for i := range w.hidden {
		if h := &w.hidden[i]; h.ip == ip && h.left == left && h.mode == m {
			return i
		}
	}
	i := len(w.hidden)
	h := hidden{ip: ip, left: left, mode: m, next: [2]int{-1, -1}}
	if i < maxHidden {
		h.b = w.hiddenBlock(t, ip, m)
	}
	b := h.b
	switch {
	case b == nil || b.N == 0:
		h.open, h.live = true, true
	case left <= uint64(b.N):
		h.ends, h.live = true, w.meets(&h, e)
	}
	w.hidden = append(w.hidden, h)
	if h.open || h.ends {
		return i
	}
	left -= uint64(b.N)
	n := 0
	follow := func(ip uint64, m isa.Mode) {
		if k := w.hide(t, e, ip, left, m); w.hidden[k].live {
			h.next[n] = k
			n++
		}
	}
	switch b.lead & place {
	case toTarget:
		follow(b.Target, b.modeAhead())
		if b.lead&mayFail != 0 && (b.Target != b.End || b.modeAhead() != m) {
			follow(b.End, m)
		}
	case toNext, toUnread:
		follow(b.End, m)
	default:
		h.open = true
	}
	h.live = n > 0 || h.open
	w.hidden[i] = h
	return i
}

// hiddenBlock returns the block at ip, cut before text that may be one of
// several; nil if that is what lies there.
func (w *Walker) hiddenBlock(t *thread, ip uint64, m isa.Mode) *Block {
	if b := w.code.block(t.space, ip, m, t.lo, t.hi); b != nil {
		return b
	}
	space := w.code.spaceOf(t.space, ip)
	at, mode := t.ip, t.mode
	t.ip, t.mode = ip, m
	limit := w.firstContested(t, space)
	t.ip, t.mode = at, mode
	if limit == ip {
		return nil
	}
	return w.code.read(space, ip, m, t.floor, limit, maxInsns)
}

// meets reports whether the flow goes on where e says behind h.left
// instructions of h.b.
func (w *Walker) meets(h *hidden, e *event.Event) bool {
	b := h.b
	if !e.HasIP() {
		return true
	}
	at := func(ip uint64, m isa.Mode) bool {
		return ip == e.IP && (e.Flags&event.FlagMode == 0 || isa.Mode(e.Mode) == m)
	}
	if h.left < uint64(b.N) || b.lead.goesOn() {
		ip := b.Addr
		for _, l := range b.Lens[:h.left] {
			ip += uint64(l)
		}
		return at(ip, b.Mode)
	}
	if b.lead&place == toTarget {
		return at(b.Target, b.modeAhead()) || b.lead&mayFail != 0 && at(b.End, b.Mode)
	}
	return true
}

// quiet takes a Quiet: what all ways under it go through was executed, the rest
// is not known.
func (w *Walker) quiet(t *thread, e *event.Event) status {
	branch := true
	if w.hidden = w.hidden[:0]; e.Flags&event.FlagCount != 0 && e.Value > 0 {
		w.hide(t, e, t.ip, e.Value, t.mode)
	}
	switch {
	case len(w.hidden) == 0:
		w.noPath(t, e, t.ip)
	case w.hidden[0].live:
		branch = w.uncover(t, e)
	case len(w.threads) > 1 && !t.lost:
		return fail(event.Mismatch)
	default:
		w.noPath(t, e, t.ip)
	}
	t.notBefore(w.code.text, e)
	w.stampFor(t, e)
	switch {
	case e.HasIP():
	case branch:
		return w.somewhere(t)
	default:
		t.use()
		return moved
	}
	if e.Flags&event.FlagMode != 0 {
		t.mode = isa.Mode(e.Mode)
	}
	w.goTo(t, e.IP, e)
	t.use()
	return moved
}

// noPath notes that which instructions ran from ip on is not known.
func (w *Walker) noPath(t *thread, e *event.Event, ip uint64) {
	w.note(t, Note{Kind: NoteGap, IP: ip, Poke: -1, Gap: event.Gap{
		Reason: event.NoPath, Stream: w.cfg.Stream, Off: e.Off, End: e.End, IP: ip, Time: e.Time}})
}

// spot is an instruction on a way under a Quiet: instruction k of place i.
type spot struct {
	ip   uint64
	i, k int
}

// uncover executes what all ways from w.hidden[0] go through, with a gap where
// they part. branch says that where the flow goes on is not known by that.
func (w *Walker) uncover(t *thread, e *event.Event) (branch bool) {
	t.choice, t.either = Certain, false
	w.front = append(w.front[:0], spot{ip: t.ip}) // what the ways have come to
	for {
		x := w.foremost()
		h := &w.hidden[x.i]
		b := h.b
		if len(w.front) > 0 { // on by one instruction, to see whether they meet
			switch {
			case b != nil && x.k+1 < min(int(b.N), int(min(h.left, maxInsns))):
				w.comeTo(spot{x.ip + uint64(b.Lens[x.k]), x.i, x.k + 1})
			case h.ends || h.open:
				return true
			default:
				w.comeToNext(h)
			}
			continue
		}
		if x.k > 0 {
			b = w.hiddenBlock(t, x.ip, h.mode)
		}
		if h.ends {
			n := int(h.left) - x.k
			w.emit(t, b, n)
			t.mode = h.mode
			for t.ip = x.ip; n > 0; n-- {
				t.ip += uint64(b.Lens[n-1])
			}
			return int(h.left) == int(h.b.N) && !b.lead.goesOn()
		}
		ip := x.ip
		if b != nil && b.N > 0 {
			w.emit(t, b, int(b.N))
			ip = b.LastIP()
		}
		if h.open || h.next[1] >= 0 {
			w.noPath(t, e, ip)
		}
		if h.open {
			return true
		}
		w.comeToNext(h)
	}
}

// foremost takes the spot from w.front with the most left to run: no way leads
// from another one to it.
func (w *Walker) foremost() spot {
	left := func(x spot) uint64 { return w.hidden[x.i].left - uint64(x.k) }
	at := 0
	for k, x := range w.front {
		if left(x) > left(w.front[at]) {
			at = k
		}
	}
	x := w.front[at]
	w.front = slices.Delete(w.front, at, at+1)
	return x
}

// comeTo puts x into w.front, if it is not there.
func (w *Walker) comeTo(x spot) {
	h := &w.hidden[x.i]
	for _, y := range w.front {
		if o := &w.hidden[y.i]; y.ip == x.ip && o.left-uint64(y.k) == h.left-uint64(x.k) && o.mode == h.mode {
			return
		}
	}
	w.front = append(w.front, x)
}

func (w *Walker) comeToNext(h *hidden) {
	for _, i := range h.next {
		if i >= 0 {
			w.comeTo(spot{ip: w.hidden[i].ip, i: i})
		}
	}
}
