package boot

import (
	"cmp"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// farthest is how many instructions the ways of two versions of a site are followed until
// they meet again.
const farthest = 64

// jumpsInside is how far a jump leads at most that stays in its function, bytes: what lies
// further is code of others, too.
const jumpsInside = 1 << 10

// tellDoubts lists the code that depends on what nothing settled: the instructions of a
// site, and those behind it up to where its other versions lead too.
func (b *Kernel) tellDoubts(dec isa.Decoder) {
	for _, g := range b.kernel.Groups() {
		for _, c := range g.Choices {
			if b.settled[c] != "" || !b.matters(g, c) {
				continue
			}
			b.doubts = append(b.doubts, image.Range{Addr: g.Addr + b.shift, Len: uint64(len(g.Built))})
			way := b.way(dec, g)
			for _, v := range b.kernel.Values(c) {
				if v == b.state.Get(c) {
					continue
				}
				list := []*buildtime.Group{g}
				b.apply(list, b.state.With(c, v))
				b.doubts = append(b.doubts, untilMeeting(way, b.way(dec, g))...)
				b.apply(list, b.state)
			}
		}
	}
	slices.SortFunc(b.doubts, func(x, y image.Range) int { return cmp.Compare(x.Addr, y.Addr) })
	joined := b.doubts[:0]
	for _, r := range b.doubts {
		if k := len(joined) - 1; k >= 0 && r.Addr <= joined[k].Last()+1 {
			joined[k].Len = max(joined[k].Len, r.Last()-joined[k].Addr+1)
			continue
		}
		joined = append(joined, r)
	}
	b.doubts = joined
}

// way returns the instructions from g on, as executed, up to and with the first that the
// trace tells of.
func (b *Kernel) way(dec isa.Decoder, g *buildtime.Group) (list []image.Range) {
	var in isa.Insn
	at := g.Addr + b.shift
	for range farthest {
		if !b.holds(at, 1) || dec.Decode(&in, b.code[at-b.text:], at, isa.Mode64) != isa.OK {
			break
		}
		list = append(list, image.Range{Addr: at, Len: uint64(in.Len)})
		switch in.Class {
		case isa.Jump:
			if d := in.Target - at; d > jumpsInside && -d > jumpsInside {
				return list
			}
			at = in.Target
		case isa.Other, isa.SetSpace, isa.TraceControl:
			at += uint64(in.Len)
		default:
			return list
		}
	}
	return list
}

// untilMeeting returns what of a lies before the first instruction that b has too; all of
// it if there is none. The first of both is the site itself.
func untilMeeting(a, b []image.Range) []image.Range {
	for i := 1; i < len(a); i++ {
		if slices.ContainsFunc(b[min(1, len(b)):], func(r image.Range) bool { return r.Addr == a[i].Addr }) {
			return a[:i]
		}
	}
	return a
}

// doubtful reports whether code in [addr, end) depends on what nothing settled.
func (b *Kernel) doubtful(addr, end uint64) bool {
	i, _ := slices.BinarySearchFunc(b.doubts, addr, func(r image.Range, a uint64) int {
		if r.Last() < a {
			return -1
		}
		return 1
	})
	return i < len(b.doubts) && b.doubts[i].Addr < end
}

// parts keeps parts of blocks, some of which are doubtful. Many workers use it.
type parts struct {
	mu   sync.Mutex
	kept map[doubtKey][]doubtPart
}

type doubtKey struct {
	b *flow.Block
	n uint16
}

// doubtPart is instructions of a block that are all doubtful, or none.
type doubtPart struct {
	b        *flow.Block
	doubtful bool
}

// of returns the parts of the first n instructions of a block.
func (p *parts) of(b *Kernel, r *flow.Range) []doubtPart {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := doubtKey{r.Block, r.N}
	list, ok := p.kept[k]
	if ok {
		return list
	}
	at, from, was := r.Block.Addr, 0, false
	for i, n := range r.Block.Lens[:r.N] {
		is := b.doubtful(at, at+uint64(n))
		if i > 0 && is != was {
			list = append(list, doubtPart{r.Block.Part(from, i-from), was})
			from = i
		}
		at, was = at+uint64(n), is
	}
	list = append(list, doubtPart{r.Block.Part(from, int(r.N)-from), was})
	if p.kept == nil {
		p.kept = map[doubtKey][]doubtPart{}
	}
	p.kept[k] = list
	return list
}

// Doubt makes what was read from doubtful code ambiguous, and the return that a
// doubtful retpoline led to.
func (b *Kernel) Doubt(x *flow.Batch) {
	if len(b.doubts) == 0 {
		return
	}
	var out []flow.Range // nil: as they are
	note, led := 0, false
	for i := range x.Ranges {
		r := x.Ranges[i]
		doubtful := b.doubtful(r.Block.Addr, r.End())
		if led && !doubtful {
			r.Verdict = flow.Ambiguous
			x.Ranges[i].Verdict = flow.Ambiguous
		}
		led = doubtful && r.Block.Class == isa.Jump && b.kernel.InThunk(r.Block.Addr-b.shift)
		if doubtful && out == nil {
			out = append(make([]flow.Range, 0, len(x.Ranges)+16), x.Ranges[:i]...)
			for note < len(x.Notes) && x.Notes[note].At < i {
				note++
			}
		}
		if out == nil {
			continue
		}
		for ; note < len(x.Notes) && x.Notes[note].At <= i; note++ {
			x.Notes[note].At = len(out)
		}
		if !doubtful {
			out = append(out, r)
			continue
		}
		for _, p := range b.parts.of(b, &r) {
			y := r
			y.Block, y.N = p.b, p.b.N
			if p.doubtful {
				y.Verdict = flow.Ambiguous
			}
			out = append(out, y)
		}
	}
	if out != nil {
		for ; note < len(x.Notes); note++ {
			x.Notes[note].At = len(out)
		}
		x.Ranges = out
	}
}

// conclude settles what follows from what is known (arch/x86/kernel/cpu/bugs.c,
// spectre_v2_select_mitigation of v6.1 and its_select_mitigation of v6.1.140).
//
//   - Boot has the return stack filled at a switch of tasks wherever it mitigates Spectre
//     v2, by whatever means: without that there are neither retpolines nor IBRS.
//   - Retpolines and IBRS at the kernel's entry are ways of one choice.
//   - The mitigation of ITS does not go with fences in place of retpolines.
func (b *Kernel) conclude() {
	is := func(f uint64, v int) bool {
		c := buildtime.Choice{Kind: buildtime.Feature, ID: f}
		return b.settled[c] != "" && b.state.Get(c) == v
	}
	absent := func(f uint64, why string) {
		c := buildtime.Choice{Kind: buildtime.Feature, ID: f}
		b.state = b.state.With(c, buildtime.Absent)
		b.settled[c] = why
		b.apply(b.kernel.Of(c), b.state)
	}
	if is(featRSBSwitch, buildtime.Absent) {
		for _, f := range []uint64{featRetpoline, featFence, featIBRS} {
			absent(f, "Spectre v2 is not mitigated: the return stack is not filled")
		}
	}
	if is(featRetpoline, buildtime.Present) {
		absent(featIBRS, "there are retpolines")
	}
	if b.settled[buildtime.ReturnThunk] != "" && b.state.Get(buildtime.ReturnThunk) == buildtime.ThunkLowHalf {
		absent(featFence, "ITS is mitigated")
	}
}

// matters reports whether a flow could tell one value of c from another by g's code.
func (b *Kernel) matters(g *buildtime.Group, c buildtime.Choice) bool {
	if b.overlaps(g) {
		return false
	}
	return slices.ContainsFunc(b.kernel.Values(c), func(v int) bool { return !g.Alike(b.state, b.state.With(c, v)) })
}
