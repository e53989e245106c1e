package boot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// learner settles what a vmlinux does not tell of its boot. It decodes segments of
// the trace under one value of a choice and another, and looks which one contradicts it.
type learner struct {
	b       *Kernel
	streams []*stream.Stream
	isa     isa.Decoder
	by      Decoder
	parts   []*part
	blocks  map[*flow.Block]*blockFacts // of the trial under way, of code that is not as by b.state
	base    map[*flow.Block]*blockFacts // of code as it is by b.state
	facts   map[factsKey]*blockFacts    // of code as it is by b.state
	differs map[pair]bool               // whether a flow could tell a choice's values by a group's code; likewise
	apart   map[pair]bool               // see leadsApart; likewise
	changed []image.Range               // code of the trial under way that is not as by b.state, by address
	watched variant                     // of the trial under way
	vain    map[buildtime.Choice]string // by choice: the runs of segments for which no change of it was better
	worst   map[buildtime.Choice]int    // 1: when it was tried last, all other values were much worse
	clashes map[setting]clash           // by refuted value: what refuted it
	firm    map[buildtime.Choice]bool   // settled, whatever the others are
	assumed buildtime.State             // at first
}

// part is a segment that is learned from.
type part struct {
	st     *stream.Stream
	seg    event.Segment
	spaces int                       // changes of the address space that the trace tells of
	stated map[buildtime.Choice]bool // those on which code depends that an event stopped in
	last   outcome                   // under the state so far
	stale  bool                      // last is that of an older state
	runs   int                       // times that last was made
}

// outcome is what decoding a segment came to.
type outcome struct {
	bad    int                                     // what speaks against the code: gaps, and what a kernel hardly does
	gaps   int                                     // those where code was at hand
	met    map[buildtime.Choice][]*buildtime.Group // groups that were executed, by what they depend on
	before []buildtime.Choice                      // those met last before gaps, the last first
	steps  []step                                  // how bad came about; not of a trial
	forks  []buildtime.Choice                      // of a trial: see clash
}

// Bounds of what is learned from.
const (
	mostBytes     = 16 << 20 // of trace, all segments together
	trailLength   = 48       // choices that are remembered before a gap
	fewParts      = 16       // segments that are looked at first
	someParts     = 256      // then
	partsOfATrial = 8        // segments that a choice is tried on
	mostOfATrial  = 32       // those of a choice that none of these settles
	mostParts     = 3        // those at first, where one is to be mended
	mostMended    = 24       // those then, and those that are looked at again at once
	mostRounds    = 64
	mostConfirms  = 4 // times that choices are confirmed, each after what that changed
)

// Decoder decodes with the code as it is now (Kernel.Text).
type Decoder interface {
	// Decode decodes a segment. It ends when to returns an error, and returns that.
	Decode(st *stream.Stream, seg event.Segment, to flow.Sink) error
	// Trial says that code is now another than when Settled was called last, in [addr, end) for
	// which changed is true. nil: nowhere.
	Trial(changed func(addr, end uint64) bool)
	// Settled says that the code is as it stays. changed reports whether it is another than
	// it was before, in [addr, end).
	Settled(changed func(addr, end uint64) bool)
}

// Learn settles choices by the trace. It ends with no more doubt than the trace
// leaves.
func (b *Kernel) Learn(streams []*stream.Stream, dec isa.Decoder, by Decoder) {
	l := &learner{b: b, streams: streams, isa: dec, by: by, vain: map[buildtime.Choice]string{}, worst: map[buildtime.Choice]int{}, clashes: map[setting]clash{}, firm: map[buildtime.Choice]bool{}, assumed: b.state}
	l.choose()
	l.settled(nil)
	l.settleAll()
	l.distrust()
	l.joint()
	b.conclude()
	b.guessByCPU(b.model)
	b.isa = dec
	b.tellDoubts(dec)
}

// settleAll mends and confirms choices until nothing changes any more.
func (l *learner) settleAll() {
	all := l.parts
	for _, most := range []int{fewParts, someParts, len(all)} { // most of what is wrong shows in a few
		l.parts = some(all, most)
		for _, p := range l.parts {
			p.stale = p.stale || p.last.met == nil
		}
		l.settleDown()
	}
	for n := 1; l.confirm() && n < mostConfirms; n++ {
		l.forget() // it settled some while others were wrong
		l.settleDown()
	}
}

// settleDown mends until there is nothing to mend.
func (l *learner) settleDown() {
	for n := 0; n < mostRounds && l.refresh(); n++ {
		l.mend()
	}
}

// forget takes back what confirm settled.
func (l *learner) forget() {
	maps.DeleteFunc(l.b.settled, func(_ buildtime.Choice, why string) bool { return byTrace(why) })
	clear(l.b.refuted)
	clear(l.clashes)
	clear(l.firm)
	l.settled(nil)
	for _, p := range l.parts {
		p.stale = true
	}
}

// byTrace reports whether the trace settled a choice.
func byTrace(why string) bool { return strings.HasPrefix(why, "the trace:") }

// given reports whether something else than the trace settled c.
func (b *Kernel) given(c buildtime.Choice) bool { return b.settled[c] != "" && !byTrace(b.settled[c]) }

// settled is done when the code of some groups stays as it is now, or another choice counts
// as settled.
func (l *learner) settled(list []*buildtime.Group) {
	l.facts, l.differs, l.apart = map[factsKey]*blockFacts{}, map[pair]bool{}, map[pair]bool{}
	l.base = map[*flow.Block]*blockFacts{}
	was := l.ranges(list)
	l.by.Settled(func(addr, end uint64) bool { return overlap(was, addr, end) })
}

// Known says what the vmlinux was taken to be: name, and place 0 in it, first.
func (b *Kernel) Known() string {
	var sites, bytes uint64
	for _, t := range b.kernel.Tables {
		sites += uint64(t.Sites)
	}
	for _, r := range b.doubts.bytes {
		bytes += r.Len
	}
	return fmt.Sprintf("%s+0x0: vmlinux: moved by %#x, %s; %s %s as boot made them; %d of %s of boot are settled, %s of code in %s depend on the others and are ambiguous",
		b.path, b.shift, b.moved, plural.Count(sites, "site"), plural.Word(sites, "is", "are"), len(b.settled), plural.Count(len(b.kernel.Choices()), "choice"),
		plural.Count(bytes, "byte"), plural.Count(len(b.doubts.bytes), "place"))
}

// choose picks the segments to learn from, spread over all streams.
func (l *learner) choose() {
	var all []*part
	var total int64
	for _, st := range l.streams {
		if !st.Executes() {
			continue
		}
		for g := range st.Segments() {
			all = append(all, &part{st: st, seg: g, stated: map[buildtime.Choice]bool{}})
			total += g.End - g.Off
		}
	}
	step := max(1, int((total+mostBytes-1)/mostBytes))
	for i := 0; i < len(all); i += step {
		l.listen(all[i])
		l.parts = append(l.parts, all[i])
	}
}

// listen takes what the events of a segment say without any code.
func (l *learner) listen(p *part) {
	d := p.st.Decoder(false)
	g := p.seg
	g.Buf = p.st.Data.Bytes(g.Off, p.st.Length(&g))
	d.Reset(g)
	for e := (event.Event{}); d.Next(&e); {
		if e.Kind == event.Context && e.Detail == event.DetailCR3 && e.Flags&event.FlagRestated == 0 {
			p.spaces++
		}
		if !e.HasIP() || e.Kind == event.Target || e.Kind == event.Enable {
			continue
		}
		at := e.IP - l.b.shift
		for _, x := range l.b.kernel.Within(nil, at, at+1) {
			for _, c := range x.Choices {
				p.stated[c] = true
			}
		}
	}
}

// mend changes choices until no change makes fewer gaps: those that were met just before
// gaps, the likeliest first.
func (l *learner) mend() {
	for range mostRounds {
		weight := map[buildtime.Choice]int{}
		for _, p := range l.parts {
			for i, c := range p.last.before {
				if i < trailLength {
					weight[c] += trailLength - i
				}
			}
		}
		var order []buildtime.Choice
		for c := range weight {
			order = append(order, c)
		}
		slices.SortFunc(order, func(a, b buildtime.Choice) int {
			return cmp.Or(cmp.Compare(l.worst[a], l.worst[b]), cmp.Compare(weight[b], weight[a]), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
		})
		if !slices.ContainsFunc(order, l.better) {
			return
		}
	}
}

// better changes c if that makes fewer gaps, and reports whether it did.
func (l *learner) better(c buildtime.Choice) bool {
	var parts []*part
	for _, p := range l.parts {
		if len(parts) < mostParts && slices.Contains(p.last.before, c) {
			if l.current(p); slices.Contains(p.last.before, c) {
				parts = append(parts, p)
			}
		}
	}
	runs := ""
	for _, p := range parts {
		runs += fmt.Sprintf("%s %d %d;", p.st.Name, p.seg.Off, p.runs)
	}
	if l.vain[c] == runs {
		return false // it was tried
	}
	l.vain[c] = runs
	best, most, worst := 0, badEnough-1, 1
	for _, v := range l.b.kernel.Values(c) {
		if v == l.b.state.Get(c) {
			continue
		}
		n := l.tried(c, v, parts)
		if n > most {
			best, most = v, n
		}
		if n > -2*badGap {
			worst = 0
		}
	}
	if l.worst[c] = worst; most < badEnough {
		return false
	}
	if all := some(l.met(c, true), mostMended); len(all) > len(parts) && l.tried(c, best, all) < badEnough {
		return false // it moves what is wrong to other segments
	}
	l.accept(c, best)
	return true
}

// some returns about n parts of a list, spread over it.
func some(list []*part, n int) (parts []*part) {
	step := max(1, (len(list)+n-1)/max(1, n))
	for i := 0; i < len(list); i += step {
		parts = append(parts, list[i])
	}
	return parts
}

// accept gives c the value v. It decodes anew where code depends on c, at once some of those where there is
// something to mend.
func (l *learner) accept(c buildtime.Choice, v int) {
	l.b.state = l.b.state.With(c, v)
	met := l.met(c, false)
	l.b.apply(l.b.kernel.Of(c), l.b.state)
	l.settled(l.b.kernel.Of(c))
	n := 0
	for _, p := range met {
		if p.stale = true; len(p.last.before) > 0 && n < mostMended {
			l.current(p)
			n++
		}
	}
}

// refresh decodes anew what is stale, and reports whether anything was.
func (l *learner) refresh() (any bool) {
	for _, p := range l.parts {
		any = any || p.stale
		l.current(p)
	}
	return any
}

// confirm tries the other values of each choice that was met: it is settled if each of
// them contradicts the trace. It reports whether it changed any.
func (l *learner) confirm() (changed bool) {
	for _, c := range l.b.kernel.Choices() {
		if l.b.settled[c] != "" {
			continue
		}
		if parts := l.cover(c); len(parts) > 0 && (parts[0].stated[c] || l.visible(c)) {
			changed = l.confirmOne(c, parts) || changed
		}
	}
	return changed
}

// confirmOne is confirm for one choice. A value that is better after all is taken.
func (l *learner) confirmOne(c buildtime.Choice, parts []*part) (changed bool) {
	was, worse := l.b.state.Get(c), 1<<30
	for _, v := range l.b.open(c) {
		sum, n, x := 0, 0, clash{}
		l.trial(variant{{c, v}}, parts, badGap-1, func(p *part, y outcome) bool {
			d := p.last.bad - y.bad
			sum += d
			if d <= -badEnough {
				x.in(p, y.forks, l.firm)
			}
			n++
			return sum < 2*badGap && (sum > -badGap || x.p != nil && len(x.forks) > 0 && n < partsOfATrial)
		})
		l.clashes[setting{c, v}] = x
		if sum > -badEnough && (sum >= badEnough || v == l.assumed.Get(c)) {
			sum = l.tried(c, v, l.met(c, false)) // a few segments do not change what others tell
		}
		if sum >= badEnough {
			l.accept(c, v)
			if len(l.b.kernel.Values(c)) == 2 {
				l.b.settled[c] = fmt.Sprintf("the trace: otherwise %d more points against it", sum)
			}
			return true
		}
		if sum > -badEnough {
			if worse = 0; v == l.assumed.Get(c) { // nothing speaks for the change any more
				l.accept(c, v)
				changed = true
			}
		} else {
			l.b.refuted[c] = append(l.b.refuted[c], v)
		}
		worse = min(worse, -sum)
	}
	if worse > 0 && l.b.state.Get(c) == was {
		l.b.settled[c] = fmt.Sprintf("the trace: otherwise %d more points against it", worse)
		l.firm[c] = l.alone(c)
	}
	return changed
}
