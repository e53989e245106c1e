package boot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// runsOne appends an instruction of so many bytes: of the block that it was of before.
func (k *ranAs) runsOne(off int64, ip uint64, size uint8) {
	b := &flow.Block{Addr: ip, End: ip + uint64(size), N: 1, Lens: []uint8{size}}
	if i := slices.IndexFunc(k.list, func(p piece) bool { return p.b.Addr == ip && p.b.End == b.End }); i >= 0 {
		b = k.list[i].b
	}
	k.runs(b, 1, off)
}

// inRanges returns a flow in ranges of one event each, that end where r says.
func inRanges(d *doubts, list []ran, blocks map[string]*flow.Block, r *rand.Rand) *ranAs {
	k := &ranAs{d: d}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].off == list[0].off && list[n].ip == list[n-1].ip+1 && r.IntN(3) > 0 {
			n++
		}
		key := fmt.Sprint(list[0].ip, n)
		b := blocks[key]
		if b == nil || r.IntN(4) == 0 {
			b = &flow.Block{Addr: list[0].ip, End: list[0].ip + uint64(n), N: uint16(n), Lens: slices.Repeat([]uint8{1}, n)}
			blocks[key] = b
		}
		k.runs(b, uint16(n), list[0].off)
		list = list[n:]
	}
	return k
}

// TestCompareRanges would catch ranges that are compared otherwise than their instructions are one by one:
// another mark, another place where flows part, or a site of which nothing is told. Ranges end anywhere.
func TestCompareRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0xc0a9a9e))
	d := &doubts{sites: []site{{addr: 5, last: 6}, {addr: 17, last: 17}}}
	apart := 0
	for range 20000 {
		var a, b []ran
		off, at := int64(0), uint64(0)
		for range r.IntN(60) {
			if at++; r.IntN(4) == 0 {
				at = r.Uint64N(20)
			}
			off += int64(max(0, r.IntN(5)-3))
			x := ran{off, at, d.at(at, at+1)}
			if r.IntN(12) > 0 {
				a = append(a, x)
			}
			if r.IntN(12) > 0 {
				b = append(b, x)
			}
		}
		blocks := map[string]*flow.Block{}
		x, y := inRanges(d, a, blocks, r), inRanges(d, b, blocks, r)
		if !slices.Equal(x.window(0, len(a)), a) || !slices.Equal(y.window(0, len(b)), b) {
			t.Fatalf("%v and %v are kept as %v and %v", a, b, x.window(0, len(a)), y.window(0, len(b)))
		}
		var want, got marks
		told, tells := map[*site]bool{}, map[*site]bool{}
		w := compare(a, b, &want, func(s *site) { told[s] = true })
		g := x.setAgainst(y, &got, func(s *site) { tells[s] = true })
		if g != w || !slices.Equal(got.list, want.list) || fmt.Sprint(told) != fmt.Sprint(tells) {
			t.Fatalf("%v against %v: %v %d %v, want %v %d %v", a, b, got.list, g, tells, want.list, w, told)
		}
		if g < len(a) {
			apart++
		}
	}
	if apart < 5000 {
		t.Errorf("%d of 20000 part: too few", apart)
	}
}

// TestLists would catch lists that are kept though there are enough, or though they take much memory, and one that
// knows something of the code before.
func TestLists(t *testing.T) {
	var l Lists
	a, b := &doubts{sites: []site{{addr: 0x10, last: 0x10}}}, &doubts{sites: []site{{addr: 0x8, last: 0x8}, {addr: 0x20, last: 0x20}}}
	x := l.get(a)
	x.runsOne(1, 0x10, 1)
	x.runsOne(1, 0x20, 1)
	if len(x.met) != 1 || x.met[0].at != 0 {
		t.Fatalf("sites at %v, want the first", x.met)
	}
	first, second := x.list[0].b, x.list[1].b
	l.put(x)
	y := l.get(b)
	y.runs(first, 1, 1)
	y.runs(second, 1, 1)
	if y != x || y.n != 2 || len(y.met) != 1 || y.met[0].at != 1 {
		t.Errorf("used again: %v, %d instructions, sites at %v", y == x, y.n, y.met)
	}
	for range 2 * mostLists {
		l.put(&ranAs{})
	}
	if len(l.list) != mostLists {
		t.Errorf("%d lists are kept, want %d", len(l.list), mostLists)
	}
	l.list = nil
	l.put(&ranAs{list: make([]piece, 0, mostPieces+1)})
	if len(l.list) > 0 {
		t.Error("a list is kept that has room for many pieces")
	}
}
