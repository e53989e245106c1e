package repair

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// toggles returns the changes of two sites that go back and forth, each with an image that
// holds what lay there before.
func toggles() (pokes []kcore.Poke, read func(b []byte, addr uint64) int) {
	off, on := []byte("\x66\x90"), []byte("\xeb\x12")
	for i := range uint64(6) {
		for _, addr := range []uint64{0xffffffff81001000, 0xffffffff81002340} {
			p := kcore.Poke{Time: 100*i + addr>>8&0xf, Addr: addr, Old: bytes.Clone(off), New: bytes.Clone(on), Scheme: kcore.SchemeBP}
			p.Begin, p.End = p.Time, p.Time
			pokes = append(pokes, p)
		}
		off, on = on, off
	}
	return pokes, func(b []byte, addr uint64) int {
		if addr == 0xffffffff81001100 { // as much like the first change as the site itself
			return copy(b, "\x66\x90\xcc\xcc")
		}
		if addr != 0xffffffff81001000 && addr != 0xffffffff81002340 {
			for i := range b {
				b[i] = 0xcc
			}
			return len(b)
		}
		return copy(b, "\x66\x90\xcc\xcc")
	}
}

// TestPokes would catch a wrong byte that is not corrected, a right one that is made wrong,
// and what was corrected without being in doubt. It would be printed as certain.
func TestPokes(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(p *kcore.Poke)
		which  int // poke
	}{
		{"address", func(p *kcore.Poke) { p.Addr ^= 0x4000 }, 4},
		{"the first one's address", func(p *kcore.Poke) { p.Addr ^= 0x55 << 32 }, 0},
		{"old", func(p *kcore.Poke) { p.Old[1] ^= 0x41 }, 6},
		{"new", func(p *kcore.Poke) { p.New[0] ^= 0x41 }, 6},
		{"the last one's new", func(p *kcore.Poke) { p.New[1] ^= 0x41 }, 11},
		{"the first one's old", func(p *kcore.Poke) { p.Old[1] ^= 0x41 }, 1},
	} {
		want, read := toggles()
		got, _ := toggles()
		c.damage(&got[c.which])
		doubts := Pokes(got, nil, nil, read, nil)
		at := &want[c.which]
		if doubts.Wrong != 1 || !doubts.Has(at.Addr, at.Addr+1, event.Time{Lo: at.Time, Hi: at.Time}) {
			t.Errorf("%s: %d changes corrected; the code is in doubt: %v", c.name, doubts.Wrong, doubts.list)
		}
		for i := range want {
			if w, g := &want[i], &got[i]; w.Addr != g.Addr || !bytes.Equal(w.Old, g.Old) || !bytes.Equal(w.New, g.New) {
				t.Errorf("%s: poke %d is %x %x to %x, want %x %x to %x", c.name, i, g.Addr, g.Old, g.New, w.Addr, w.Old, w.New)
			}
		}
	}
}

// TestMended would catch a change that was mended, taken for certain where the changes
// beside it do not confirm it, and one that stays in doubt although they do.
func TestMended(t *testing.T) {
	pokes, read := toggles()
	p := &pokes[4]
	doubts := Pokes(pokes, []Mended{{p.Addr, p.Time, event.Time{Lo: p.Time - 20, Hi: p.Time + 20}}}, nil, read, nil)
	in := func(at uint64) bool { return doubts.Has(p.Addr, p.Addr+2, event.Time{Lo: at, Hi: at}) }
	if !in(p.Time-20) || !in(p.Time+20) || in(p.Time-21) || in(p.Time+21) || p.Begin != p.Time-20 || p.End != p.Time+20 {
		t.Errorf("confirmed by those beside it: in doubt %v", doubts.list)
	}
	pokes, _ = toggles()
	last := &pokes[10]
	doubts = Pokes(pokes, []Mended{{last.Addr, last.Time, event.Time{Lo: last.Time, Hi: last.Time}}}, nil, read, nil)
	before := pokes[8].Time
	if !doubts.Has(last.Addr, last.Addr+2, event.Time{Lo: before + 1, Hi: before + 1}) || !doubts.Has(last.Addr, last.Addr+2, event.Time{Lo: 1 << 60, Hi: 1 << 60}) {
		t.Errorf("confirmed by nothing: in doubt %v", doubts.list)
	}
	pokes, _ = toggles()
	made := make([]event.Time, len(pokes))
	made[4] = event.Time{Lo: 150, Hi: 250}
	doubts = Pokes(pokes, nil, made, read, nil)
	if !doubts.Has(p.Addr, p.Addr+2, event.Time{Lo: 160, Hi: 170}) || doubts.Has(p.Addr, p.Addr+2, event.Time{Lo: 251, Hi: 290}) {
		t.Errorf("a time that may be off: in doubt %v", doubts.list)
	}
}
