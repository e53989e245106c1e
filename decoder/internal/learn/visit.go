package learn

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Visit is a place where flow and trace fell apart.
type Visit struct {
	Stream int
	Begin  int64      // offset in the stream of the event at which Path begins, bytes
	Off    int64      // of the event that contradicts, bytes
	IP     uint64     // the last address that the flow had reached
	Time   event.Time // of the contradiction
	Path   []uint64   // addresses of instructions since the flow was last known to be right, the newest first
	Unread bool       // not the trace but the want of code ended the flow at IP
}

// What the flow was about to execute lies so near to where it ended, bytes, and is so many
// instructions at most. An interrupt's entry saves registers for that long.
const (
	aheadBytes = 256
	aheadInsns = 64
)

// passes reports whether the flow came by addr before the visit, or was about to. A breakpoint
// that stays ends the flow before itself.
func (v *Visit) passes(addr uint64) bool {
	return addr-v.IP < aheadBytes || slices.Contains(v.Path, addr)
}

// speaks reports whether v speaks for x, which came to o there and holds. If nothing but the want of other code
// ended the flow, that explains v. Then it speaks for no idea that leads astray, and for no call of another function: many
// are alike to the trace.
func (v *Visit) speaks(x *Idea, o *Outcome) bool {
	return !v.Unread || v.IP-x.Addr < uint64(len(x.Code)) || !x.Recalls && o.Calls.Astray == 0
}

// is reports whether v and w are one visit.
func (v *Visit) is(w *Visit) bool { return v.Stream == w.Stream && v.Off == w.Off && v.IP == w.IP }

// Meets reports whether the flow came by code of n bytes at addr, or could not go on there.
func (v *Visit) Meets(addr uint64, n int) bool {
	return v.IP <= addr && addr-v.IP < 16 || v.IP-addr < uint64(n) || slices.Contains(v.Path, addr)
}

// Gathered is visits by the address at which they ended: of each a few, evenly over
// time. Those that may follow from the one before come last.
type Gathered struct {
	fresh, later byPlace
	last         map[int]int64 // by stream: offset of the newest visit, bytes
	with         []Held        // what the code is taken to be
}

// GatheredWith returns an empty list of the visits that are met with what list says.
func GatheredWith(list []Held) *Gathered { return &Gathered{with: list} }

// apart is how much trace lies at least between two visits of which one does not follow
// from the other, bytes.
const apart = 128

// Add gathers v. Visits of a stream come in order.
func (g *Gathered) Add(v *Visit) {
	if g.last == nil {
		g.last = map[int]int64{}
	}
	last, ok := g.last[v.Stream]
	g.last[v.Stream] = v.Off
	to := &g.later
	if !ok || v.Begin > last+apart || v.Off < last {
		to = &g.fresh
	}
	to.add(v, v.Unread && !slices.ContainsFunc(g.with, func(h Held) bool { return v.passes(h.Addr) }))
}

// Tally counts visits.
type Tally struct {
	All   int
	Holes int // of these, those that the want of code ended, where the flow had come by no idea's site
}

// Tally counts the visits that were added.
func (g *Gathered) Tally() (t Tally) {
	for _, p := range []*byPlace{&g.fresh, &g.later} {
		for _, x := range p.groups {
			t.All, t.Holes = t.All+x.n, t.Holes+x.holes
		}
	}
	return t
}

// Len returns how many visits were added.
func (g *Gathered) Len() int { return g.Tally().All }

// Times is t of n times as much.
func (t Tally) Times(n int) Tally { return Tally{n * t.All, n * t.Holes} }

// Halved reports whether at most half of t is left with what was found: of all, or without the holes if there is
// enough besides. Right code keeps no flow from these, and may even show more of them.
func (t Tally) Halved(left Tally) bool {
	read := t.All - t.Holes
	return 2*left.All <= t.All || read >= 2*leastMet && 2*(left.All-left.Holes) <= read
}

// manyPlaces is at how many addresses visits end where the code is another one throughout.
const manyPlaces = 32

// Dense reports whether the visits lie nearer to each other than an idea has to hold, among
// insns instructions, and are of many places. Then other code at one site ends no
// contradiction for long enough: image and trace are not of one kernel.
func (g *Gathered) Dense(insns int) bool {
	return g.fresh.places(&g.later) >= manyPlaces && insns < enough*g.Len()
}

// Visits returns what is kept.
func (g *Gathered) Visits() []*Visit { return append(g.fresh.visits(), g.later.visits()...) }

// byPlace is visits by the address at which they ended.
type byPlace struct {
	groups map[uint64]*group
	order  []uint64 // the keys of groups, as they came
}

// group is the visits that ended at one address.
type group struct {
	n      int // visits
	holes  int // of them, as of a Tally
	stride int // of them, each so many one is kept
	kept   []*Visit
}

// What is kept: so many groups, and of each so many visits.
const (
	maxGroups = 1 << 10
	maxKept   = 8
)

// add takes v. hole says that it counts among Tally.Holes. The path is cloned only where it is kept.
func (g *byPlace) add(v *Visit, hole bool) {
	if g.groups == nil {
		g.groups = map[uint64]*group{}
	}
	x := g.groups[v.IP]
	if x == nil {
		if len(g.order) == maxGroups {
			return
		}
		x = &group{stride: 1}
		g.groups[v.IP] = x
		g.order = append(g.order, v.IP)
	}
	if slices.ContainsFunc(x.kept, v.is) {
		return
	}
	if x.n%x.stride == 0 {
		if len(x.kept) == maxKept {
			for i := range maxKept / 2 {
				x.kept[i] = x.kept[2*i]
			}
			x.kept, x.stride = x.kept[:maxKept/2], 2*x.stride
		}
		if x.n%x.stride == 0 {
			c := *v
			c.Path = slices.Clone(v.Path)
			x.kept = append(x.kept, &c)
		}
	}
	if x.n++; hole {
		x.holes++
	}
}

// places returns at how many addresses the visits of g and o ended.
func (g *byPlace) places(o *byPlace) int {
	n := len(g.order)
	for _, ip := range o.order {
		if g.groups[ip] == nil {
			n++
		}
	}
	return n
}

// visits returns what is kept: of each group its first visit, then of each the next,
// so that a bound on the work meets all sites alike. Groups with more visits come first.
func (g *byPlace) visits() (list []*Visit) {
	order := slices.Clone(g.order)
	slices.SortStableFunc(order, func(a, b uint64) int { return g.groups[b].n - g.groups[a].n })
	for k := range maxKept {
		for _, ip := range order {
			if x := g.groups[ip]; k < len(x.kept) {
				list = append(list, x.kept[k])
			}
		}
	}
	return list
}
