package decoder

import (
	"slices"
	"sort"
	"strconv"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// armTwin says how far a flow agrees with the packets of a stream of one of Arm's trace units. Brute force
// takes it along the flow, an instruction at a time, and shares nothing with the walker. Any code that a site
// ever had may have run there, and times are not asked.
type armTwin struct {
	b   *brute
	st  *bruteStream
	got []step     // the path
	ids []uint64   // of its instructions: see bruteText.id
	gap *event.Gap // ends the path, nil if none does

	from, to int // the stretch of claims looked at last, and up to where the packets agree with it
	agreed   int // instructions of the path
	left     int // how many more places may be looked at
	seen     map[string]bool
}

// newArmTwin returns the twin of st, whose rules and code b has.
func newArmTwin(b *bruteStream, st *stream.Stream) *armTwin {
	text := newBruteText(b.text)
	text.rules = bruteRules{true, true, true}
	x := &armTwin{b: &brute{dec: b.dec, mode: b.mode, text: text, rules: b.rules}, st: b, from: -1}
	for e := range stream.Events(st, false) {
		e.Time = event.Always
		x.b.evs = append(x.b.evs, *e)
	}
	return x
}

// armPlace is a place in a path, and what of the packets is used up there.
type armPlace struct {
	bruteState
	at      int
	open    bool               // the unit may keep return addresses from before
	targets [targetsBehind]int // instructions before the last stated targets, the oldest first
	from    [4]uint64          // where exceptions came from last, the newest first
}

// targeted notes a stated target.
func (w *armPlace) targeted() {
	copy(w.targets[:], w.targets[1:])
	w.targets[targetsBehind-1] = w.at
}

// stated is alikeTwin.stated: whether the packets agree with claim i of got up to an address behind it.
func (x *armTwin) stated(got []step, i int) bool {
	from, to := i, i
	for ; from > 0 && got[from-1].gap == nil; from-- {
	}
	for ; to < len(got) && got[to].gap == nil; to++ {
	}
	x.left = maxSteps
	if x.from != from {
		x.from, x.to = from, x.follow(got, from, to)
	}
	if x.to > i {
		return true
	}
	for n := max(from+1, i-maxBefore); n <= i; n++ {
		if got[n].off != got[n-1].off && x.follow(got, n, to) > i {
			return true
		}
	}
	return false
}

// follow goes along claims [from, to) of got, from an event on that states where they begin. It returns
// up to which of them the packets agree.
func (x *armTwin) follow(got []step, from, to int) int {
	x.got, x.ids, x.gap, x.agreed = got[from:to], x.ids[:0], nil, 0
	if to < len(got) {
		x.gap = got[to].gap
	}
	evs := x.b.evs
	i := sort.Search(len(evs), func(i int) bool { return evs[i].Off > got[from].off })
	for d := range 16 { // near off: a part may begin at the event before the one that states where
		k := i - 1 - d/2
		if d%2 == 1 {
			k = i + d/2
		}
		if k < 0 || k >= len(evs) || !evs[k].HasIP() || evs[k].IP != got[from].ip || evs[k].Kind == event.Reach {
			continue
		}
		for j := len(x.ids); j < len(x.got); j++ {
			x.ids = append(x.ids, x.b.text.shown(x.st.dec, &x.got[j]))
		}
		w := armPlace{bruteState: bruteState{ev: k + 1, ip: got[from].ip, mode: got[from].mode, on: true}}
		switch e := &evs[k]; e.Kind {
		case event.Sync, event.Enable, event.Overflow:
		case event.Async:
			w.from[0] = e.From
			fallthrough
		default:
			w.open = true
		}
		if x.walk(w); x.agreed == len(x.got) {
			break
		}
	}
	return from + x.agreed
}

// walk goes on at w for as long as the packets agree.
func (x *armTwin) walk(w armPlace) {
	x.seen = map[string]bool{}
	for list := []armPlace{w}; len(list) > 0; {
		w = list[len(list)-1]
		list = list[:len(list)-1]
		w.bruteState.seen = bruteSeen{}
		key := w.key() + " " + strconv.Itoa(w.at)
		if x.left--; x.left < 0 || x.seen[key] {
			continue
		}
		x.seen[key] = true
		if w.at == len(x.got) && x.ends(&w) || x.hides(&w) {
			x.agreed = len(x.got)
			return
		}
		list = append(list, x.next(w)...)
	}
}

// next returns where the flow may be when it has used more of the packets, if that is where the path leads.
func (x *armTwin) next(w armPlace) (list []armPlace) {
	x.b.unseen = nil
	if w.open {
		x.b.unseen = func(ids []uint64) (uint64, bool) { return x.address(w.at + len(ids)) }
	}
	for _, e := range x.b.next(w.bruteState) {
		n := min(len(e.ips), len(x.got)-w.at)
		if !slices.Equal(e.ips[:n], x.ids[w.at:w.at+n]) {
			continue
		}
		y := w
		y.bruteState, y.at = e.to, w.at+n
		if n < len(e.ips) || e.wild > 0 { // the path ends on the way
			if n < len(e.ips) && x.ends(&w) {
				x.agreed = max(x.agreed, y.at)
			}
			continue
		}
		if !x.uses(&w, &y) {
			continue
		}
		if y.at == len(x.got) && x.gap != nil && x.gap.Reason == event.NoText && x.gap.IP == y.ip && y.n == 0 {
			x.agreed = y.at
		}
		list = append(list, y)
	}
	return list
}

// address returns that of instruction k of the path, as the return stack has it.
func (x *armTwin) address(k int) (a uint64, ok bool) {
	if k >= len(x.got) {
		return 0, false
	}
	if a = x.got[k].ip; x.got[k].mode == isa.ModeT32 {
		a |= bruteT32
	}
	return a, true
}

// behind returns where the flow is that goes straight on from w to y.
func (x *armTwin) behind(w, y *armPlace) uint64 {
	k := y.at - 1
	if k < w.at {
		return w.ip
	}
	for _, v := range x.b.text.site(x.b.dec, x.got[k].ip, x.got[k].mode).texts {
		if v.id == x.ids[k] {
			return x.got[k].ip + uint64(v.in.Len)
		}
	}
	return 0
}

// uses notes what of the packets the flow from w to y has used; false: that cannot be. An address that the flow
// reaches by itself says that it is right up to there, and so do some stated targets in a row.
func (x *armTwin) uses(w, y *armPlace) bool {
	here, spent := x.behind(w, y), w.bits != y.bits || w.n != y.n
	for k := w.ev; k < y.ev; k++ {
		e := &x.b.evs[k]
		sure, byItself := false, e.Flags&event.FlagHere == 0
		switch e.Kind {
		case event.Target:
			if sure = !spent || slices.Contains(y.from[:], e.IP); !sure {
				y.targeted()
			}
		case event.Async:
			if byItself && e.From < here {
				return false // no unit says so of what ran
			}
			if sure = byItself && e.From == here; !byItself {
				y.targeted()
			}
			copy(y.from[1:], y.from[:])
			y.from[0] = here
		case event.Sync:
			y.open = false
			sure = e.HasIP() && !spent && !(k > 0 && x.b.evs[k-1].Kind == event.Target)
		case event.Off, event.Overflow:
			sure, y.open = true, false
		case event.Quiet, event.AsyncDisable, event.Reach:
			sure = true
		}
		if sure {
			y.targets = [targetsBehind]int{y.at, y.at, y.at, y.at}
		}
	}
	x.agreed = max(x.agreed, y.targets[0])
	return true
}

// ends reports whether the packets end behind w, or some were lost there.
func (x *armTwin) ends(w *armPlace) bool {
	n := w.n
	for k := w.ev; k < len(x.b.evs); k++ {
		switch e := &x.b.evs[k]; e.Kind {
		case event.Payload, event.Context, event.Status, event.End:
		case event.Outcomes:
			n += int(e.N)
		case event.Off, event.Overflow:
			return n == 0
		default:
			return false
		}
	}
	return n <= 1 && x.gap == nil
}

// hides reports whether a Q element comes behind w that ends the path. Up to the next branch it is known what
// ran.
func (x *armTwin) hides(w *armPlace) bool {
	k := w.ev
	for k < len(x.b.evs) && (x.b.evs[k].Kind == event.Payload || x.b.evs[k].Kind == event.Context) {
		k++
	}
	if x.gap == nil || x.gap.Reason != event.NoPath || w.n > 0 || k == len(x.b.evs) || x.b.evs[k].Kind != event.Quiet {
		return false
	}
	for i := w.at; i+1 < len(x.got); i++ {
		ip, next := x.got[i].ip, x.got[i+1].ip
		if !slices.ContainsFunc(x.b.text.site(x.b.dec, ip, w.mode).texts, func(v bruteVersion) bool {
			return v.in.Class != isa.Cond && leads(&v.in, ip, next)
		}) {
			return false
		}
	}
	return w.at == len(x.got) || x.got[w.at].ip == w.ip
}

// TestArmTwin would catch a twin that does not know what the packets of Arm's units tell. They agree with all
// of an exact flow, and no longer where one target is another or an instruction lacks.
func TestArmTwin(t *testing.T) {
	first, n := seeds(t, 6, 40)
	eachSeed(first, n, func(_ int, seed uint64) {
		r := armMachine(seed)
		if r.Config.OVF > 0 || r.CPUs[0].Source.V4.QElements() {
			return // the flow has gaps
		}
		s := etmSession(t, r, r.Start)
		got := decodeWith(t, r, s, Query{Jobs: 1})[0]
		if slices.ContainsFunc(got, func(x step) bool { return x.gap != nil }) {
			return
		}
		x := newArmTwin(etmStream(r, s, 0), s.Streams()[0])
		agree := func(got []step) int {
			x.left = maxSteps
			return x.follow(got, 0, len(got))
		}
		if k := agree(got); k != len(got) {
			t.Errorf("seed %d (%v): %d of %d instructions agree", seed, r.Config.Timing, k, len(got))
		}
		half := len(got) / 2
		if k := agree(slices.Delete(slices.Clone(got), half, half+1)); k > half {
			t.Errorf("seed %d (%v): an instruction lacks: %d of %d agree", seed, r.Config.Timing, k, len(got)-1)
		}
		evs := x.b.evs
		i := len(evs) / 2
		for i+1 < len(evs) && (evs[i].Kind != event.Target || evs[i+1].Kind != event.Outcomes) { // with code run there
			i++
		}
		evs[i].IP ^= 8
		if k := agree(got); i+1 < len(evs) && k == len(got) {
			t.Errorf("seed %d (%v): a target is another: %d of %d agree", seed, r.Config.Timing, k, len(got))
		}
	})
}
