package decoder

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// What brute force knows besides Intel PT: waypoints, conditions, source
// addresses, Q elements, tracing that was off.

// etmStream is stream cpu of s, which r gave.
func etmStream(r *sim.Run, s *Session, cpu int) *bruteStream {
	st, c := s.streams[cpu], &r.CPUs[cpu]
	b := &bruteStream{dec: st.Instructions(false), mode: st.FirstMode(isa.ModeUnknown), rules: st.Rules(), text: s.Text()}
	segs := slices.Collect(st.Segments())
	for _, seg := range segs {
		b.offs = append(b.offs, seg.Off)
	}
	b.events = func(i int) (evs []event.Event) {
		seg := segs[i]
		seg.Time = st.TimeOf(seg)
		seg.Buf = st.Data.Bytes(seg.Off, seg.End-seg.Off+st.Protocol.Margin)
		d := st.Decoder(true)
		d.Reset(seg)
		for e := (event.Event{}); d.Next(&e); {
			evs = append(evs, e)
		}
		return evs
	}
	start := func(i int) int {
		if i == len(segs) {
			return len(c.Insns)
		}
		// An A-Sync behind a packet that ends in zeros may be found later than it begins.
		k, ok := slices.BinarySearch(c.StartOff, segs[i].Off)
		if !ok {
			k--
		}
		return c.Starts[k]
	}
	b.truth = func(i int) (from, to int) { return start(i), start(i + 1) }
	return b
}

// mayFail reports whether in may be passed over.
func (b *brute) mayFail(in *isa.Insn, m isa.Mode) bool {
	return in.Class == isa.Cond || in.Flags&isa.FlagConditional != 0 || b.rules.AlwaysConditional.Has(m)
}

// leadsTo is the mode at in's static target.
func (b *brute) leadsTo(in *isa.Insn, m isa.Mode) isa.Mode {
	switch {
	case in.Flags&isa.FlagInterwork == 0:
		return m
	case m == isa.ModeA32:
		return isa.ModeT32
	}
	return isa.ModeA32
}

// waypoint is execute for what spends an outcome; next lies behind it.
func (b *brute) waypoint(s *bruteState, in *isa.Insn, next uint64, ips []uint64, visits int) (went, used bool) {
	if b.rules.SilentBranches && s.n == 0 && b.evs[s.ev].Kind == event.Async && b.mayFail(in, s.mode) {
		s.ip = next
		return true, false
	}
	taken, ok := b.outcome(s)
	if !ok || !taken && !b.mayFail(in, s.mode) {
		return false, false
	}
	if !taken {
		s.ip = next
		b.reach(*s, ips, visits)
		return true, true
	}
	b.executed(s, in, &b.evs[s.bits])
	return b.took(s, in, next, ips, visits), true
}

// executed notes what in, which passed its condition, does to what is seen of text.
func (b *brute) executed(s *bruteState, in *isa.Insn, e *event.Event) {
	if in.Flags&isa.FlagTx == 0 { // a transaction's start is told as an ISB is, and synchronises nothing
		b.sync(s, in.Class, e)
	}
}

// took makes an edge of s, in which in passed its condition.
func (b *brute) took(s *bruteState, in *isa.Insn, next uint64, ips []uint64, visits int) bool {
	switch in.Class {
	case isa.Cond, isa.Jump, isa.Call:
		if s.ip = in.Target; in.Class == isa.Call {
			b.push(s, next)
		}
		s.mode = b.leadsTo(in, s.mode)
	case isa.JumpInd, isa.CallInd, isa.Return, isa.FarJump, isa.FarReturn:
		return b.indirect(s, in, next, ips, visits)
	case isa.SoftInt, isa.Break, isa.Undefined:
		return false // it traps, and is not told
	default:
		s.ip = next
	}
	b.reach(*s, ips, visits)
	return true
}

// indirect is took for a branch whose target is stated, or foretold by the
// return stack.
func (b *brute) indirect(s *bruteState, in *isa.Insn, next uint64, ips []uint64, visits int) bool {
	calls := in.Class == isa.CallInd
	if calls && !b.rules.PopsFirst {
		b.push(s, next)
	}
	for s.n == 0 && s.ev < len(b.evs)-1 && (b.evs[s.ev].Kind == event.Payload || b.evs[s.ev].Kind == event.Context) {
		s.ev++
	}
	e := &b.evs[min(s.ev, len(b.evs)-1)]
	if s.n == 0 && s.ev < len(b.evs) {
		switch e.Kind {
		case event.Target:
			if calls && b.rules.PopsFirst {
				b.push(s, next)
			}
			s.ip = e.IP
			b.use(*s, ips, visits)
			return true
		case event.Off, event.Overflow, event.End:
			s.ip = next // nothing runs from there
			b.reach(*s, ips, visits)
			return true
		}
	}
	if b.rules.Returns != isa.ReturnsByOutcome {
		return false
	}
	if len(s.stack) == 0 {
		if b.unseen == nil {
			return false
		}
		a, ok := b.unseen(ips)
		if !ok {
			return false
		}
		s.stack = []uint64{a}
	}
	a := s.pop()
	if calls && b.rules.PopsFirst {
		b.push(s, next)
	}
	s.ip, s.mode = a&^bruteT32, b.foretold(a, s.mode)
	b.reach(*s, ips, visits)
	return true
}

// bruteT32 marks a return address on the stack as one of T32 code.
const bruteT32 = 1

func (b *brute) foretold(a uint64, m isa.Mode) isa.Mode {
	switch {
	case m != isa.ModeA32 && m != isa.ModeT32:
		return m
	case a&bruteT32 != 0:
		return isa.ModeT32
	}
	return isa.ModeA32
}

// toward is execute on the way to the instruction that a Reach states.
func (b *brute) toward(s *bruteState, in *isa.Insn, next uint64, ips []uint64, visits int) (went, used bool) {
	e := &b.evs[s.ev]
	way := b.rules.Waypoints.Has(in.Class)
	switch {
	case s.ip < e.IP:
		if !b.straight(in, s.mode) {
			return false, false
		}
		s.ip = next
		return true, false
	case e.Flags&event.FlagTaken == 0:
		if !b.rules.Raises.Has(in.Class) && !b.straight(in, s.mode) {
			return false, false
		}
		s.ip = next
		b.use(*s, ips, visits)
		return true, true
	case !way || s.seen.time > e.Time.Hi:
		return false, false
	}
	s.seen.time = max(s.seen.time, e.Time.Lo)
	b.executed(s, in, e)
	s.ev++
	return b.took(s, in, next, ips, visits), true
}

// straight reports whether the flow may go on behind in without a branch, on the
// way to what a Reach states. PTM tells of every waypoint that it failed, so none
// is on the way.
func (b *brute) straight(in *isa.Insn, m isa.Mode) bool {
	if b.rules.Waypoints.Has(in.Class) && !b.rules.SilentBranches {
		return false
	}
	switch in.Class {
	case isa.Other, isa.SetSpace, isa.TraceControl:
		return true
	case isa.Barrier, isa.Wait:
		return !b.rules.Waypoints.Has(in.Class) || b.mayFail(in, m)
	}
	return b.mayFail(in, m)
}

// maxBruteQuiet bounds the ways that are followed under a Q element, and what
// one without a count may hide, instructions.
const maxBruteQuiet = 512

// quiet makes the edges of s, whose next event is a Q element. Each way that is
// so long and leads there gets an edge. Where brute force cannot follow all
// ways, one edge that says nothing stands for them.
func (b *brute) quiet(s bruteState, ips []uint64, visits int) {
	e := &b.evs[s.ev]
	q := bruteQuiet{b: b, e: e, ips: len(ips)}
	if e.Flags&event.FlagCount == 0 {
		q.unknown = true
	} else {
		q.walk(s, ips, visits, int(e.Value))
	}
	if !q.unknown {
		for _, x := range q.ways {
			x.to.ip = e.IP
			b.use(x.to, x.ips, x.visits)
		}
		return
	}
	hides := maxBruteQuiet
	if e.Flags&event.FlagCount != 0 {
		hides = int(min(e.Value, maxBruteQuiet))
	}
	s.ip = e.IP
	n := len(b.edges)
	b.use(s, ips, visits)
	for i := range b.edges[n:] {
		b.edges[n+i].wild = hides
	}
}

// bruteQuiet is the ways under a Q element.
type bruteQuiet struct {
	b       *brute
	e       *event.Event
	ips     int
	ways    []bruteEdge
	steps   int
	unknown bool // there is one that cannot be followed
}

// walk follows the ways of left instructions from s.
func (q *bruteQuiet) walk(s bruteState, ips []uint64, visits, left int) {
	if q.steps++; q.steps > maxBruteQuiet {
		q.unknown = true
	}
	if q.unknown {
		return
	}
	if left == 0 {
		if s.ip == q.e.IP {
			q.ways = append(q.ways, bruteEdge{to: s, ips: slices.Clone(ips), visits: visits})
		}
		return
	}
	b := q.b
	vs, contested := b.text.versions(b.dec, s.ip, s.mode, &s.seen, q.e.Time.Hi)
	if contested {
		visits++
	}
	if have, _ := b.text.text.Fetch(make([]byte, 1), s.ip, 0); have == 0 {
		q.unknown = true
	}
	for i := range vs {
		t, in := s, &vs[i].in
		t.seen = vs[i].seen
		next := t.ip + uint64(in.Len)
		on := append(slices.Clip(ips), vs[i].id)
		goOn := func(ip uint64, m isa.Mode) {
			u := t
			u.ip, u.mode = ip, m
			q.walk(u, on, visits, left-1)
		}
		switch in.Class {
		case isa.Cond, isa.Jump, isa.Call:
			goOn(in.Target, b.leadsTo(in, t.mode))
			if b.mayFail(in, t.mode) {
				goOn(next, t.mode)
			}
		case isa.Other, isa.SetSpace, isa.TraceControl, isa.Barrier, isa.Wait:
			goOn(next, t.mode)
		default:
			if left > 1 {
				q.unknown = true
				return
			}
			goOn(q.e.IP, t.mode)
		}
	}
}

// TestBruteFinds would catch a rule of PTM's or ETMv3's that brute force has
// wrong where nothing is ambiguous. Nobody asks brute force there. In every
// segment its flows must include what was executed.
func TestBruteFinds(t *testing.T) {
	first, n := seeds(t, 2, 16)
	var asked atomic.Int64 // segments
	eachSeed(first, n, func(_ int, seed uint64) {
		r := sim.SimulateA32(wholeA32(seed))
		s := etmSession(t, r, r.Start)
		for cpu := range r.CPUs {
			st := etmStream(r, s, cpu)
			text := newBruteText(st.text)
			for i := range st.offs {
				b := &brute{dec: st.dec, mode: st.mode, text: text, rules: st.rules, breaks: st.breaks}
				g := b.graph(st.events(i))
				if !g.whole {
					continue
				}
				asked.Add(1)
				if !g.ran(r, st, text, cpu, i) {
					t.Errorf("seed %d cpu %d segment %d (%v): what was executed is not among the flows that brute force finds", seed, cpu, i, r.Config.Timing)
				}
			}
		}
	})
	if asked.Load() < int64(n) {
		t.Errorf("asked in %d segments of %d runs: so few test nothing", asked.Load(), n)
	}
}

// TestBruteHoldsA32 would catch flows over PTM or ETMv3 that brute force
// follows no more. It would also catch flows that the decoder follows without
// need. Those go past a UDF that passed its condition (2), over waypoints to
// where a waypoint update ends (63), or past a BKPT (83). In these runs all
// that the decoder leaves ambiguous is so.
func TestBruteHoldsA32(t *testing.T) {
	runs := []struct {
		seed uint64
		none bool // nothing is ambiguous
	}{
		{15, false}, {63, false}, {24, false}, {35, false}, {36, false}, {2, true}, {20, false}, {83, true},
	}
	if !testsize.Full(t) {
		runs = runs[:2]
	}
	for _, x := range runs {
		seed := x.seed
		var s scores
		s.scoreETM(t, sim.SimulateA32(drawnA32(seed)))
		var all bruteTally
		for i := range s.brute {
			all.add(&s.brute[i])
		}
		if x.none != (all.windows == 0) || all.confirmed < all.windows {
			t.Errorf("seed %d: %v", seed, &all)
		}
		for _, m := range append(s.trouble, all.trouble...) {
			t.Error(m)
		}
	}
}
