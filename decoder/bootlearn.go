package decoder

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// bootLearner settles what a vmlinux does not tell of its boot: it decodes segments of
// the trace under one value of a choice and another, and looks which one contradicts it.
type bootLearner struct {
	s     *Session
	b     *booted
	parts []*bootPart
	// of code that was read already: which groups it has bytes of
	groups map[*flow.Block][]*buildtime.Group
	trials int
}

// bootPart is a segment that is learned from.
type bootPart struct {
	st   *stream.Stream
	seg  event.Segment
	last bootFlow // under the state so far
}

// bootFlow is what decoding a segment came to.
type bootFlow struct {
	gaps   int // where trace and code do not fit together
	insns  int
	met    map[buildtime.Choice]bool // choices on which executed code depends
	before []buildtime.Choice        // those met last before gaps, the last first
}

// Bounds of what is learned from.
const (
	mostBootParts  = 256     // segments
	mostBootBytes  = 1 << 20 // of trace, all segments together
	trailLength    = 48      // choices that are remembered before a gap
	partsOfATrial  = 3       // segments that a choice is tried on
	mostBootRounds = 64
)

// learnBoot settles choices by the trace. It ends with no more doubt than the trace
// leaves: code of choices that nothing settled is told of in b.doubts.
func (s *Session) learnBoot(b *booted) {
	l := &bootLearner{s: s, b: b}
	l.choose()
	for _, p := range l.parts {
		p.last = l.decode(p, true)
	}
	l.mend()
	l.confirm()
	b.follow()
	b.tellDoubts()
}

// choose picks the segments to learn from, spread over all streams.
func (l *bootLearner) choose() {
	var all []*bootPart
	var total int64
	for _, st := range l.s.streams {
		if !st.Executes() {
			continue
		}
		for g := range st.Segments() {
			all = append(all, &bootPart{st: st, seg: g})
			total += g.End - g.Off
		}
	}
	step := max(1, (len(all)+mostBootParts-1)/mostBootParts, int((total+mostBootBytes-1)/mostBootBytes))
	for i := 0; i < len(all); i += step {
		l.parts = append(l.parts, all[i])
	}
}

// decode decodes a segment with the code as it is now. Where it is to be told, it notes
// which choices were met.
func (l *bootLearner) decode(p *bootPart, tell bool) bootFlow {
	t := l.s.again()
	l.groups = map[*flow.Block][]*buildtime.Group{}
	f := newFollower(t, p.st)
	flow.UsePaths(f.walker, new(flow.Paths))
	sink := &bootSink{l: l}
	if tell {
		sink.met = map[buildtime.Choice]bool{}
	}
	if err := f.segment(&job{stream: p.st, segs: []event.Segment{p.seg}}, 0, sink); err != nil {
		return bootFlow{gaps: 1 << 30}
	}
	l.trials++
	return sink.bootFlow
}

// again returns a session of the same recording whose caches are empty.
func (s *Session) again() *Session {
	t := &Session{cfg: s.cfg, rec: s.rec, streams: s.streams, journal: s.journal, text: s.text, symbols: s.symbols, kernel: s.kernel, complete: s.complete, files: s.files}
	t.finish()
	return t
}

// bootSink counts what a segment comes to.
type bootSink struct {
	l *bootLearner
	bootFlow
	trail []buildtime.Choice
}

// Flow takes a batch (flow.Sink).
func (k *bootSink) Flow(b *flow.Batch) error {
	at := 0
	for i := range b.Notes {
		n := &b.Notes[i]
		for ; at < n.At; at++ {
			k.take(&b.Ranges[at])
		}
		if n.Kind == flow.NoteGap && contradictory(n.Gap.Reason) {
			k.gaps++
			for i := len(k.trail) - 1; i >= 0; i-- {
				if !slices.Contains(k.before, k.trail[i]) {
					k.before = append(k.before, k.trail[i])
				}
			}
			k.trail = k.trail[:0]
		}
	}
	for ; at < len(b.Ranges); at++ {
		k.take(&b.Ranges[at])
	}
	return nil
}

// contradictory reports whether a gap's reason says that trace and code do not fit.
func contradictory(r event.Reason) bool {
	switch r {
	case event.Mismatch, event.BadInsn, event.NoText, event.NoCall, event.Loop, event.Reserved:
		return true
	}
	return false
}

// take counts a range.
func (k *bootSink) take(r *flow.Range) {
	k.insns += int(r.N)
	if k.met == nil {
		return
	}
	list, seen := k.l.groups[r.Block]
	if !seen {
		list = k.l.b.kernel.Within(nil, r.Block.Addr-k.l.b.shift, r.Block.End-k.l.b.shift)
		list = slices.DeleteFunc(list, func(g *buildtime.Group) bool { return len(g.Choices) == 0 })
		k.l.groups[r.Block] = list
	}
	for _, g := range list {
		for _, c := range g.Choices {
			if k.l.b.settled[c] != "" || !k.l.b.matters(g, c) {
				continue
			}
			k.met[c] = true
			if n := len(k.trail); n == 0 || k.trail[n-1] != c {
				k.trail = append(k.trail, c)
			}
		}
	}
	if n := len(k.trail); n > 4*trailLength {
		k.trail = slices.Delete(k.trail, 0, n-trailLength)
	}
}

// try returns by how much fewer gaps some segments have where c has the value v; the
// instructions tell where the gaps do not.
func (l *bootLearner) try(c buildtime.Choice, v int, parts []*bootPart) (gaps, insns int) {
	list := l.b.kernel.Of(c)
	l.b.apply(list, l.b.state.With(c, v))
	for _, p := range parts {
		f := l.decode(p, false)
		gaps += p.last.gaps - f.gaps
		insns += f.insns - p.last.insns
	}
	l.b.apply(list, l.b.state)
	return gaps, insns
}

// mend changes choices until no change makes fewer gaps: those that were met just before
// gaps, the likeliest first.
func (l *bootLearner) mend() {
	for range mostBootRounds {
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
			return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
		})
		if !slices.ContainsFunc(order, l.better) {
			return
		}
	}
}

// better changes c if that makes fewer gaps, and reports whether it did.
func (l *bootLearner) better(c buildtime.Choice) bool {
	var parts []*bootPart
	for _, p := range l.parts {
		if len(parts) < partsOfATrial && slices.Contains(p.last.before, c) {
			parts = append(parts, p)
		}
	}
	best, most := 0, 0
	for _, v := range l.b.kernel.Values(c) {
		if v == l.b.state.Get(c) {
			continue
		}
		if gaps, _ := l.try(c, v, parts); gaps > most {
			best, most = v, gaps
		}
	}
	if most == 0 {
		return false
	}
	l.b.state = l.b.state.With(c, best)
	l.b.apply(l.b.kernel.Of(c), l.b.state)
	for _, p := range l.parts {
		if p.last.met[c] {
			p.last = l.decode(p, true)
		}
	}
	return true
}

// confirm tries the other values of each choice that was met: it is settled if each of
// them contradicts the trace.
func (l *bootLearner) confirm() {
	met := map[buildtime.Choice][]*bootPart{}
	for _, p := range l.parts {
		for c := range p.last.met {
			met[c] = append(met[c], p)
		}
	}
	for _, c := range l.b.kernel.Choices() {
		if parts := met[c]; len(parts) > 0 && l.b.settled[c] == "" {
			slices.SortStableFunc(parts, func(a, b *bootPart) int { return cmp.Compare(a.last.gaps, b.last.gaps) })
			l.confirmOne(c, parts[:min(len(parts), partsOfATrial)])
		}
	}
}

// confirmOne is confirm for one choice.
func (l *bootLearner) confirmOne(c buildtime.Choice, parts []*bootPart) {
	worse := 0
	for _, v := range l.b.kernel.Values(c) {
		if v == l.b.state.Get(c) {
			continue
		}
		found := false
		for _, p := range parts {
			if gaps, _ := l.try(c, v, []*bootPart{p}); gaps < 0 {
				worse -= gaps
				found = true
				break
			}
		}
		if !found {
			return
		}
	}
	l.b.settled[c] = fmt.Sprintf("the trace: otherwise %d more gaps", worse)
}

// follow settles what follows from what is known. Boot fills the return stack at a
// switch of tasks wherever it mitigates Spectre v2, by whatever means: without that,
// there are neither retpolines nor IBRS (arch/x86/kernel/cpu/bugs.c,
// spectre_v2_select_mitigation, v6.1).
func (b *booted) follow() {
	rsb := buildtime.Choice{Kind: buildtime.Feature, ID: featRSBSwitch}
	if b.settled[rsb] == "" || b.state.Get(rsb) != buildtime.Absent {
		return
	}
	for _, f := range []uint64{featRetpoline, featFence, featIBRS} {
		c := buildtime.Choice{Kind: buildtime.Feature, ID: f}
		b.state = b.state.With(c, buildtime.Absent)
		b.settled[c] = "Spectre v2 is not mitigated: the return stack is not filled"
		b.apply(b.kernel.Of(c), b.state)
	}
}

// tellDoubts lists the code that depends on what nothing settled.
func (b *booted) tellDoubts() {
	for _, g := range b.kernel.Groups() {
		if b.overlaps(g) {
			continue
		}
		if slices.ContainsFunc(g.Choices, func(c buildtime.Choice) bool { return b.settled[c] == "" && b.matters(g, c) }) {
			b.doubts = append(b.doubts, image.Range{Addr: g.Addr + b.shift, Len: uint64(len(g.Built))})
		}
	}
}

// matters reports whether a flow could tell one value of c from another by g's code.
func (b *booted) matters(g *buildtime.Group, c buildtime.Choice) bool {
	if b.overlaps(g) {
		return false
	}
	return slices.ContainsFunc(b.kernel.Values(c), func(v int) bool { return !g.Alike(b.state, b.state.With(c, v)) })
}
