package boot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// straight writes NOPs and short jumps ahead to code, up to a return and INT3s.
func straight(code []byte, r *rand.Rand) {
	for i := range code {
		code[i] = 0x90
		if i+8 < len(code) && r.IntN(4) == 0 {
			code[i] = 0xc3 // unless an instruction before has it as its last byte
		}
	}
	for i := 0; i < len(code)-12; {
		switch r.IntN(6) {
		case 0:
			code[i], code[i+1] = 0xeb, byte(r.IntN(9))
			i += 2
		case 1, 2:
			copy(code[i:], []byte{0x0f, 0x1f, 0x00})
			i += 3
		default:
			code[i] = 0x90
			i++
		}
	}
	code[len(code)-1] = 0xc3
}

// asideRuns is what a segment comes to with some code, told by single steps: rounds from the code's
// begin to its return. An event interrupts those of which one tells where. A return may take an outcome. Then the
// block that it ends leads to that.
func asideRuns(b *Kernel, code []byte, stops []uint64, takes []bool) (k *ranAs) {
	k = &ranAs{d: &b.doubts}
	var in isa.Insn
	off := int64(0)
	for i, stop := range stops {
		x := &flow.Block{Addr: b.text}
		ends := func(next uint64) {
			if x.N > 0 {
				k.runs(x, x.N, off)
			}
			x = &flow.Block{Addr: next}
		}
		for at := b.text; ; {
			if at == stop {
				ends(at)
				off, stop = off+1, 0
				k.notes = append(k.notes, k.n)
			}
			d := at - b.text
			if d >= uint64(len(code)) || (x86.Decoder{}).Decode(&in, code[d:], at, b.mode) != isa.OK || k.n+int(x.N) > 500 {
				k.bad = true
				return k
			}
			at += uint64(in.Len)
			x.Lens, x.N, x.End = append(x.Lens, in.Len), x.N+1, at
			if in.Class == isa.Jump {
				at = in.Target
				ends(at)
			} else if in.Class != isa.Other {
				k.bad = k.bad || stop != 0
				break
			}
		}
		if takes[i] {
			off++
		}
		ends(0)
		off++
	}
	return k
}

// TestAside would catch doubt told without decoding that is other than what decoding again with
// the other version tells. Events that state an address on the way are among its cases.
func TestAside(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0xa51de))
	x := variant{{buildtime.Choice{Kind: buildtime.Key, ID: 1}, 1}}
	told, doubtful, stopped, late := 0, 0, 0, 0
	for n := range 20000 {
		const room = 32 // bytes behind the code, for a decoder that looks ahead
		b := &Kernel{text: 0x1000, code: make([]byte, 40+room), mode: isa.Mode64, isa: x86.Decoder{}}
		straight(b.code[:40], r)
		other := slices.Clone(b.code)
		at := b.text
		p := &Patches{}
		trimmed := r.IntN(2) == 0 // where both are the same is known
		if trimmed {
			p.other = []image.Range{}
		}
		for range 1 + r.IntN(2) { // sites, at instructions
			var in isa.Insn
			for range 1 + r.IntN(6) {
				if b.isa.Decode(&in, b.code[at-b.text:], at, b.mode) == isa.OK {
					at += uint64(in.Len)
				}
			}
			size := uint64(2 + r.IntN(7))
			if at+size >= b.text+36 {
				break
			}
			code := make([]byte, 0, size+2)
			for rest := int(size); rest > 0; rest = int(size) - len(code) {
				switch r.IntN(4) {
				case 0:
					code = append(code, 0xeb, byte(r.IntN(10)))
				case 1:
					code = append(code, 0x66, 0x90)
				default:
					code = append(code, 0x90)
				}
			}
			if len(code) > int(size) {
				code = append(code[:size-1], 0x90)
			}
			if from := r.IntN(len(code)); r.IntN(2) == 0 { // the rest is the same
				copy(code[from:], b.code[at-b.text+uint64(from):])
			}
			copy(other[at-b.text:], code)
			if d := differing(at, b.code[at-b.text:][:size], code); trimmed && d.Len > 0 {
				p.other = append(p.other, d)
			}
			p.list = append(p.list, patch{image.Range{Addr: at, Len: size}, code})
			b.doubts.sites = append(b.doubts.sites, site{addr: at, last: at + size - 1, choices: []buildtime.Choice{x[0].c}})
			at += size
		}
		b.doubts.kept.list = map[string]*Patches{fmt.Sprint(x): p}
		stops := make([]uint64, 3)
		if r.IntN(2) == 0 {
			stops[r.IntN(3)] = b.text + r.Uint64N(40)
		}
		takes := make([]bool, len(stops))
		outcomes := r.IntN(2) == 0
		for i := range takes {
			takes[i] = outcomes && r.IntN(2) == 0
		}
		base, want := asideRuns(b, b.code, stops, takes), asideRuns(b, other, stops, takes)
		var got marks
		if base.bad || !b.aside(base, x, &got, func(*site) {}) {
			continue
		}
		told++
		list := apartIn(base, want)
		was, is := list.stretches(), got.stretches()
		if len(is) > 0 {
			doubtful++
			if slices.ContainsFunc(stops, func(a uint64) bool { return a != 0 }) {
				stopped++
			}
		}
		same := slices.Equal(was, is)
		if outcomes && same && len(is) > 0 {
			late++
		}
		// To which event an instruction leads hangs on where its block ends, which may be another one.
		if same = same || outcomes && ranIn(anytime(base), is, anytime(want)); want.bad || !same {
			t.Fatalf("case %d: code %x, other %x, events at %#x, outcomes %v: in doubt %v, want %v; the trace contradicts it: %v", n, b.code[:40], other[:40], stops, takes, is, was, want.bad)
		}
	}
	if doubtful < 500 || stopped < 100 || late < 100 {
		t.Errorf("of %d cases told without decoding %d have doubt, %d with an event, %d with outcomes: too few", told, doubtful, stopped, late)
	}
	t.Logf("%d of 20000 told without decoding, %d with doubt, %d with an event, %d with outcomes", told, doubtful, stopped, late)
}

// anytime returns what k ran, whatever event it leads to.
func anytime(k *ranAs) []ran {
	list := slices.Clone(k.window(0, k.n))
	for i := range list {
		list[i].off = 0
	}
	return list
}

// TestAsideLate would catch a version that is decoded though its code tells what it leads to, where a jump lies between the
// site and what takes an outcome. It would also catch one that is told where an event, or what lies before
// the site in its block, makes another of it.
func TestAsideLate(t *testing.T) {
	x := variant{{buildtime.Choice{Kind: buildtime.Key, ID: 1}, 1}}
	for _, c := range []struct {
		what, code, other string // from the site on
		before            string // code before it
		stop              uint64 // an event states this address, behind the site
		ok                bool
	}{
		{"a jump or none", "\xeb\x00\x90\xc3", "\x66\x90\x90\xc3", "", 0, true},
		{"two jumps", "\xeb\x02\x90\x90\x90\xc3", "\x90\xeb\x01\x90\x90\xc3", "", 0, true},
		{"a jump behind a jump", "\xeb\x00\x90\xc3", "\x66\x90\x90\xc3", "\xeb\x00", 0, true},
		{"what lies before is of its block", "\xeb\x00\x90\xc3", "\x66\x90\x90\xc3", "\x90", 0, false},
		{"an event where both meet", "\xeb\x00\x90\xc3", "\x66\x90\x90\xc3", "", 2, false},
	} {
		const room = 32
		n := len(c.before)
		b := &Kernel{text: 0x1000, code: append([]byte(c.before+c.code), make([]byte, room)...), mode: isa.Mode64, isa: x86.Decoder{}}
		at := b.text + uint64(n)
		p := &Patches{list: []patch{{image.Range{Addr: at, Len: uint64(len(c.code))}, []byte(c.other)}}}
		p.other = []image.Range{differing(at, []byte(c.code), []byte(c.other))}
		b.doubts.sites = []site{{addr: at, last: p.other[0].Last(), choices: []buildtime.Choice{x[0].c}}}
		b.doubts.kept.list = map[string]*Patches{fmt.Sprint(x): p}
		stops, takes := []uint64{0}, []bool{true}
		if c.stop != 0 {
			stops[0] = at + c.stop
		}
		base := asideRuns(b, b.code, stops, takes)
		want := asideRuns(b, append([]byte(c.before+c.other), make([]byte, room)...), stops, takes)
		var got marks
		ok := b.aside(base, x, &got, func(*site) {})
		list := apartIn(base, want)
		if was, is := list.stretches(), got.stretches(); ok != c.ok || ok && (want.bad || !slices.Equal(was, is)) {
			t.Errorf("%s: told %v, in doubt %v, want %v", c.what, ok, is, was)
		}
	}
}

// apartIn marks what of base is not in want, and what is of a site: the slow twin.
func apartIn(base, want *ranAs) (list marks) {
	was := base.window(0, base.n)
	compare(was, want.window(0, want.n), &list, func(*site) {})
	for i := range was {
		if was[i].site != nil {
			list.add(i, i+1)
		}
	}
	return list
}
