package learn

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Idea is other code at one site.
type Idea struct {
	Addr uint64
	Code []byte
	Was  []byte // what the code had there
	Why  string // kind of site
	// Rank is how far fetched it is; the least comes first. One that holds rules out
	// those of higher ranks.
	Rank int
	Back int // how far before the contradiction the site lies, instructions
	// Straight: of the instruction there, only the length is told. Ideas that are all
	// of this kind differ in nothing but where instructions begin.
	Straight bool
	Recalls  bool // the instruction there is a call, in place of another call
	// Turns is where the first instruction lies, at Addr or behind it, of which the trace must say
	// where it leads; 0: not known. Ideas of one byte may read what follows in different ways.
	Turns uint64
	Alike [][]byte // what does the same wherever it runs, as far as a trace can tell
	// Other is what another image has there, as long as Code; nil: no other image differs.
	// Late: Code is of the later one of the two.
	Other []byte
	Late  bool
}

// adder takes an idea for a site, and what else would be told alike.
type adder func(rank int, why string, code []byte, alike ...[]byte)

// String renders the idea for people.
func (x *Idea) String() string {
	return fmt.Sprintf("%s %x: %x -> %x (%d)", x.Why, x.Addr, x.Was, x.Code, x.Rank)
}

// same reports whether x and y are the same code at the same site.
func (x *Idea) same(y *Idea) bool { return x.Addr == y.Addr && bytes.Equal(x.Code, y.Code) }

// The ranks of ideas.
const (
	rankKnown   = iota // a table or another image names the code
	rankLikely         // all of it follows from the code
	rankDistant        // the target is one of several
	rankAny            // the target is one of many
)

// Generator has ideas. What it is given it only reads.
type Generator struct {
	ISA  isa.Decoder
	Mode isa.Mode
	// Code copies code at addr to dst and returns how much is known.
	Code func(dst []byte, addr uint64) int
	// Body is Code of functions. Where records of changes were lost, it has what the image has: sites keep
	// their lengths, and what lies around them stays.
	Body func(dst []byte, addr uint64) int
	// Symbol returns the symbol that holds addr, Cold the one of the part of the function
	// of a name that the compiler put elsewhere.
	Symbol func(addr uint64) (symbols.Symbol, bool)
	Cold   func(name string) (symbols.Symbol, bool)
	// Known returns what is known to lie at a site that addr is the first byte of, or
	// the first that two images differ in.
	Known func(addr uint64) (kcore.Candidate, bool)
	// Under copies to dst what images and records have at a site whose code an earlier run learned. It
	// returns how much that is, how long the learned code is, and what the site is. It returns zeros for other sites.
	Under func(dst []byte, addr uint64) (n, size int, why string)
	// Tracers returns what the kernel calls from the entry of a function that is traced.
	Tracers func() []uint64
	// Calls returns what static calls call. The first few of them are called from a great
	// many sites, the most frequent first.
	Calls func() (list []uint64, often int)

	functions map[uint64]*function
}

// Ideas returns what may have lain on the way to v, the least far fetched first. Of
// equal rank, what lies nearest to the contradiction comes first.
func (g *Generator) Ideas(v *Visit) []Idea {
	var list []Idea
	seen := map[uint64]bool{}
	for back, addr := range g.path(v) {
		if !seen[addr] {
			seen[addr] = true
			n := len(list)
			list = g.at(list, addr)
			for i := range list[n:] {
				list[n+i].Back = back
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Idea) int { return a.Rank - b.Rank })
	return list
}

// straightOn is the classes behind which the flow goes on with the next instruction.
var straightOn = isa.Set(isa.Other, isa.SetSpace, isa.TraceControl, isa.Barrier, isa.Wait)

// path returns the addresses that the flow came by, with those that it was about to
// execute.
func (g *Generator) path(v *Visit) (list []uint64) {
	var ahead []uint64
	for at := v.IP; len(ahead) < aheadInsns; {
		var b [16]byte
		var in isa.Insn
		ahead = append(ahead, at)
		if g.ISA.Decode(&in, b[:g.Code(b[:], at)], at, g.Mode) != isa.OK || !straightOn.Has(in.Class) {
			break
		}
		at += uint64(in.Len)
	}
	slices.Reverse(ahead)
	return append(ahead, v.Path...)
}

// at appends the ideas for the instruction at addr.
func (g *Generator) at(list []Idea, addr uint64) []Idea {
	var b [16]byte
	have := b[:g.Code(b[:], addr)]
	add := func(rank int, why string, code []byte, alike ...[]byte) {
		if len(have) >= len(code) && !bytes.Equal(have[:len(code)], code) {
			x := Idea{Addr: addr, Code: code, Was: slices.Clone(have[:len(code)]), Why: why, Rank: rank, Alike: alike}
			class := g.class(addr, have, code)
			x.Straight, x.Recalls = class == isa.Other, class == isa.Call && g.class(addr, have, nil) == isa.Call
			if len(code) == 1 {
				x.Turns = g.turns(addr, have, code)
			}
			list = append(list, x)
		}
	}
	// Images that differ may do so inside of an instruction.
	for d := range uint64(8) {
		if c, ok := g.Known(addr + d); ok {
			for i := range c.Code {
				x := g.known(&c, i)
				if !slices.ContainsFunc(list, func(y Idea) bool { return y.same(&x) }) {
					list = append(list, x)
				}
			}
			return list
		}
	}
	// What an earlier run learned may be of another recording. Then the site has what images have, or
	// what may have come of that.
	var under [16]byte
	if n, size, why := g.Under(under[:], addr); size > 0 && n >= size {
		add(rankKnown, why, slices.Clone(under[:size]))
		g.sites(addr, under[:n], add)
		if bytes.HasPrefix(have, under[:min(n, len(have))]) {
			return list // the code is as it was
		}
	}
	g.sites(addr, have, add)
	return list
}

// sites adds what may lie at addr, where the code has have.
func (g *Generator) sites(addr uint64, have []byte, add adder) {
	if g.Mode == isa.ModeA64 {
		g.a64(addr, have, add)
	} else if g.Mode == isa.Mode64 {
		g.x86(addr, have, add)
	}
}

// known is the idea that code i of c lies there. Of two images, the first is the earlier.
func (g *Generator) known(c *kcore.Candidate, i int) Idea {
	x := Idea{Addr: c.Addr, Code: c.Code[i], Why: c.Why, Rank: rankKnown}
	was := make([]byte, len(x.Code))
	x.Was = was[:g.Code(was, c.Addr)]
	if len(c.Code) == 2 {
		x.Other, x.Late = c.Code[1-i], i == 1
	}
	return x
}

// class is the class of the instruction at addr with code over have, isa.Undefined where it is none.
func (g *Generator) class(addr uint64, have, code []byte) isa.Class {
	var in isa.Insn
	b := append(slices.Clone(code), have[len(code):]...)
	if g.ISA.Decode(&in, b, addr, g.Mode) != isa.OK {
		return isa.Undefined
	}
	return in.Class
}

// turns is Idea.Turns for code over have at addr.
func (g *Generator) turns(addr uint64, have, code []byte) uint64 {
	b := append(slices.Clone(code), have[len(code):]...)
	at := addr
	for range aheadInsns {
		var in isa.Insn
		if g.ISA.Decode(&in, b, at, g.Mode) != isa.OK {
			return at
		}
		switch {
		case straightOn.Has(in.Class):
			at += uint64(in.Len)
		case in.Class == isa.Jump || in.Class == isa.Call:
			at = in.Target
		default:
			return at
		}
		b = b[:cap(b)]
		b = b[:g.Code(b, at)]
	}
	return 0
}
