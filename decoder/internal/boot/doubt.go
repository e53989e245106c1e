package boot

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

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

// site is a group that depends on what nothing settled, as it ran.
type site struct {
	addr, last uint64
	choices    []buildtime.Choice // that are not settled, and make a difference here
}

// dependsOn reports whether x has a setting of one of the site's choices.
func (s *site) dependsOn(x variant) bool {
	return slices.ContainsFunc(x, func(y setting) bool { return slices.Contains(s.choices, y.c) })
}

// doubts is the code that depends on what nothing settled.
type doubts struct {
	sites  []site        // by address
	bytes  []image.Range // of all sites, and of the code behind them up to where their versions meet, by address
	parts  flow.Pieces
	rooms  sync.Pool // of *[]flow.Range: where a doubter cuts ranges
	kept   keptPatches
	asides asides

	abreasts abreasts
	lists    *Lists       // nil: there are no sites
	sparse   bool         // who tells what is in doubt mostly needs the flow near sites
	asked    atomic.Int32 // segments of which it was told
	whole    atomic.Int32 // of these, those of which that took the whole flow
}

// tellDoubts lists the code that depends on what nothing settled: the instructions of a
// site, and those behind it up to where its other versions lead too.
func (b *Kernel) tellDoubts(dec isa.Decoder) {
	d := &b.doubts
	d.lists = new(Lists)
	for _, g := range b.kernel.Groups() {
		x := site{addr: g.Addr + b.shift, last: g.Last() + b.shift}
		var way []image.Range
		most := 0
		for _, c := range g.Choices {
			if b.settled[c] != "" || !b.matters(g, c) {
				continue
			}
			if len(x.choices) == 0 {
				way = b.way(dec, x.addr)
			}
			x.choices = append(x.choices, c)
			for _, v := range b.open(c) {
				list := []*buildtime.Group{g}
				b.apply(list, b.state.With(c, v))
				most = max(most, untilMeeting(way, b.way(dec, x.addr)))
				b.apply(list, b.state)
			}
		}
		if len(x.choices) == 0 {
			continue
		}
		d.bytes = append(d.bytes, image.Range{Addr: x.addr, Len: x.last - x.addr + 1})
		d.bytes = append(d.bytes, way[:most]...)
		d.sites = append(d.sites, x)
	}
	d.bytes = joined(d.bytes)
}

// joined returns the ranges of list, by address, those that overlap or touch as one. list is no more.
func joined(list []image.Range) []image.Range {
	slices.SortFunc(list, func(x, y image.Range) int { return cmp.Compare(x.Addr, y.Addr) })
	all := list[:0]
	for _, r := range list {
		if k := len(all) - 1; k >= 0 && r.Addr <= all[k].Last()+1 {
			all[k].Len = max(all[k].Len, r.Last()-all[k].Addr+1)
			continue
		}
		all = append(all, r)
	}
	return all
}

// way returns the instructions from the address at on, as executed, up to and with the first
// that the trace tells of.
func (b *Kernel) way(dec isa.Decoder, at uint64) (list []image.Range) {
	var in isa.Insn
	for range farthest {
		if !b.holds(at, 1) || dec.Decode(&in, b.code[at-b.text:], at, b.mode) != isa.OK {
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

// plain reports whether no instruction of a way changes the address space: the trace may
// tell of that.
func (b *Kernel) plain(dec isa.Decoder, way []image.Range) bool {
	var in isa.Insn
	return !slices.ContainsFunc(way, func(r image.Range) bool {
		return dec.Decode(&in, b.code[r.Addr-b.text:], r.Addr, b.mode) == isa.OK && in.Class == isa.SetSpace
	})
}

// untilMeeting returns how much of a lies before the first instruction that b has too; all of
// it if there is none. The first of both is the site itself.
func untilMeeting(a, b []image.Range) int {
	for i := 1; i < len(a); i++ {
		if slices.ContainsFunc(b[min(1, len(b)):], func(r image.Range) bool { return r.Addr == a[i].Addr }) {
			return i
		}
	}
	return len(a)
}

// at returns the site that has a byte of [addr, end); nil if none does.
func (d *doubts) at(addr, end uint64) *site {
	if s := d.sites; len(s) == 0 || end <= s[0].addr || addr > s[len(s)-1].last {
		return nil
	}
	i, _ := slices.BinarySearchFunc(d.sites, addr, func(x site, a uint64) int {
		if x.last < a {
			return -1
		}
		return 1
	})
	if i == len(d.sites) || d.sites[i].addr >= end {
		return nil
	}
	return &d.sites[i]
}

// doubter makes ambiguous what may not have been executed, as it depends on what nothing
// settled (flow.Sink). It is given the flow of one segment. At the first site that the flow
// comes to, it asks what other versions lead to.
type doubter struct {
	d     *doubts
	to    flow.Sink
	find  func() ([]stretch, error) // what of the segment is in doubt
	at    int                       // instructions of the segment before the next one
	asked bool                      // list is known
	list  []stretch                 // of instructions in doubt, in order; those before the next instruction are gone
	is    []bool                    // of a range: which instructions are doubtful
}

// Doubts returns a sink that makes ambiguous what depends on what nothing settled, and hands
// it on to another. It is given the flow of one segment, which again decodes once more.
func (b *Kernel) Doubts(to flow.Sink, again Again) flow.Sink {
	if len(b.doubts.sites) == 0 {
		return to
	}
	return b.doubts.doubting(to, again, b.inDoubt)
}

// walk follows the flow through r. It says in k.is which instructions are doubtful, and
// reports whether any is.
func (k *doubter) walk(r *flow.Range) (any bool, err error) {
	from := k.at
	k.at += int(r.N)
	if !k.asked {
		if k.d.at(r.Block.Addr, r.End()) == nil {
			return false, nil
		}
		k.asked = true
		if k.list, err = k.find(); err != nil {
			return false, err
		}
	}
	for len(k.list) > 0 && k.list[0].end <= from {
		k.list = k.list[1:]
	}
	if len(k.list) == 0 || k.list[0].from >= k.at {
		return false, nil
	}
	k.is = slices.Grow(k.is[:0], int(r.N))[:r.N]
	clear(k.is)
	for _, x := range k.list {
		for i := max(x.from, from); i < min(x.end, k.at); i++ {
			k.is[i-from] = true
		}
		if x.end >= k.at {
			break
		}
	}
	return true, nil
}

// passes reports whether nothing of x is in doubt, and follows the flow through it then.
func (k *doubter) passes(x *flow.Batch) bool {
	n := 0
	for i := range x.Ranges {
		r := &x.Ranges[i]
		if n += int(r.N); !k.asked && k.d.at(r.Block.Addr, r.Block.End) != nil {
			return false
		}
	}
	if k.asked {
		for len(k.list) > 0 && k.list[0].end <= k.at {
			k.list = k.list[1:]
		}
		if len(k.list) > 0 && k.list[0].from < k.at+n {
			return false
		}
	}
	k.at += n
	return true
}

// room returns memory for ranges, as much as b has at least. It goes back to the pool with what b leaves.
func (d *doubts) room(b *flow.Batch) *[]flow.Range {
	x, ok := d.rooms.Get().(*[]flow.Range)
	if !ok {
		x = new([]flow.Range)
	}
	*x = slices.Grow((*x)[:0], len(b.Ranges)+16)
	return x
}

// Flow takes a batch.
func (k *doubter) Flow(x *flow.Batch) error {
	if k.passes(x) {
		return k.to.Flow(x)
	}
	var room *[]flow.Range
	var out []flow.Range // nil: as they are
	note := 0
	for i := range x.Ranges {
		r := x.Ranges[i]
		for ; note < len(x.Notes) && x.Notes[note].At <= i; note++ {
			if out != nil {
				x.Notes[note].At = len(out)
			}
		}
		doubtful, err := k.walk(&r)
		if err != nil {
			return err
		}
		if doubtful && !slices.Contains(k.is, false) {
			r.Verdict = flow.Ambiguous
			x.Ranges[i].Verdict = flow.Ambiguous
			doubtful = false
		}
		if doubtful && out == nil {
			room = k.d.room(x)
			out = append(*room, x.Ranges[:i]...)
		}
		switch {
		case out == nil:
		case !doubtful:
			out = append(out, r)
		default:
			for _, p := range k.d.parts.Of(&r, k.is) {
				y := r
				y.Block, y.N = p.Block, p.Block.N
				if p.Is {
					y.Verdict = flow.Ambiguous
				}
				out = append(out, y)
			}
		}
	}
	if out != nil {
		for ; note < len(x.Notes); note++ {
			x.Notes[note].At = len(out)
		}
		*room, x.Ranges = x.Ranges, out
		k.d.rooms.Put(room)
	}
	return k.to.Flow(x)
}

// exclusion says that a boot which has a choice at a value has none of some features.
type exclusion struct {
	setting
	none []uint64 // features
	why  string
}

// exclusions is what kernels rule out, by the mode of their code. Of x86
// (arch/x86/kernel/cpu/bugs.c, spectre_v2_select_mitigation of v6.1 and its_select_mitigation
// of v6.1.140):
//
//   - Boot has the return stack filled at a switch of tasks wherever it mitigates Spectre
//     v2, by whatever means: without that there are neither retpolines nor IBRS.
//   - Retpolines and IBRS at the kernel's entry are ways of one choice.
//   - The mitigation of ITS does not go with fences in place of retpolines.
var exclusions = map[isa.Mode][]exclusion{
	isa.Mode64: {
		{setting{feature(featRSBSwitch), buildtime.Absent}, []uint64{featRetpoline, featFence, featIBRS}, "Spectre v2 is not mitigated: the return stack is not filled"},
		{setting{feature(featRetpoline), buildtime.Present}, []uint64{featIBRS}, "there are retpolines"},
		{setting{buildtime.ReturnThunk, buildtime.ThunkLowHalf}, []uint64{featFence}, "ITS is mitigated"},
	},
}

// feature returns the choice whether a CPU has feature f.
func feature(f uint64) buildtime.Choice {
	return buildtime.Choice{Kind: buildtime.Feature, ID: f}
}

// conclude settles what follows from what is known, by exclusions.
func (b *Kernel) conclude() {
	for _, x := range exclusions[b.mode] {
		if b.settled[x.c] == "" || b.state.Get(x.c) != x.v {
			continue
		}
		for _, f := range x.none {
			c := feature(f)
			b.state = b.state.With(c, buildtime.Absent)
			b.settled[c] = x.why
			b.apply(b.kernel.Of(c), b.state)
		}
	}
}

// allowed reports whether a boot may have the values of x beside those that are settled: whether
// no exclusion rules them out.
func (b *Kernel) allowed(x variant) bool {
	is := func(c buildtime.Choice, v int) bool {
		if i := slices.IndexFunc(x, func(s setting) bool { return s.c == c }); i >= 0 {
			return x[i].v == v
		}
		return b.settled[c] != "" && b.state.Get(c) == v
	}
	return !slices.ContainsFunc(exclusions[b.mode], func(e exclusion) bool {
		return is(e.c, e.v) && slices.ContainsFunc(e.none, func(f uint64) bool { return is(feature(f), buildtime.Present) })
	})
}

// matters reports whether a flow could tell one value of c from another by g's code.
func (b *Kernel) matters(g *buildtime.Group, c buildtime.Choice) bool {
	if b.overlaps(g) {
		return false
	}
	return slices.ContainsFunc(b.open(c), func(v int) bool { return !g.Alike(b.state, b.state.With(c, v)) })
}

// open returns the values that c may have besides the one that it is taken to have.
func (b *Kernel) open(c buildtime.Choice) (list []int) {
	for _, v := range b.kernel.Values(c) {
		if v != b.state.Get(c) && !slices.Contains(b.refuted[c], v) {
			list = append(list, v)
		}
	}
	return list
}
