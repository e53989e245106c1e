package boot

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Patches is code that lies over the kernel's, by address. Nothing of it overlaps.
type Patches struct {
	list  []patch
	other []image.Range // where it is another than what lies below, by address; nil: anywhere
}

type patch struct {
	image.Range
	code []byte
}

// Lay copies to dst, which holds the code at addr, what lies over it.
func (p *Patches) Lay(dst []byte, addr uint64) {
	i, _ := slices.BinarySearchFunc(p.list, addr, func(x patch, a uint64) int {
		if x.Last() < a {
			return -1
		}
		return 1
	})
	for ; i < len(p.list) && p.list[i].Addr < addr+uint64(len(dst)); i++ {
		if x := &p.list[i]; x.Addr < addr {
			copy(dst, x.code[addr-x.Addr:])
		} else {
			copy(dst[x.Addr-addr:], x.code)
		}
	}
}

// differs reports whether p is other code than what lies below at a byte of [addr, end), or may be.
func (p *Patches) differs(addr, end uint64) bool {
	if p.other != nil {
		return overlap(p.other, addr, end)
	}
	i, _ := slices.BinarySearchFunc(p.list, addr, func(x patch, a uint64) int {
		if x.Last() < a {
			return -1
		}
		return 1
	})
	return i < len(p.list) && p.list[i].Addr < end
}

// differing returns which bytes of two codes of the same length at addr lie between the first and the last that differ.
func differing(addr uint64, a, b []byte) image.Range {
	from, end := 0, len(a)
	for from < end && a[from] == b[from] {
		from++
	}
	for end > from && a[end-1] == b[end-1] {
		end--
	}
	return image.Range{Addr: addr + uint64(from), Len: uint64(end - from)}
}

// patched is code with other versions laid over the kernel's (flow.Text).
type patched struct {
	flow.Text
	over *Patches
}

// Over returns t with p laid over the kernel's code.
func (p *Patches) Over(t flow.Text) flow.Text { return &patched{t, p} }

// Fetch copies the code at addr as of epoch at.
func (p *patched) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	n, span := p.Text.Fetch(dst, space, addr, at)
	if space == 0 {
		p.over.Lay(dst[:n], addr)
	}
	return n, span
}

// Again decodes a segment once more, with other code laid over the kernel's. It ends when
// to returns an error, and returns that.
type Again func(over *Patches, to flow.Sink) error

// stretch is instructions of a segment: those from an index on, up to another.
type stretch struct{ from, end int }

// Bounds of what other versions are followed for, in a segment: instructions, and versions
// of the code. Where there is more, all behind the first site is in doubt.
const (
	maxInsns    = 1 << 20
	maxVersions = 16
	maxPatches  = 64 // versions that are kept for other segments
	maxAhead    = 1 << 12
	farBack     = 8 // instructions before a version that the trace contradicts, whose sites are tried with it
)

// variant is values of choices that are others than those taken.
type variant []setting

type setting struct {
	c buildtime.Choice
	v int
}

// with returns x with one more setting; ok is false where x has one of that choice.
func (x variant) with(y setting) (z variant, ok bool) {
	if slices.ContainsFunc(x, func(s setting) bool { return s.c == y.c }) {
		return nil, false
	}
	z = append(slices.Clone(x), y)
	slices.SortFunc(z, func(a, b setting) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return z, true
}

// keptPatches keeps the code of variants. Many workers use it.
type keptPatches struct {
	mu   sync.Mutex
	list map[string]*Patches
}

// patches returns the code of x.
func (b *Kernel) patches(x variant) *Patches {
	k := &b.doubts.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprint(x)
	if p := k.list[key]; p != nil {
		return p
	}
	state := b.state
	for _, s := range x {
		state = state.With(s.c, s.v)
	}
	p := &Patches{}
	seen := map[*buildtime.Group]bool{}
	for _, s := range x {
		for _, g := range b.kernel.Of(s.c) {
			at := g.Addr + b.shift
			if code := g.Code(state); !seen[g] && !b.overlaps(g) && b.holds(at, len(code)) && !bytes.Equal(code, b.code[at-b.text:][:len(code)]) {
				p.list = append(p.list, patch{image.Range{Addr: at, Len: uint64(len(code))}, code})
			}
			seen[g] = true
		}
	}
	slices.SortFunc(p.list, func(x, y patch) int { return compareAddr(x.Addr, y.Addr) })
	for _, q := range k.list {
		if slices.EqualFunc(p.list, q.list, func(x, y patch) bool { return x.Range == y.Range && bytes.Equal(x.code, y.code) }) {
			p = q
			break
		}
	}
	if k.list == nil {
		k.list = map[string]*Patches{}
	}
	if len(k.list) < maxPatches {
		k.list[key] = p
	}
	return p
}

// compareAddr orders addresses.
func compareAddr(x, y uint64) int {
	if x < y {
		return -1
	}
	return 1
}

// doubting returns a sink of one segment that makes ambiguous what tell says is in doubt, and hands
// it on to another. The segment is decoded again as the code is, into base, and tell is asked of
// what follows the first instruction at a site. Where there are too many instructions, all from
// there on are in doubt.
func (d *doubts) doubting(to flow.Sink, again Again, tell func(again Again, base, other *ranAs, first int) ([]stretch, error)) flow.Sink {
	return &doubter{d: d, to: to, find: func() ([]stretch, error) {
		base, other := d.lists.get(d), d.lists.get(d)
		defer d.lists.put(other, base)
		base.sparse = d.sparse && d.fewWhole()
		err := again(nil, base)
		if err != nil && err != errTooMuch {
			return nil, err
		}
		if len(base.met) == 0 {
			return nil, nil
		}
		first := base.met[0].at
		if err != nil {
			return []stretch{{first, math.MaxInt}}, nil
		}
		return tell(again, base, other, first)
	}}
}

// inDoubt returns which instructions of a segment are in doubt. It has the segment decoded
// with each other version of the code that the flow comes to. A version that the trace
// contradicts did not run. What the flow does not share with each of the others is in doubt.
func (b *Kernel) inDoubt(again Again, base, other *ranAs, first int) ([]stretch, error) {
	var doubt marks
	todo := versions{b: b, seen: map[string]bool{}, laid: map[*Patches]bool{}}
	add := todo.extend
	base.tellSites(0, base.n, func(at *site) { add(nil, at) })
	for n := 0; n < len(todo.list); n++ {
		if n == maxVersions {
			return []stretch{{first, math.MaxInt}}, nil
		}
		x := todo.list[n]
		if b.aside(base, x, &doubt, func(at *site) { add(x, at) }) {
			continue
		}
		other.empty()
		if err := again(b.patches(x), other); err == errTooMuch {
			return []stretch{{first, math.MaxInt}}, nil
		} else if err != nil {
			return nil, err
		}
		list := &doubt
		if other.bad && !base.bad {
			list = &marks{} // it did not run, but with one more change it may have
		}
		met := func(at *site) { add(x, at) }
		if apart := base.setAgainst(other, list, met); other.bad {
			base.tellSites(apart-farBack, apart, met) // it may have led elsewhere, too
		}
		for _, y := range base.met {
			if y.site.dependsOn(x) {
				list.add(y.at, y.at+1)
			}
		}
	}
	return doubt.stretches(), nil
}

// versions is what a segment is to be decoded with.
type versions struct {
	b    *Kernel
	list []variant
	seen map[string]bool // variants
	laid map[*Patches]bool
}

// extend adds x with another value of a site's choices. Values that come to the same code are one.
func (k *versions) extend(x variant, at *site) {
	for _, c := range at.choices {
		for _, v := range k.b.open(c) {
			y, ok := x.with(setting{c, v})
			if !ok || k.seen[fmt.Sprint(y)] {
				continue
			}
			k.seen[fmt.Sprint(y)] = true
			if p := k.b.patches(y); !k.laid[p] {
				k.laid[p] = true
				k.list = append(k.list, y)
			}
		}
	}
}

// marks is instructions that are marked.
type marks struct {
	list  []stretch
	taken []stretch // in list: what was taken at once
}

// markOnce takes list, which is m's own with more behind it. What is the same as what was taken before marks no more.
func (m *marks) markOnce(list []stretch) {
	from := len(m.list)
	for _, t := range m.taken {
		if slices.Equal(list[t.from:t.end], list[from:]) {
			m.list = list[:from] // there is more room behind it now
			return
		}
	}
	m.list, m.taken = list, append(m.taken, stretch{from, len(list)})
}

func (m *marks) add(from, end int) {
	if from < end {
		m.list = append(m.list, stretch{from, end})
	}
}

// clear has nothing be marked. It keeps the memory.
func (m *marks) clear() { m.list, m.taken = m.list[:0], m.taken[:0] }

// stretches returns what is marked, in order, without overlaps.
func (m *marks) stretches() (list []stretch) {
	slices.SortFunc(m.list, func(x, y stretch) int { return x.from - y.from })
	list = m.list[:0]
	for _, x := range m.list {
		if k := len(list) - 1; k >= 0 && x.from <= list[k].end {
			list[k].end = max(list[k].end, x.end)
		} else {
			list = append(list, x)
		}
	}
	return slices.Clone(list)
}
