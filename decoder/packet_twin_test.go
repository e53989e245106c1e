package decoder

import (
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// packetTwin says how far a flow agrees with the packets of a stream of Intel PT. It goes along
// the flow an instruction at a time, asks what each one is, and uses up what was told.
type packetTwin struct {
	outs   []bool // outcomes
	marks  []packetMark
	reads  func(k int, next uint64) []isa.Insn // what instruction k of the path may be
	path   []uint64
	calls  []uint64 // return addresses that the trace unit keeps at the start of path, the newest last
	agreed int      // instructions of path
	lost   bool     // path ends at an address where no code is known, and packets may tell anything behind it
	until  int      // the mark before which path ends, as packets were lost there; or how many there are
	holds  bool     // the trace unit is known to hold targets back
	left   int      // how many more instructions may be gone along
	seen   map[[4]int]bool
}

// packetMark is an event other than outcomes that the flow has to come to.
type packetMark struct {
	event.Event
	behind int // outcomes before it
	packet int // of these, the first of the last packet: a target may be held back behind that one
}

// maxBranches bounds how many ways to use up packets a twin tries.
const maxBranches = 1 << 16

// maxSteps bounds how far a twin goes along all ways for one row, instructions: many through a loop
// agree. A row that needs more is not alike.
const maxSteps = 1 << 22

// packetsOf lists what the packets of st tell.
func packetsOf(st *stream.Stream) *packetTwin {
	x := &packetTwin{left: maxSteps}
	last := 0
	for e := range stream.Events(st, false) {
		switch e.Kind {
		case event.Outcomes:
			for k := range e.N {
				x.outs = append(x.outs, e.Value>>(63-k)&1 == 1)
			}
			if last = len(x.outs) - int(e.Last); e.Last == 0 {
				last = len(x.outs) - int(e.N)
			}
		case event.Payload, event.Context, event.Status, event.Quiet, event.Reach, event.End:
		default:
			x.marks = append(x.marks, packetMark{*e, len(x.outs), last})
		}
	}
	return x
}

// simPackets is packetsOf of a stream that r's machine traced.
func simPackets(r *sim.Run, st *stream.Stream) *packetTwin {
	x := packetsOf(st)
	x.holds = !r.Config.NoDefer
	return x
}

// where is a place in a path: of the packets, how many outcomes and marks are used up there.
type where struct {
	at, outs, marks int
	calls           []uint64
	open            bool               // below calls there may be others
	from            [4]uint64          // where exceptions came from last, the newest first
	targets         [targetsBehind]int // instructions before the last stated targets, the oldest first
}

// targetsBehind is how many stated targets behind a claim the packets must agree with it. An address
// that the flow reaches by itself counts for as many. So does one that an exception came from, to which it returns.
const targetsBehind = 4

// follow goes along path, which begins at the event at off, and returns of how many of its
// instructions the packets up to a stated address agree. More is known of the stack if a sync
// point begins it. gap ends it, nil if none does. Where that is a target without code, the packets do not
// tell more than that the flow went there. If the unit holds targets back, outcomes may be left there. Where
// packets were lost, they tell no more than those before.
func (x *packetTwin) follow(path []uint64, off int64, gap *event.Gap, reads func(k int, next uint64) []isa.Insn) int {
	x.lost, x.until = false, len(x.marks)
	switch {
	case gap == nil:
	case gap.Reason == event.NoText:
		x.lost, path = true, append(slices.Clip(path), gap.IP)
	case gap.Reason == event.OverflowGap:
		x.until = sort.Search(len(x.marks), func(i int) bool { return x.marks[i].Off >= gap.Off })
	}
	x.path, x.reads, x.agreed = path, reads, 0
	i := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].Off > off })
	for d := range 16 { // near off: a part may begin at the event before the one that states where
		k := i - 1 - d/2
		if d%2 == 1 {
			k = i + d/2
		}
		if k < 0 || k >= len(x.marks) || x.marks[k].IP != path[0] || !x.marks[k].HasIP() {
			continue
		}
		m := &x.marks[k]
		first := m.behind
		if m.Kind == event.Target {
			first = m.packet
		}
		for o := m.behind; o >= first; o-- {
			x.seen = map[[4]int]bool{}
			w := where{outs: o, marks: k + 1, calls: slices.Clone(x.calls), open: m.Kind != event.Sync && m.Kind != event.Overflow}
			if m.Kind == event.Async {
				w.from[0] = m.From
			}
			x.walk(w)
			if x.agreed == len(path) {
				return x.agreed
			}
		}
	}
	return x.agreed
}

// walk goes on at w for as long as the packets agree.
func (x *packetTwin) walk(w where) {
	for {
		w = x.synced(w)
		if w.at+1 >= len(x.path) {
			if x.over(w) {
				x.agreed = len(x.path)
			}
			return
		}
		ways := x.step(w)
		for i := range ways {
			y := &ways[i]
			if y.marks == w.marks {
				continue
			}
			lost := x.lost && y.at == len(x.path)-1
			if y.outs != x.marks[y.marks-1].behind {
				if lost && x.holds { // what is left may belong to the code there
					x.agreed = y.at
				}
				continue
			}
			last := &x.marks[y.marks-1]
			if last.Kind == event.Target && y.marks == w.marks+1 && !slices.Contains(w.from[:], last.IP) {
				copy(y.targets[:], y.targets[1:])
				y.targets[targetsBehind-1] = y.at
			} else {
				y.targets = [targetsBehind]int{y.at, y.at, y.at, y.at}
			}
			x.agreed = max(x.agreed, y.targets[0])
			if lost {
				x.agreed = y.at
			}
		}
		if x.left--; len(ways) == 0 || len(x.seen) > maxBranches || x.left < 0 {
			return
		}
		for _, y := range ways[:len(ways)-1] {
			key := [4]int{y.at, y.outs, y.marks, len(y.calls)}
			if !x.seen[key] {
				x.seen[key] = true
				y.calls = slices.Clone(y.calls)
				x.walk(y)
			}
		}
		w = ways[len(ways)-1]
	}
}

// over reports whether at w all packets are used up before which the path ends. What the last instruction
// told is not asked, nor where it led.
func (x *packetTwin) over(w where) bool {
	outs := len(x.outs)
	if x.until < len(x.marks) {
		outs = x.marks[x.until].behind
	}
	switch left := x.until - w.marks; left {
	case 0:
	case 1:
		if x.until == len(x.marks) && x.marks[w.marks].HasIP() {
			return false
		}
	default:
		return false
	}
	return w.outs >= outs-1
}

// synced is w behind the sync points that are told of where it is.
func (x *packetTwin) synced(w where) where {
	for w.marks < len(x.marks) {
		m := &x.marks[w.marks]
		if m.Kind != event.Sync || m.behind != w.outs || m.HasIP() && m.IP != x.path[w.at] {
			break
		}
		if m.HasIP() {
			x.agreed = max(x.agreed, w.at)
		}
		w.marks, w.calls, w.open = w.marks+1, nil, false
	}
	return w
}

// step lists where the flow may be behind instruction w.at.
func (x *packetTwin) step(w where) (ways []where) {
	ip, next := x.path[w.at], x.path[w.at+1]
	for _, in := range x.reads(w.at, next) {
		ways = append(ways, x.to(w, &in, ip, next)...)
		ways = append(ways, x.ends(w, &in, ip)...)
	}
	return ways
}

// to lists where the flow may be if in, which is at ip, leads to next by itself.
func (x *packetTwin) to(w where, in *isa.Insn, ip, next uint64) (ways []where) {
	fall := ip + uint64(in.Len)
	w.at++
	target := func() {
		if w.marks < len(x.marks) {
			m := &x.marks[w.marks]
			if m.Kind == event.Target && m.IP == next && m.packet <= w.outs && w.outs <= m.behind {
				y := w
				y.marks++
				ways = append(ways, y)
			}
		}
	}
	outcome := func(taken bool) {
		last := len(x.outs)
		if w.marks < len(x.marks) {
			last = x.marks[w.marks].behind
		}
		if w.outs < last && x.outs[w.outs] == taken {
			y := w
			y.outs++
			ways = append(ways, y)
		}
	}
	push := func() {
		w.calls = append(slices.Clip(w.calls), fall)
		if len(w.calls) > isa.MaxStack {
			w.calls = w.calls[1:]
		}
	}
	switch in.Class {
	case isa.Other, isa.SetSpace, isa.TraceControl, isa.Wait, isa.Barrier:
		if next == fall {
			ways = append(ways, w)
		}
	case isa.Jump, isa.Call:
		if next == in.Target {
			if in.Class == isa.Call && next != fall {
				push()
			}
			ways = append(ways, w)
		}
	case isa.Cond:
		if next == in.Target {
			outcome(true)
		}
		if next == fall {
			outcome(false)
		}
	case isa.CallInd:
		push()
		target()
	case isa.Return:
		if n := len(w.calls) - 1; n >= 0 {
			top := w.calls[n]
			w.calls = w.calls[:n]
			if top == next {
				outcome(true)
			}
		} else if w.open {
			outcome(true)
		}
		target()
	default:
		target()
	}
	return ways
}

// ends lists where the flow may be if exceptions follow in, which is at ip, or stand in its
// place. The end of tracing may follow it too.
func (x *packetTwin) ends(w where, in *isa.Insn, ip uint64) (ways []where) {
	if w.marks >= len(x.marks) {
		return nil
	}
	m := &x.marks[w.marks]
	w.at++
	if m.Kind == event.Disable && m.behind == w.outs {
		return x.resumes(w)
	}
	ways = x.leaves(w, ip)
	w.at--
	to := []uint64{ip + uint64(in.Len), in.Target}
	switch m.Kind {
	case event.Target, event.Sync:
		to = append(to, m.IP)
	case event.Async, event.AsyncDisable:
		to = append(to, m.From)
	}
	slices.Sort(to)
	for _, to := range slices.Compact(to) {
		for _, y := range x.to(w, in, ip, to) {
			ways = append(ways, x.leaves(y, to)...)
		}
	}
	return ways
}

// leaves lists where the flow may be if exceptions lead it from ip to what comes next of the path.
func (x *packetTwin) leaves(w where, ip uint64) (ways []where) {
	for w.marks < len(x.marks) {
		m := &x.marks[w.marks]
		if m.Kind == event.Sync && m.behind == w.outs && (!m.HasIP() || m.IP == ip) {
			w.marks, w.calls, w.open = w.marks+1, nil, false
			continue
		}
		if m.behind != w.outs || m.Kind != event.Async && m.Kind != event.AsyncDisable || m.Flags&event.FlagHere == 0 && m.From != ip {
			break
		}
		if m.Kind == event.AsyncDisable || !m.HasIP() {
			return append(ways, x.resumes(w)...)
		}
		copy(w.from[1:], w.from[:])
		w.from[0] = ip
		if w.marks++; m.IP == x.path[w.at] {
			ways = append(ways, w)
		}
		ip = m.IP
	}
	return ways
}

// resumes lists where the flow may be if tracing ends by the next mark. It goes on at what comes
// next of the path, or where an exception leads from to there.
func (x *packetTwin) resumes(w where) (ways []where) {
	for w.marks++; w.marks < len(x.marks); w.marks++ {
		switch m := &x.marks[w.marks]; m.Kind {
		case event.Enable:
			if w.marks++; m.IP == x.path[w.at] {
				ways = append(ways, w)
			}
			return append(ways, x.leaves(w, m.IP)...)
		case event.Sync, event.Off:
			w.calls = nil
		default:
			return ways
		}
	}
	return ways
}

// agrees returns up to which of the instructions [from, to) of p, which was printed of stream i of s
// in one stretch, the packets agree.
func (x *packetTwin) agrees(s *Session, i int, p *printed, from, to int) int {
	twin := twinOf(s, i)
	list := p.steps(from, to)
	k := sort.Search(len(p.parts), func(k int) bool { return p.parts[k].from > from }) - 1
	var gap *event.Gap
	if g := slices.IndexFunc(p.parts, func(q part) bool { return q.from == to && q.gap != nil }); g >= 0 {
		gap = p.parts[g].gap
	}
	return from + x.follow(p.ips[from:to], p.parts[k].off, gap, func(k int, next uint64) (all []isa.Insn) {
		*twin.left = maxVersions
		clear(twin.passed)
		for _, v := range twin.versions(&list[k], next) {
			all = append(all, v.in)
		}
		return all
	})
}

// TestPacketTwin would catch a twin that does not know what packets tell. They agree with all that
// an exact flow gives, and no longer where one outcome is another or an instruction lacks.
func TestPacketTwin(t *testing.T) {
	for _, name := range []string{"kprobes", "ftrace"}[:testsize.Of(t, 1, 2, 2)] {
		s := opened(t, Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", name, "perf.data")})
		got := flowed(t, s, codedPrints{prints{}, s}).prints
		for i, st := range testsize.Some(t, s.Streams(), 1) {
			p, x := got[i], packetsOf(st)
			n := len(p.ips)
			if got := x.agrees(s, i, p, 0, n); got != n {
				t.Errorf("%s: stream %d: %d of %d instructions agree", name, i, got, n)
			}
			at := len(x.outs) / 2
			x.outs[at] = !x.outs[at]
			if got := x.agrees(s, i, p, 0, n); got > n*3/4 {
				t.Errorf("%s: stream %d, an outcome is another: %d of %d instructions agree", name, i, got, n)
			}
			x.outs[at] = !x.outs[at]
			q := *p
			q.ips = slices.Delete(slices.Clone(p.ips), n/2, n/2+1)
			if got := x.agrees(s, i, &q, 0, n-1); got > n/2 {
				t.Errorf("%s: stream %d, an instruction lacks: %d of %d agree", name, i, got, n-1)
			}
		}
	}
}

// TestPacketTwinLost would catch a twin that excuses a flow which ends at an address without code, though
// the packets state another one or have outcomes left there. It would catch one that asks for more than
// that address.
func TestPacketTwinLost(t *testing.T) {
	const site, nowhere = judgeSite, judgeSite + 1<<20
	for _, c := range []struct {
		name   string
		lost   bool
		holds  bool
		outs   int // before the target
		stated uint64
		want   int
	}{
		{"stated", true, false, 0, nowhere, 2},
		{"another", true, true, 0, nowhere + 1, 0},
		{"an outcome left", true, false, 1, nowhere, 0},
		{"an outcome left by a unit that holds targets back", true, true, 1, nowhere, 2},
		{"with code", false, true, 0, nowhere, 0},
		{"with code, an outcome left", false, true, 1, nowhere, 0},
	} {
		x := &packetTwin{left: maxSteps, outs: make([]bool, c.outs), holds: c.holds}
		x.marks = []packetMark{
			{Event: event.Event{Kind: event.Sync, Flags: event.FlagIP, IP: site}},
			{Event: event.Event{Kind: event.Target, Flags: event.FlagIP, IP: c.stated, Off: 1}, behind: c.outs},
			{Event: event.Event{Kind: event.Async, Flags: event.FlagIP, From: nowhere + 9, IP: site, Off: 2}, behind: c.outs},
		}
		path, gap := []uint64{site, site + 1, nowhere}, (*event.Gap)(nil)
		if c.lost {
			path, gap = path[:2], &event.Gap{Reason: event.NoText, IP: nowhere}
		}
		got := x.follow(path, 0, gap, func(k int, next uint64) []isa.Insn {
			return []isa.Insn{{Class: []isa.Class{isa.Other, isa.Return}[k], Len: 1}}
		})
		if got != c.want {
			t.Errorf("%s: %d instructions agree, want %d", c.name, got, c.want)
		}
	}
}

// segmentEvents decodes the packets of segment seg of st.
func segmentEvents(st *stream.Stream, seg event.Segment) (evs []event.Event) {
	seg.Buf = st.Data.Bytes(seg.Off, seg.End-seg.Off+pt.Margin)
	near := st.Unit.(pt.Config)
	near.Ahead = true
	var e event.Event
	for d := pt.NewDecoder(near, seg); d.Next(&e); {
		evs = append(evs, e)
	}
	return evs
}
