package repair

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// probe returns the changes of a site that a probe makes: one byte, then five, and back; and
// an image that holds what lay there before.
func probe() (pokes []kcore.Poke, read func(b []byte, addr uint64) int) {
	const addr = 0xffffffff81001000
	for i, x := range [][2]string{{"\x41", "\xcc"}, {"\xccUI\x89\xf5", "\xe9\xa6\xaa\xa7\x2f"}, {"\xe9\xa6\xaa\xa7\x2f", "\xccUI\x89\xf5"}, {"\xcc", "\x41"}} {
		p := kcore.Poke{Time: uint64(100 + 100*i), Addr: addr, Old: []byte(x[0]), New: []byte(x[1]), Scheme: kcore.SchemeBP}
		p.Begin, p.End = p.Time, p.Time
		pokes = append(pokes, p)
	}
	slot := kcore.Poke{Time: 150, Addr: addr + 5 + 0x2fa7aaa6, New: []byte("UI\x89\xf5"), Scheme: kcore.SchemeSlot, Begin: 150, End: 150}
	pokes = append(pokes, slot)
	return pokes, func(b []byte, at uint64) int {
		if at == addr {
			return copy(b, "\x41UI\x89\xf5\x90\x90\x90")
		}
		for i := range b {
			b[i] = 0x90
		}
		return len(b)
	}
}

// TestProbe would catch a wrong byte that is not corrected, of changes of different lengths at
// one address. One that nothing beside it confirms must be in doubt.
func TestProbe(t *testing.T) {
	for i := range 4 {
		for k := range 6 {
			for _, left := range []bool{false, true} {
				want, read := probe()
				got, _ := probe()
				if _, ok := byteOf(&got[i], k, left); !ok && k < 5 {
					continue
				}
				switch {
				case k == 5 && !left:
					got[i].Addr ^= 0x2400
				case k == 5:
					got[i].Addr ^= 0x31
				default:
					b, _ := byteOf(&got[i], k, left)
					setByte(&got[i], k, left, b^0x55)
				}
				what := fmt.Sprintf("poke %d, byte %d, new %t", i, k, left)
				doubts := Pokes(got, nil, nil, read, nil)
				at := want[i].Time
				if !doubts.Has(want[i].Addr, want[i].Addr+5, event.Time{Lo: at, Hi: at}) {
					t.Errorf("%s: not in doubt", what)
				}
				for j := range want {
					if w, g := &want[j], &got[j]; w.Addr != g.Addr || !bytes.Equal(w.Old, g.Old) || !bytes.Equal(w.New, g.New) {
						t.Errorf("%s: poke %d is %x %x to %x, want %x %x to %x", what, j, g.Addr, g.Old, g.New, w.Addr, w.Old, w.New)
					}
				}
			}
		}
	}
}

// TestJumps would catch a wrong byte of a jump label's two changes that is not corrected: by what
// the image holds, and by where instructions begin. All are four bytes long here but for the
// site, and one in four wrong bytes leads to another. A wrong byte may also be the other code's.
func TestJumps(t *testing.T) {
	const addr, around = 0xffffffff81001000, 256
	for _, x := range [][2]string{{"\x66\x90", "\xeb\x26"}, {"\x0f\x1f\x44\x00\x00", "\xe9\x93\x00\x00\x00"}} {
		nop, jump := x[0], x[1]
		image := bytes.Repeat([]byte("\x48\x8b\x7b\x08"), 2*around/4)
		copy(image[around:], nop+"\x90\x90\x90\x90\x90\x90"[:8-len(nop)])
		read := func(b []byte, at uint64) int {
			if at < addr-around || at >= addr+around {
				return 0
			}
			return copy(b, image[at-(addr-around):])
		}
		for place := range 4 * len(nop) {
			i, left, k := place&1, place&2 != 0, place/4
			for by := 1; by < 256; by++ {
				pokes := []kcore.Poke{
					{Time: 100, Begin: 100, End: 100, Addr: addr, Old: []byte(nop), New: []byte(jump), Scheme: kcore.SchemeBP},
					{Time: 200, Begin: 200, End: 200, Addr: addr, Old: []byte(jump), New: []byte(nop), Scheme: kcore.SchemeBP},
				}
				b, _ := byteOf(&pokes[i], k, left)
				setByte(&pokes[i], k, left, b^byte(by))
				wrong := pokes[i].Old
				if left {
					wrong = pokes[i].New
				}
				if to, ok := leadsTo(addr, wrong); ok && left == (i == 0) && (to%4 == 0 || to-addr < 8) {
					continue // this jump is as likely
				}
				if wrong[k] == nop[k] || wrong[k] == jump[k] {
					continue
				}
				doubts := Pokes(pokes, nil, nil, read, nil)
				if string(pokes[0].Old) != nop || string(pokes[0].New) != jump || string(pokes[1].Old) != jump || string(pokes[1].New) != nop {
					t.Errorf("% x, change %d had % x: % x to % x, % x to % x", jump, i, wrong, pokes[0].Old, pokes[0].New, pokes[1].Old, pokes[1].New)
				}
				if at := pokes[i].Time; !doubts.Has(addr, addr+1, event.Time{Lo: at, Hi: at}) {
					t.Errorf("% x, change %d had % x: not in doubt", jump, i, wrong)
				}
			}
		}
	}
}

// TestTwoMoved would catch two changes in a row of one site that are lost where the addresses
// of both are wrong: neither fits alone on both sides. Where both lead back to what was,
// nothing tells that they are missing, and the code is in doubt meanwhile.
func TestTwoMoved(t *testing.T) {
	for _, x := range []struct {
		third string
		wrong int
	}{{"\xeb\x34", 2}, {"\xeb\x12", 0}} {
		want, read := toggles()
		got, _ := toggles()
		for _, list := range [][]kcore.Poke{want, got} {
			list[6].Old, list[4].New = []byte(x.third), []byte(x.third)
		}
		got[2].Addr ^= 0x7000
		got[4].Addr ^= 0x31
		second, third := want[2].Addr, want[4].Addr
		if x.wrong == 0 {
			second, third = got[2].Addr, got[4].Addr
		}
		doubts := Pokes(got, nil, nil, read, nil)
		at := event.Time{Lo: want[2].Time + 10, Hi: want[2].Time + 10}
		if doubts.Wrong != x.wrong || got[2].Addr != second || got[4].Addr != third || !doubts.Has(want[2].Addr, want[2].Addr+2, at) {
			t.Errorf("%q: %d corrected, want %d: %x, %x, want %x, %x, in doubt", x.third, doubts.Wrong, x.wrong, got[2].Addr, got[4].Addr, second, third)
		}
	}
}

// TestCopies would catch a wrong byte of a trampoline that is not corrected by the code that it
// is a copy of. Displacements are not wrong, and no right byte may become another
// trampoline's.
func TestCopies(t *testing.T) {
	const template, first, second = 0xffffffff81000100, 0xffffffffc03d5000, 0xffffffffc03d7000
	code := make([]byte, 120)
	for i := range code {
		code[i] = byte(7*i + i/5)
	}
	call := func(addr uint64) []byte { // at 60 is where the function lies, by a displacement
		b := bytes.Clone(code)
		rel := uint32(0xffffffff81777700 - (addr + 64))
		b[60], b[61], b[62], b[63] = byte(rel), byte(rel>>8), byte(rel>>16), byte(rel>>24)
		return b
	}
	image := func(b []byte, addr uint64) int {
		if addr < template || addr >= template+120 {
			return 0
		}
		return copy(b, call(template)[addr-template:])
	}
	find := func(b []byte) (at []uint64) {
		if i := bytes.Index(call(template), b); i >= 0 {
			at = append(at, template+uint64(i))
		}
		return at
	}
	for _, x := range []struct {
		name  string
		find  func(b []byte) []uint64
		wrong int // bytes that are corrected
	}{{"with a template", find, 1}, {"without", nil, 0}} {
		for k := range 120 {
			if k < equalBy || k >= 120-equalBy-1 || k > 60-equalBy-1 && k < 64+equalBy {
				continue
			}
			var pokes []kcore.Poke
			for i, addr := range []uint64{first, second} {
				pokes = append(pokes, kcore.Poke{Time: uint64(100 + i), Addr: addr, New: call(addr), Scheme: kcore.SchemeSlot})
			}
			pokes[1].New[k] ^= 0x8e
			d := Pokes(pokes, nil, nil, image, x.find)
			if d.Wrong != x.wrong || !bytes.Equal(pokes[0].New, call(first)) || x.wrong == 1 && !bytes.Equal(pokes[1].New, call(second)) {
				t.Errorf("%s, byte %d: %d corrected, % x and % x", x.name, k, d.Wrong, pokes[0].New, pokes[1].New)
			}
			if !d.Has(second, second+120, event.Time{Lo: 200, Hi: 200}) {
				t.Errorf("%s, byte %d: not in doubt", x.name, k)
			}
		}
	}
}
