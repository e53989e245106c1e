package repair

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore"
)

// What the changes of one site say of each byte. They may be of different lengths: a probe
// writes one byte, and later five.

// told is the place of one byte among a site's changes.
type told struct {
	i   int  // the change; -1: the image
	new bool // of what it leaves, else of what it finds
}

// byteOf returns the byte at k that a change finds or leaves.
func byteOf(p *kcore.Poke, k int, left bool) (b byte, ok bool) {
	s := p.Old
	if left {
		s = p.New
	}
	if k >= len(s) {
		return 0, false
	}
	return s[k], true
}

// setByte changes the byte at k that a change finds or leaves.
func setByte(p *kcore.Poke, k int, left bool, b byte) {
	if left {
		p.New = slices.Clone(p.New)
		p.New[k] = b
		return
	}
	p.Old = slices.Clone(p.Old)
	p.Old[k] = b
}

// before returns which change of list, before the one at i, says what lies at byte k then;
// -1 if none does. Code that went says nothing.
func before(list []*kcore.Poke, i, k int) int {
	for i--; i >= 0; i-- {
		if len(list[i].New) == 0 {
			return -1
		}
		if k < len(list[i].New) {
			return i
		}
	}
	return -1
}

// after returns which change of list, at i or later, says what lies at byte k before it; -1
// if none does.
func after(list []*kcore.Poke, i, k int) int {
	for ; i < len(list); i++ {
		if len(list[i].Old) == 0 {
			return -1
		}
		if k < len(list[i].Old) {
			return i
		}
	}
	return -1
}

// bytes corrects what two changes say of the code between them, where one byte differs: by
// what all changes of the site and the image say.
func (r *repairer) bytes(list []*kcore.Poke) {
	for j := range list {
		img := r.image(list[j].Addr, len(list[j].Old))
		at, from, n := 0, 0, 0
		for k, b := range list[j].Old {
			i := before(list, j, k)
			was, ok := byte(0), img != nil
			if i >= 0 {
				was, ok = byteOf(list[i], k, true)
			} else if ok {
				was = img[k]
			}
			if ok && was != b {
				at, from = k, i
				n++
			}
		}
		if n == 1 {
			r.settle(list, from, j, at, img)
		}
		r.restored(list, j)
	}
}

// restored corrects a byte that the change at i leaves, and of which no later one tells. The
// image has another there, which some change knows, and all others are the image's.
func (r *repairer) restored(list []*kcore.Poke, i int) {
	p := list[i]
	img := r.image(p.Addr, len(p.New))
	at, n := 0, 0
	for k, b := range p.New {
		if img != nil && b != img[k] && after(list, i+1, k) < 0 {
			at = k
			n++
		}
	}
	if n != 1 || r.votes(list, at, p.New[at], told{i, true}) > 0 || r.votes(list, at, img[at]) == 0 {
		return
	}
	if len(p.New) == 1 || bytes.HasPrefix(p.Old, img) {
		return // the change itself, perhaps
	}
	setByte(p, at, true, img[at])
	r.wrong++
	r.doubt(p, p.Begin, math.MaxUint64)
}

// settle corrects byte k, of which the change at i, or the image where i is -1, says
// something else than the next one at j. The code stays in doubt: before the next one, or
// from the one to the other.
func (r *repairer) settle(list []*kcore.Poke, i, j, k int, img []byte) {
	found, _ := byteOf(list[j], k, false)
	if i < 0 {
		if r.votes(list, k, found, told{j, false}) == 0 && !bytes.HasPrefix(list[j].New, img) {
			setByte(list[j], k, false, img[k])
			r.wrong++
			r.doubt(list[j], 0, list[j].End)
		}
		return
	}
	left, _ := byteOf(list[i], k, true)
	here := []told{{i, true}, {j, false}}
	a, b := r.votes(list, k, left, here...), r.votes(list, k, found, here...)
	if img != nil && img[k] == left {
		a++
	} else if img != nil && img[k] == found {
		b++
	}
	if a == b {
		a, b = r.sense(list[i].Addr, list[i].New), r.sense(list[j].Addr, list[j].Old)
	}
	if a < b {
		setByte(list[i], k, true, found)
	} else {
		setByte(list[j], k, false, left)
	}
	r.wrong++
	r.doubt(list[i], list[i].Begin, list[j].End)
}

// votes counts the changes of list that say that b is, at some time, at byte k: all but
// those in without.
func (r *repairer) votes(list []*kcore.Poke, k int, b byte, without ...told) (n int) {
	for i, p := range list {
		for _, left := range []bool{false, true} {
			if x, ok := byteOf(p, k, left); ok && x == b && !slices.Contains(without, told{i, left}) {
				n++
			}
		}
	}
	return n
}

// nops are those that x86's kernels write at sites (arch/x86/include/asm/nops.h, v6.1).
var nops = []string{"\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00"}

// sense says how likely b is the code of a site at addr. It is more for a NOP, and for a jump
// or call to where other changes lead, to where an instruction begins, or to where code is.
// Most jump labels lead forward.
func (r *repairer) sense(addr uint64, b []byte) int {
	if slices.Contains(nops, string(b)) {
		return 5
	}
	to, ok := leadsTo(addr, b)
	if !ok {
		return 0
	}
	if r.leads == nil {
		r.leads = map[uint64]int{}
		for _, list := range r.sites {
			for _, p := range list {
				for _, s := range [][]byte{p.Old, p.New} {
					if a, ok := leadsTo(p.Addr, s); ok {
						r.leads[a]++
					}
				}
			}
		}
	}
	switch {
	case r.leads[to] > 1 || len(r.sites[to]) > 0:
		return 4
	case r.lands(addr, addr+uint64(len(b)), to):
		if to > addr {
			return 3
		}
		return 2
	case r.image(to, 1) != nil:
		return 1
	}
	return 0
}

// farthest is how far instructions are followed, bytes: most jumps stay within a function.
// Read from anywhere, they are those of the program within inStep bytes as a rule.
const (
	farthest = 4096
	inStep   = 64
)

// lands reports whether an instruction begins where a jump in [addr, end) leads.
func (r *repairer) lands(addr, end, to uint64) bool {
	from, until := end, to
	if to < end {
		from, until = to-inStep, addr
	}
	if until < from || until-from > farthest {
		return false
	}
	code, begins := r.image(from, int(until-from)), from == to
	for len(code) > 0 {
		var in isa.Insn
		if (x86.Decoder{}).Decode(&in, code, from, isa.Mode64) != isa.OK {
			return false
		}
		from, code = from+uint64(in.Len), code[in.Len:]
		begins = begins || from == to
	}
	return begins && from == until
}

// leadsTo returns where the jump or call leads that b begins with, of x86.
func leadsTo(addr uint64, b []byte) (to uint64, ok bool) {
	if len(b) == 2 && b[0] == 0xeb {
		return addr + 2 + uint64(int64(int8(b[1]))), true
	}
	if len(b) < 5 || b[0]&^1 != 0xe8 {
		return 0, false
	}
	return addr + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(b[1:])))), true
}

// ends puts code in doubt that one change alone tells of. What lay before the first, the
// image confirms or not. What lies behind the last, nothing does: it is taken for code that
// lay there before, if one byte alone differs.
func (r *repairer) ends(list []*kcore.Poke) {
	first, last := list[0], list[len(list)-1]
	if img := r.image(first.Addr, len(first.Old)); len(first.Old) > 0 && !bytes.Equal(img, first.Old) {
		r.doubt(first, 0, first.End)
	}
	lay := func(p *kcore.Poke) bool { return bytes.Equal(p.Old, last.New) }
	if i := slices.IndexFunc(list, func(p *kcore.Poke) bool { return oneByteOff(p.Old, last.New) }); i >= 0 && !slices.ContainsFunc(list, lay) {
		last.New = slices.Clone(list[i].Old)
		r.wrong++
	}
	if len(last.New) > 0 {
		r.doubt(last, last.Begin, math.MaxUint64)
	}
	for i, p := range list {
		r.alone(list, i, p)
	}
}

// alone puts in doubt what p, at i of list, alone tells of a byte: where it is longer than
// its neighbours.
func (r *repairer) alone(list []*kcore.Poke, i int, p *kcore.Poke) {
	img := r.image(p.Addr, max(len(p.Old), len(p.New)))
	holds := func(k int, b byte) bool { return img != nil && img[k] == b }
	for k, b := range p.New {
		if after(list, i+1, k) < 0 && !holds(k, b) && r.votes(list, k, b, told{i, true}) == 0 {
			r.doubt(p, p.Begin, math.MaxUint64)
			break
		}
	}
	for k, b := range p.Old {
		if before(list, i, k) < 0 && !holds(k, b) && r.votes(list, k, b, told{i, false}) == 0 {
			r.doubt(p, 0, p.End)
			break
		}
	}
}

// oneByteOff reports whether a and b are as long and differ in one byte.
func oneByteOff(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n == 1
}
