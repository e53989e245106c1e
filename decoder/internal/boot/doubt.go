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

// site is a group that depends on what nothing settled, as it ran.
type site struct {
	addr, last uint64
	// way is where the instructions from it on begin, in the order in which they are executed,
	// up to where its other versions lead too.
	way []uint64
}

// step is a place on the way of a site.
type step struct {
	site *site
	i    int // index in way
}

// doubts is the code that depends on what nothing settled.
type doubts struct {
	sites []site            // by address
	steps map[uint64][]step // by address of the instruction
	bytes []image.Range     // of all sites and ways, by address
	parts parts
}

// tellDoubts lists the code that depends on what nothing settled: the instructions of a
// site, and those behind it up to where its other versions lead too.
func (b *Kernel) tellDoubts(dec isa.Decoder) {
	d := &b.doubts
	for _, g := range b.kernel.Groups() {
		x, any := site{addr: g.Addr + b.shift, last: g.Last() + b.shift}, false
		var way []image.Range
		most := 0
		for _, c := range g.Choices {
			if b.settled[c] != "" || !b.matters(g, c) {
				continue
			}
			if !any {
				way, any = b.way(dec, x.addr), true
			}
			for _, v := range b.open(c) {
				list := []*buildtime.Group{g}
				b.apply(list, b.state.With(c, v))
				most = max(most, untilMeeting(way, b.way(dec, x.addr)))
				b.apply(list, b.state)
			}
		}
		if !any {
			continue
		}
		d.bytes = append(d.bytes, image.Range{Addr: x.addr, Len: x.last - x.addr + 1})
		for _, r := range way[:most] {
			x.way = append(x.way, r.Addr)
			d.bytes = append(d.bytes, r)
		}
		d.sites = append(d.sites, x)
	}
	d.steps = map[uint64][]step{}
	for i := range d.sites {
		x := &d.sites[i]
		for k, a := range x.way {
			d.steps[a] = append(d.steps[a], step{x, k})
		}
	}
	slices.SortFunc(d.bytes, func(x, y image.Range) int { return cmp.Compare(x.Addr, y.Addr) })
	joined := d.bytes[:0]
	for _, r := range d.bytes {
		if k := len(joined) - 1; k >= 0 && r.Addr <= joined[k].Last()+1 {
			joined[k].Len = max(joined[k].Len, r.Last()-joined[k].Addr+1)
			continue
		}
		joined = append(joined, r)
	}
	d.bytes = joined
}

// way returns the instructions from the address at on, as executed, up to and with the first
// that the trace tells of.
func (b *Kernel) way(dec isa.Decoder, at uint64) (list []image.Range) {
	var in isa.Insn
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

// plain reports whether no instruction of a way changes the address space: the trace may
// tell of that.
func (b *Kernel) plain(dec isa.Decoder, way []image.Range) bool {
	var in isa.Insn
	return !slices.ContainsFunc(way, func(r image.Range) bool {
		return dec.Decode(&in, b.code[r.Addr-b.text:], r.Addr, isa.Mode64) == isa.OK && in.Class == isa.SetSpace
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

// has reports whether code in [addr, end) is on some way.
func (d *doubts) has(addr, end uint64) bool { return overlap(d.bytes, addr, end) }

// at returns the site that has a byte of [addr, end); nil if none does.
func (d *doubts) at(addr, end uint64) *site {
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

// doubter makes what is executed of doubtful code ambiguous (flow.Sink). What lies behind a
// site is doubtful where the flow came from there. Where it is not known from where it
// came, all ways count.
type doubter struct {
	b    *Kernel
	to   flow.Sink
	on   []step // where the flow's next instruction is doubtful
	lost bool   // it is not known from where the flow came
	led  bool   // the flow comes from a retpoline that is doubtful
	far  bool   // the flow returns from an exception
	is   []bool // of a range: which instructions are doubtful
}

// Doubts returns a sink that makes what is executed of doubtful code ambiguous, and hands it
// on to another. It is given the flow of one segment.
func (b *Kernel) Doubts(to flow.Sink) flow.Sink {
	if len(b.doubts.sites) == 0 {
		return to
	}
	return &doubter{b: b, to: to, lost: true}
}

// walk follows the flow through r. It says in k.is which instructions are doubtful, and
// reports whether any is.
func (k *doubter) walk(r *flow.Range) (any bool) {
	d := &k.b.doubts
	blk := r.Block
	k.lost = k.lost || k.far
	k.far = r.N == blk.N && blk.Class == isa.FarReturn
	if !d.has(blk.Addr, r.End()) {
		k.on, k.lost = nil, false
		return false
	}
	k.is = k.is[:0]
	a := blk.Addr
	for _, n := range blk.Lens[:r.N] {
		is := k.step(a, a+uint64(n))
		k.is, any = append(k.is, is), any || is
		a += uint64(n)
	}
	return any
}

// step follows the flow through the instruction in [addr, end), and reports whether it is
// doubtful.
func (k *doubter) step(addr, end uint64) bool {
	d := &k.b.doubts
	on := k.on
	if k.lost {
		on, k.lost = d.steps[addr], false
	}
	var next []step
	for _, s := range on {
		if s.site.way[s.i] == addr && s.i+1 < len(s.site.way) {
			next = append(next, step{s.site, s.i + 1})
		}
	}
	is := slices.ContainsFunc(on, func(s step) bool { return s.site.way[s.i] == addr })
	if x := d.at(addr, end); x != nil {
		is = true
		if i := slices.Index(x.way, addr); i < 0 {
			k.lost = true
		} else if s := (step{x, i + 1}); s.i < len(x.way) && !slices.Contains(next, s) {
			next = append(next, s)
		}
	}
	k.on = next
	return is
}

// Flow takes a batch.
func (k *doubter) Flow(x *flow.Batch) error {
	var out []flow.Range // nil: as they are
	note := 0
	for i := range x.Ranges {
		r := x.Ranges[i]
		for ; note < len(x.Notes) && x.Notes[note].At <= i; note++ {
			k.lost = k.lost || moves(&x.Notes[note])
			if out != nil {
				x.Notes[note].At = len(out)
			}
		}
		doubtful := k.walk(&r)
		if k.led && !doubtful {
			r.Verdict = flow.Ambiguous
			x.Ranges[i].Verdict = flow.Ambiguous
		}
		k.led = doubtful && r.Block.Class == isa.Jump && k.b.kernel.InThunk(r.Block.Addr-k.b.shift)
		if doubtful && !slices.Contains(k.is, false) {
			r.Verdict = flow.Ambiguous
			x.Ranges[i].Verdict = flow.Ambiguous
			doubtful = false
		}
		if doubtful && out == nil {
			out = append(make([]flow.Range, 0, len(x.Ranges)+16), x.Ranges[:i]...)
		}
		switch {
		case out == nil:
		case !doubtful:
			out = append(out, r)
		default:
			for _, p := range k.b.doubts.parts.of(&r, k.is) {
				y := r
				y.Block, y.N = p.b, p.b.N
				if p.doubtful {
					y.Verdict = flow.Ambiguous
				}
				out = append(out, y)
			}
		}
	}
	for ; note < len(x.Notes); note++ {
		k.lost = k.lost || moves(&x.Notes[note])
		if out != nil {
			x.Notes[note].At = len(out)
		}
	}
	if out != nil {
		x.Ranges = out
	}
	return k.to.Flow(x)
}

// moves reports whether the flow may go on elsewhere behind a note.
func moves(n *flow.Note) bool { return n.Kind != flow.NoteCut && n.Kind != flow.NoteTrackOff }

// parts keeps parts of blocks, some of which are doubtful. Many workers use it.
type parts struct {
	mu   sync.Mutex
	kept map[partsKey][]doubtPart
}

type partsKey struct {
	b  *flow.Block
	is uint64 // which of its first instructions are doubtful, below a bit that marks their number
}

// doubtPart is instructions of a block that are all doubtful, or none.
type doubtPart struct {
	b        *flow.Block
	doubtful bool
}

// of returns the parts of r, of which is says what is doubtful.
func (p *parts) of(r *flow.Range, is []bool) []doubtPart {
	if len(is) > 63 {
		return cut(r.Block, is)
	}
	k := partsKey{r.Block, 1}
	for _, x := range is {
		if k.is <<= 1; x {
			k.is |= 1
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list, ok := p.kept[k]
	if !ok {
		list = cut(r.Block, is)
		if p.kept == nil {
			p.kept = map[partsKey][]doubtPart{}
		}
		p.kept[k] = list
	}
	return list
}

// cut cuts the first instructions of b where is changes.
func cut(b *flow.Block, is []bool) (list []doubtPart) {
	from := 0
	for i := range is {
		if i > 0 && is[i] != is[i-1] {
			list = append(list, doubtPart{b.Part(from, i-from), is[i-1]})
			from = i
		}
	}
	return append(list, doubtPart{b.Part(from, len(is)-from), is[from]})
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
