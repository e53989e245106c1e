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

// hiddenWays is all ways under one Quiet.
type hiddenWays struct {
	code  *reader
	site  *site
	all   []hidden // the places on them; the first is where they begin
	front []spot   // what uncover has come to
}

// hide finds the ways under e, a Quiet with a count, from ip with left
// instructions to run. It returns the index of the place in ws.all.
func (ws *hiddenWays) hide(t *thread, e *event.Event, ip, left uint64, m isa.Mode) int {
	for i := range ws.all {
		if h := &ws.all[i]; h.ip == ip && h.left == left && h.mode == m {
			return i
		}
	}
	i := len(ws.all)
	h := hidden{ip: ip, left: left, mode: m, next: [2]int{-1, -1}}
	if i < maxHidden {
		h.b = ws.hiddenBlock(t, ip, m)
	}
	b := h.b
	switch {
	case b == nil || b.N == 0:
		h.open, h.live = true, true
	case left <= uint64(b.N):
		h.ends, h.live = true, ws.meets(&h, e)
	}
	ws.all = append(ws.all, h)
	if h.open || h.ends {
		return i
	}
	left -= uint64(b.N)
	n := 0
	follow := func(ip uint64, m isa.Mode) {
		if k := ws.hide(t, e, ip, left, m); ws.all[k].live {
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
	ws.all[i] = h
	return i
}

// hiddenBlock returns the block at ip, cut before text that may be one of
// several; nil if that is what lies there.
func (ws *hiddenWays) hiddenBlock(t *thread, ip uint64, m isa.Mode) *Block {
	if b := ws.code.block(t.space, ip, m, t.lo, t.hi); b != nil {
		return b
	}
	space := ws.code.spaceOf(t.space, ip)
	limit := ws.site.firstContested(t, space, ip, m)
	if limit == ip {
		return nil
	}
	return ws.code.read(space, ip, m, t.floor, limit, maxInsns)
}

// meets reports whether the flow goes on where e says behind h.left
// instructions of h.b.
func (ws *hiddenWays) meets(h *hidden, e *event.Event) bool {
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

// spot is an instruction on a way under a Quiet: instruction k of place i.
type spot struct {
	ip   uint64
	i, k int
}

// foremost takes the spot from ws.front with the most left to run: no way leads
// from another one to it.
func (ws *hiddenWays) foremost() spot {
	left := func(x spot) uint64 { return ws.all[x.i].left - uint64(x.k) }
	at := 0
	for k, x := range ws.front {
		if left(x) > left(ws.front[at]) {
			at = k
		}
	}
	x := ws.front[at]
	ws.front = slices.Delete(ws.front, at, at+1)
	return x
}

// comeTo puts x into ws.front, if it is not there.
func (ws *hiddenWays) comeTo(x spot) {
	h := &ws.all[x.i]
	for _, y := range ws.front {
		if o := &ws.all[y.i]; y.ip == x.ip && o.left-uint64(y.k) == h.left-uint64(x.k) && o.mode == h.mode {
			return
		}
	}
	ws.front = append(ws.front, x)
}

func (ws *hiddenWays) comeToNext(h *hidden) {
	for _, i := range h.next {
		if i >= 0 {
			ws.comeTo(spot{ip: ws.all[i].ip, i: i})
		}
	}
}
