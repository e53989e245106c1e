package boot

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
)

// maxEither is with how many codes a segment is decoded again at most. Where there are more, all
// behind the first such place is in doubt.
const maxEither = 128

// maxWays is how many are made at most, with the code that is taken: one more than are tried.
const maxWays = maxEither + 2

// Either is learned code of which the trace leaves several possible that do not do the same.
type Either struct {
	doubts doubts
	over   []*Patches // all that may lie there in place of what is taken
	untold untold
	splices
}

// Reader reads code: Fetch copies what lies at addr to dst, and returns how much is known. Steady reports
// whether it is known and lies there at all times. Lists may be those of another one.
type Reader struct {
	ISA    isa.Decoder
	Mode   isa.Mode
	Lists  *Lists
	Fetch  func(dst []byte, addr uint64) int
	Steady func(dst []byte, addr uint64) bool
}

// shape is what a trace could tell of the instructions that begin among the bytes of code at addr.
func (r *Reader) shape(addr uint64, code []byte) string {
	b := make([]byte, len(code)+16)
	b = b[:len(code)+r.Fetch(b[copy(b, code):], addr+uint64(len(code)))]
	var shape []byte
	var in isa.Insn
	for off := 0; off < len(code); off += int(in.Len) {
		if r.ISA.Decode(&in, b[off:], addr+uint64(off), r.Mode) != isa.OK {
			return string(append(shape, '?'))
		}
		shape = fmt.Appendf(shape, "%d %d %d %x,", in.Len, in.Class, in.Flags&^isa.FlagNop, in.Target)
	}
	return string(shape)
}

// NewEither returns what list leaves possible; nil if it says what lies at each place. Of codes
// that a trace cannot tell apart one is tried.
func NewEither(list []kcore.Learned, r *Reader) *Either {
	e := &Either{}
	ways := [][]patch{nil}
	for i := range list {
		l := &list[i]
		if !l.Either {
			continue
		}
		e.doubts.sites = append(e.doubts.sites, site{addr: l.Addr, last: l.Range().Last()})
		seen := map[string]bool{r.shape(l.Addr, l.Code): true}
		before := slices.Clip(ways)
		for _, code := range l.Others {
			if shape := r.shape(l.Addr, code); !seen[shape] && len(code) == len(l.Code) {
				seen[shape] = true
				for k := 0; k < len(before) && len(ways) < maxWays; k++ {
					ways = append(ways, append(slices.Clip(before[k]), patch{l.Range(), code}))
				}
			}
		}
	}
	if len(e.doubts.sites) == 0 {
		return nil
	}
	slices.SortFunc(e.doubts.sites, func(x, y site) int { return compareAddr(x.addr, y.addr) })
	e.doubts.sparse = true
	e.doubts.lists, e.untold = r.Lists, untold{r.ISA, r.Mode, r.Steady, e.doubts.at, r.Fetch}
	for _, w := range ways[1:] {
		slices.SortFunc(w, func(x, y patch) int { return compareAddr(x.Addr, y.Addr) })
		p := &Patches{list: w}
		for _, x := range w {
			i := slices.IndexFunc(list, func(l kcore.Learned) bool { return l.Either && l.Range() == x.Range })
			p.other = append(p.other, differing(x.Addr, list[i].Code, x.code))
		}
		e.over = append(e.over, p)
	}
	e.allow(list)
	return e
}

// Doubts returns a sink that makes ambiguous what rests on what lies at such a place, and hands it
// on to another. It is given the flow of one segment, which again decodes once more. kept reports whether again
// need not decode to tell it; nil: it has to, always.
func (e *Either) Doubts(to flow.Sink, again Again, kept func(over *Patches) bool) flow.Sink {
	return e.doubts.doubting(to, again, func(again Again, base, other *ranAs, first int) ([]stretch, error) {
		return e.apart(again, kept, base, other, first)
	})
}

// apart returns which instructions of a segment are in doubt: those at such a place, and what the
// flow does not share with that of each other code. Code that the trace contradicts in this segment
// did not run.
func (e *Either) apart(again Again, kept func(over *Patches) bool, base, other *ranAs, first int) ([]stretch, error) {
	if len(e.over) > maxEither {
		return []stretch{{first, math.MaxInt}}, nil
	}
	doubt := &base.doubt
	doubt.clear()
	for _, x := range base.met {
		doubt.add(x.at, x.at+1)
	}
	var left []int // codes of which the code itself does not tell
	for i, p := range e.over {
		if !e.told(base, p, doubt) {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return doubt.stretches(), nil
	}
	if err := base.whole(again); err != nil {
		return nil, err
	}
	if kept != nil { // out of these others may be made
		have := slices.DeleteFunc(slices.Clone(left), func(i int) bool { return !kept(e.over[i]) })
		left = append(have, slices.DeleteFunc(left, func(i int) bool { return slices.Contains(have, i) })...)
	}
	k := others{e: e, base: base, left: left, list: []whose{{other, 0}}}
	defer k.done()
	for len(k.left) > 0 {
		x, err := k.flow(again)
		if err == errTooMuch {
			return []stretch{{first, math.MaxInt}}, nil
		} else if err != nil {
			return nil, err
		}
		if !x.bad || base.bad {
			base.setAgainst(x, doubt, func(*site) {})
		}
	}
	return doubt.stretches(), nil
}

// told marks in doubt what other code makes of a segment, and reports whether it could without
// decoding.
func (e *Either) told(base *ranAs, p *Patches, doubt *marks) bool {
	depends := func(at *site) bool {
		return slices.ContainsFunc(p.list, func(x patch) bool { return x.Addr == at.addr })
	}
	return e.untold.tell(base, p, doubt, depends, func(*site) {}, func(at *site) *aside {
		return e.doubts.asides.keep(at, fmt.Sprintf("%p", p), func() *aside { return e.untold.asideOf(at, p, depends) })
	})
}
