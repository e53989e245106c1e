package decoder

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/pt"
)

// bruteTally counts what brute force says of the ambiguous windows: maximal
// runs of ambiguous instructions.
type bruteTally struct {
	windows   int
	confirmed int // of those, at least two flows that differ there fit the packets
	settled   int // one flow fits, or all that fit agree there
	large     int // too many flows to say
	strange   int // of the settled, what is shown is not the flow that fits
	insns     int // ambiguous instructions
	doubtful  int // of those, in windows that are confirmed

	trouble []string
	notes   []bruteNote
}

// bruteNote is what was found of one window.
type bruteNote struct {
	seed         uint64
	cpu, segment int
	timing       sim.Timing
	window       bruteWindow
	ip           uint64 // of the first instruction
	verdict      string
}

func (n bruteNote) String() string {
	return fmt.Sprintf("seed %d cpu %d segment %d (%v): %d insns from %#x: %s",
		n.seed, n.cpu, n.segment, n.timing, n.window.to-n.window.from, n.ip, n.verdict)
}

func (c *bruteTally) add(o *bruteTally) {
	c.windows, c.confirmed, c.settled = c.windows+o.windows, c.confirmed+o.confirmed, c.settled+o.settled
	c.large, c.strange = c.large+o.large, c.strange+o.strange
	c.insns, c.doubtful = c.insns+o.insns, c.doubtful+o.doubtful
	c.trouble = append(c.trouble, o.trouble...)
	c.notes = append(c.notes, o.notes...)
}

// bruteWindow is a run of ambiguous instructions of a segment: [from, to).
type bruteWindow struct{ from, to int }

// bruteSegment is what was decoded of one segment.
type bruteSegment struct {
	ips     []uint64 // see bruteText.id
	addrs   []uint64
	offs    []int64 // of the event before each, bytes
	windows []bruteWindow
}

// bruteStream is what brute force is given of one CPU's trace.
type bruteStream struct {
	dec    isa.Decoder
	mode   isa.Mode // until the events state one
	rules  isa.Rules
	breaks []uint64
	text   *kcore.Text
	offs   []int64                    // by segment: where it begins, bytes
	events func(i int) []event.Event  // of segment i
	truth  func(i int) (from, to int) // what of the truth is in segment i
}

// ptStream is stream cpu of s, which r gave.
func ptStream(r *sim.Run, s *Session, cpu int) *bruteStream {
	st := s.streams[cpu]
	b := &bruteStream{dec: x86.Decoder{}, mode: isa.Mode64, rules: st.Unit.(pt.Config).Rules(), breaks: s.walk.Breaks, text: s.Text()}
	segs := slices.Collect(st.Segments())
	for _, seg := range segs {
		b.offs = append(b.offs, seg.Off)
	}
	b.events = func(i int) []event.Event { return segmentEvents(st, segs[i]) }
	b.truth = func(i int) (from, to int) {
		want := r.CPUs[cpu].Insns
		to = len(want)
		if i > 0 {
			from = firstAt(want, segs[i].Time.Lo)
		}
		if i+1 < len(segs) {
			to = firstAt(want, segs[i+1].Time.Lo)
		}
		return from, to
	}
	return b
}

// cutSegments cuts the flow of one stream at its segments, which begin at offs.
func cutSegments(offs []int64, got []step, id func(*step) uint64) []bruteSegment {
	out := make([]bruteSegment, len(offs))
	k := 0
	open := false // the last instruction was ambiguous
	for i := range got {
		x := &got[i]
		for k+1 < len(offs) && x.off >= offs[k+1] {
			k, open = k+1, false
		}
		s := &out[k]
		if x.gap != nil {
			open = false
			continue
		}
		n := len(s.ips)
		s.ips, s.addrs, s.offs = append(s.ips, id(x)), append(s.addrs, x.ip), append(s.offs, x.off)
		if x.v != Ambiguous {
			open = false
			continue
		}
		if !open {
			s.windows = append(s.windows, bruteWindow{n, n})
		}
		open = true
		s.windows[len(s.windows)-1].to = n + 1
	}
	return out
}

// String gives the tally as the table of the truth prints it: of the windows
// that are ambiguous, in how many that is true.
func (c *bruteTally) String() string {
	return fmt.Sprintf("%d ambiguous windows: %d hold, %d settled (%d shown wrong), %d too large: %s %% hold",
		c.windows, c.confirmed, c.settled, c.strange, c.large, share(c.confirmed, c.confirmed+c.settled))
}

// check asks of the ambiguous windows of st, a stream of r, whether they are so.
func (c *bruteTally) check(r *sim.Run, st *bruteStream, cpu int, got []step, rules bruteRules) {
	text := newBruteText(st.text)
	for i, seg := range cutSegments(st.offs, got, func(x *step) uint64 { return text.shown(st.dec, x) }) {
		if len(seg.windows) == 0 {
			continue
		}
		b := &brute{dec: st.dec, mode: st.mode, text: text, rules: st.rules, breaks: st.breaks}
		evs := st.events(i)
		text.rules = rules
		g := b.graph(evs)
		note := bruteNote{seed: r.Config.Seed, cpu: cpu, segment: i, timing: r.Config.Timing}
		if !g.whole {
			for _, w := range seg.windows {
				c.judge(note, &seg, w, "too many states")
			}
			continue
		}
		if !g.ran(r, st, text, cpu, i) {
			c.trouble = append(c.trouble, fmt.Sprintf("seed %d cpu %d segment %d: what was executed is not among the flows that brute force finds", r.Config.Seed, cpu, i))
		}
		path := g.trace(seg.ips, nil, true)
		fits := path != nil
		if !fits {
			text.rules = bruteRules{true, true, true}
			path = b.graph(evs).trace(seg.ips, nil, true)
		}
		for _, w := range seg.windows {
			c.judge(note, &seg, w, g.verdict(path, fits, &seg, w))
		}
	}
}

// ran reports whether what the machine did in segment i of st is among the
// flows of g: a check of brute force itself.
func (g *bruteGraph) ran(r *sim.Run, st *bruteStream, text *bruteText, cpu, i int) bool {
	want := r.CPUs[cpu].Insns
	from, to := st.truth(i)
	ips := make([]uint64, 0, to-from)
	for _, x := range want[from:to] {
		ips = append(ips, text.id(x.IP, r.Codes[x.Code].Fetched()))
	}
	var lost []sim.Lost
	for _, l := range r.CPUs[cpu].Lost {
		if l.To >= from && l.To <= to {
			lost = append(lost, sim.Lost{From: l.From - from, To: l.To - from})
		}
	}
	return g.trace(ips, lost, false) != nil
}

// The verdicts on a window.
const (
	bruteHolds   = "at least two flows fit"
	bruteSettled = "only one flow fits"
	bruteWrong   = "only one flow fits, and it is not what is shown"
	bruteLost    = "what is shown fits no packets"
	bruteHidden  = "a Q element hides part of it"
)

// verdict says of w how many flows fit. path is where seg's instructions lie,
// in g if fits, else in a graph of less evidence.
func (g *bruteGraph) verdict(path []bruteMark, fits bool, seg *bruteSegment, w bruteWindow) string {
	if len(g.nodes) == 0 {
		return bruteLost
	}
	if path == nil {
		// Where it lies is known no better than by the events around.
		a, z := g.nodes[0], g.nodes[len(g.nodes)-1]
		for _, n := range g.nodes {
			if n.state.ev == 0 {
				continue
			}
			if off := g.evs[n.state.ev-1].Off; off < seg.offs[w.from] {
				a = n
			} else if off > seg.offs[w.to-1] && n.pos < z.pos {
				z = n
			}
		}
		path = []bruteMark{{a, w.from, false}, {z, w.to, false}}
	}
	verdict := ""
	for wider := range maxBruteWider {
		a, z := enclose(path, w, fits, wider)
		if a.at > w.from || z.at < w.to {
			return bruteHidden
		}
		flows, visits, ok := g.flows(g.gate(a.node.pos, -1), g.gate(z.node.pos, 1))
		holds := !fits && len(flows) > 1
		for _, f := range flows {
			if !fits || holds {
				break
			}
			differs := apart(seg.ips[a.at:z.at], f)
			holds = slices.Contains(differs[w.from-a.at:w.to-a.at], true)
		}
		switch {
		case holds:
			return bruteHolds
		case !ok || visits > maxBruteVisits:
			if verdict == "" {
				verdict = fmt.Sprintf("%d visits and more", visits)
			}
			return verdict
		case verdict != "": // of the narrowest
		case !fits:
			verdict = bruteWrong
		default:
			verdict = bruteSettled
		}
	}
	return verdict
}

// maxBruteWider is how many more gates on either side are looked beyond.
const maxBruteWider = 8

// enclose returns the marks of a path around w where all flows have used as
// much of the trace, wider further apart than the nearest. What lies just before
// and behind w is between them: an instruction is ambiguous also because
// something else may have run next to it. And of a stretch that two flows run at
// different places, such as rounds of a loop, the next place where both have used
// as much shows only half.
func enclose(path []bruteMark, w bruteWindow, fits bool, wider int) (a, z bruteMark) {
	// Beyond a Q element of which not all is known nothing can be compared.
	for i, m := range path {
		if m.wild && m.at > w.to {
			path = path[:max(i, 1)]
			break
		}
	}
	for i, m := range slices.Backward(path) {
		if m.wild && m.at <= w.from {
			path = path[i:]
			break
		}
	}
	a, z = path[0], path[len(path)-1]
	var before, behind []bruteMark
	for _, m := range path {
		if fits && !m.node.gate {
			continue
		}
		if m.at < w.from {
			before = append(before, m)
		}
		if m.at > w.to {
			behind = append(behind, m)
		}
	}
	if k := len(before) - 1 - wider; k >= 0 {
		a = before[k]
	}
	if wider < len(behind) {
		z = behind[wider]
	}
	return a, z
}

// judge counts window w.
func (c *bruteTally) judge(n bruteNote, seg *bruteSegment, w bruteWindow, verdict string) {
	n.window, n.ip, n.verdict = w, seg.addrs[w.from], verdict
	c.notes = append(c.notes, n)
	c.windows++
	c.insns += w.to - w.from
	switch verdict {
	case bruteHolds:
		c.confirmed++
		c.doubtful += w.to - w.from
	case bruteSettled:
		c.settled++
	case bruteWrong, bruteLost:
		c.settled++
		c.strange++
	default:
		c.large++
	}
}

// maxBruteVisits is the most contested instructions in a window of which it
// must be said whether it is truly ambiguous.
const maxBruteVisits = 16

// TestBruteSettled would catch evidence that is not used: in each of these runs
// the decoder once left some hundred windows ambiguous in which brute force finds
// one flow only.
func TestBruteSettled(t *testing.T) {
	runs := []struct {
		seed uint64
		what string
	}{
		{2341, "text known from another site's trap has a date of its own"},
		{2373, "text known from another site's date is over with its breakpoint"},
		{11293, "text known by the clock is over with its breakpoint"},
		{14077, "two versions that do the same differ in what they say of other sites"},
	}
	if !testsize.Full(t) {
		runs = runs[:1]
	}
	for _, x := range runs {
		var s scores
		s.score(t, sim.Simulate(drawn(x.seed)))
		var all bruteTally
		for i := range s.brute {
			all.add(&s.brute[i])
		}
		if all.settled > 0 || all.confirmed == 0 {
			t.Errorf("seed %d: %v; %s", x.seed, &all, x.what)
		}
		for _, m := range append(s.trouble, all.trouble...) {
			t.Error(m)
		}
	}
}
