package repair

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
)

var (
	testNop  = []byte("\x0f\x1f\x44\x00\x00")
	testCall = []byte("\xe8\x10\x20\x30\x00")
)

// text returns what reads an image of kernel text: code at addresses, and INT3 beside it.
func text(code map[uint64][]byte) func(b []byte, addr uint64) int {
	const base, size = 0xffffffff81000000, 1 << 20
	img := bytes.Repeat([]byte{0xcc}, size)
	for a, b := range code {
		copy(img[a-base:], b)
	}
	return func(b []byte, addr uint64) int {
		if addr < base || addr >= base+size {
			return 0
		}
		return copy(b, img[addr-base:])
	}
}

// TestMovedElsewhere would catch a change whose address is wrong, moved to where it does not
// belong, while the code at its true address counts as certain.
func TestMovedElsewhere(t *testing.T) {
	const right, damaged, other = 0xffffffff81012340, 0xffffffff81012370, 0xffffffff81012570
	beside := kcore.Poke{Addr: other, Time: 50, Begin: 50, End: 50, Old: testCall, New: testNop}
	later := kcore.Poke{Addr: right, Time: 300, Begin: 300, End: 300, Old: testCall, New: testNop}
	for _, x := range []struct {
		name  string
		code  map[uint64][]byte
		pokes []kcore.Poke // further ones
		to    uint64
		early bool // in doubt before the change, too
		until uint64
	}{
		{"the image is of later, and another NOP is near", map[uint64][]byte{right: testCall, other: testNop}, nil, damaged, true, math.MaxUint64},
		{"the image is of later", map[uint64][]byte{right: testCall}, nil, damaged, true, math.MaxUint64},
		{"the image has a NOP elsewhere", map[uint64][]byte{other: testNop}, nil, other, false, math.MaxUint64},
		{"it follows a change elsewhere", map[uint64][]byte{other: testCall, right: testNop}, []kcore.Poke{beside}, other, false, math.MaxUint64},
		{"the next change of the site is known", map[uint64][]byte{right: testNop, other: testNop}, []kcore.Poke{later}, right, true, 300},
	} {
		pokes := append([]kcore.Poke{{Addr: damaged, Time: 100, Begin: 100, End: 100, Old: testNop, New: testCall}}, x.pokes...)
		d := Pokes(pokes, nil, nil, text(x.code), nil)
		in := func(addr, at uint64) bool { return d.Has(addr, addr+5, event.Time{Lo: at, Hi: at}) }
		if pokes[0].Addr != x.to || in(right, 50) != x.early || !in(right, 100) || !in(right, min(x.until, 1<<60)) || !in(damaged, 200) {
			t.Errorf("%s: at %#x, want %#x; right site in doubt before: %t, behind: %t %t", x.name, pokes[0].Addr, x.to, in(right, 50), in(right, 100), in(right, min(x.until, 1<<60)))
		}
	}
}

// loneChanges returns n changes of as many sites, and an image that contradicts all.
func loneChanges(n int) (pokes []kcore.Poke, read func(b []byte, addr uint64) int) {
	for i := range n {
		at := uint64(100 + i)
		pokes = append(pokes, kcore.Poke{Addr: 0xffffffff81000000 + uint64(i)*16, Old: testNop, New: testCall, Time: at, Begin: at, End: at})
	}
	return pokes, text(nil)
}

// TestAstrayCount would catch doubt that is listed address by address, which takes memory by
// the thousandfold of the changes, and doubt of what nothing contradicts.
func TestAstrayCount(t *testing.T) {
	const n = 1000
	pokes, read := loneChanges(n)
	d := Pokes(pokes, nil, nil, read, nil)
	if len(d.strays.list) != n || len(d.list) > (mostHeld+4)*n || len(d.strays.by) > 8*n || len(d.strays.sites) > n {
		t.Errorf("%d changes: %d astray, %d doubts, %d blocks, %d sites", n, len(d.strays.list), len(d.list), len(d.strays.by), len(d.strays.sites))
	}
	d = Pokes(pokes, nil, nil, nil, nil)
	if len(d.strays.list) != 0 || len(d.list) > 4*n || d.Has(pokes[0].Addr^0x70<<24, pokes[0].Addr^0x70<<24+5, event.Always) {
		t.Errorf("no image: %d astray, %d doubts", len(d.strays.list), len(d.list))
	}
}

// TestTries would catch changes that read the image without end, and ones that count as
// certain where nothing was looked for any more.
func TestTries(t *testing.T) {
	const n = 6000 // of which each reads 2,040 times
	pokes, image := loneChanges(n)
	reads := 0
	d := Pokes(pokes, nil, nil, func(b []byte, addr uint64) int { reads++; return image(b, addr) }, nil)
	if most := mostTries + 40*n; reads > most || reads < mostTries/2 {
		t.Errorf("%d changes read the image %d times, want at most %d", n, reads, most)
	}
	for i := range pokes {
		a := pokes[i].Addr ^ 0x01<<20
		if !d.Has(a, a+5, event.Time{Lo: 1 << 40, Hi: 1 << 40}) {
			t.Fatalf("change %d of %d: code near it is not in doubt", i, n)
		}
	}
	r := repairer{tries: mostTries, read: image}
	if r.astray(&pokes[0]); r.strays.list[0].from > 0 {
		t.Error("where nothing was looked for, the image may be of later, and the code is not in doubt before the change")
	}
}

// TestStrays would catch code near a change that went astray that is not in doubt, and other
// code that is: against a list of all 2,040 addresses of each change.
func TestStrays(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	addr := func() uint64 {
		a := uint64(0xffffffffffff0000)
		for range 1 + rnd.IntN(2) { // addresses near each other, and near 2^64
			a ^= []uint64{0, 3, 0x11, 0xfb, 0xff}[rnd.IntN(5)] << (8 * rnd.IntN(8))
		}
		return a + []uint64{0, 0, 1, 0x7fff, 0xffff}[rnd.IntN(5)]
	}
	hits, rounds := 0, testsize.Of(t, 20, 60)
	for round := range rounds {
		r := repairer{sites: map[uint64][]*kcore.Poke{}, read: text(nil)}
		var slow []Doubt
		for i := range uint64(4) {
			p := &kcore.Poke{Addr: addr(), Time: 10 * i, Begin: 10 * i, End: 10*i + 3, Old: make([]byte, 1+rnd.IntN(12))}
			if r.sites[p.Addr] == nil {
				r.sites[p.Addr] = []*kcore.Poke{p}
				r.astray(p)
			}
		}
		for _, x := range r.strays.list {
			for a := range oneByteFrom(x.addr) {
				d := Doubt{a, endOf(a, x.n), event.Time{Lo: x.from, Hi: math.MaxUint64}}
				if site := r.sites[a]; len(site) > 0 && site[0].Time > x.time {
					d.Lo, d.Hi = 0, site[0].End
				}
				slow = append(slow, d)
			}
		}
		r.index()
		for range 400 {
			a, at := addr()-uint64(rnd.IntN(3)), uint64(rnd.IntN(45))
			end := endOf(a, uint64(1+rnd.IntN(600)))
			want := false
			for _, d := range slow {
				want = want || d.Addr < end && a < d.End && d.Lo <= at && at <= d.Hi
			}
			got := r.strays.has(a, end, event.Time{Lo: at, Hi: at})
			for _, d := range r.doubts {
				got = got || d.Addr < end && a < d.End && d.Lo <= at && at <= d.Hi
			}
			if got != want {
				t.Fatalf("round %d: [%#x, %#x) at %d is in doubt: %t, want %t; %x", round, a, end, at, got, want, r.strays.list)
			}
			if want {
				hits++
			}
		}
	}
	if all := 400 * rounds; hits < all/24 || hits > all*23/24 {
		t.Errorf("%d of %d are in doubt: the test shows nothing", hits, all)
	}
}
