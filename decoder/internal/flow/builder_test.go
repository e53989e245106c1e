package flow

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// holed is a testText whose zeros, four or more in a row, say that nothing was mapped there.
type holed struct{ *testText }

// hole reports whether addr is among such zeros as of epoch at.
func (h holed) hole(addr uint64, at event.Epoch) bool {
	b := h.as(at)
	i := int(addr - h.addr)
	from, to := i, i
	for from > 0 && b[from-1] == 0 {
		from--
	}
	for to < len(b) && b[to] == 0 {
		to++
	}
	return i < to && to-from >= 4
}

func (h holed) cut(addr uint64, n int, at event.Epoch) string {
	s := h.testText.cut(addr, n, at)
	if s != "" && h.hole(addr, at) {
		return ""
	}
	return s
}

func (h holed) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	return h.fetch(dst, addr, at, h.cut)
}

// TestBuildHoles would catch a block that is kept for epochs in which zeros beside its instructions
// say that they are none, or no longer say so.
func TestBuildHoles(t *testing.T) {
	insns := []string{"\x90", "\x48\xb8" + strings.Repeat("\x00", 8), "\x66\x0f\x1f\x84" + strings.Repeat("\x00", 5), "\xe9\x10\x00\x00\x00", "\xc3", "\xb8\x01\x00\x00\x00",
		"\x2e\x2e\x2e\x2e\xc7\x84\x24\x10\x00\x00\x00\x00\x00\x00\x00", "\x00", "\x00\x00\x00", strings.Repeat("\x00", 7)}
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := holed{&testText{addr: 0x1000}}
		for len(h.bytes) < 300 {
			k := 0
			if rnd.IntN(3) > 0 {
				k = rnd.IntN(len(insns))
			}
			h.bytes = append(h.bytes, insns[k]...)
		}
		for i := range 6 {
			at := rnd.IntN(len(h.bytes) - 8)
			now, n := h.as(event.Epoch(i)), 1+rnd.IntN(6)
			p := testPoke{addr: 0x1000 + uint64(at), old: string(now[at : at+n]), time: uint64(i), batch: i}
			if p.new = strings.Repeat("\x00", n); p.old == p.new {
				p.new = strings.Repeat("\x90", n)
			}
			h.pokes = append(h.pokes, p)
		}
		for off := range len(h.bytes) {
			c, addr := testReader(h, NewCache()), 0x1000+uint64(off)
			var built [7]*Block
			for e := range built {
				built[e] = c.build(0, addr, isa.Mode64, event.Epoch(e), 0, maxInsns)
			}
			for e, x := range built {
				for f, y := range built {
					if x.Span.Has(event.Epoch(f)) && (x.End != y.End || x.N != y.N || x.Stop != y.Stop || x.Class != y.Class) {
						t.Fatalf("seed %d, %#x: the block of epoch %d is for %+v and has %d instructions, %v; that of epoch %d has %d, %v", seed, addr, e, x.Span, x.N, x.Stop, f, y.N, y.Stop)
					}
				}
			}
		}
	}
}

// TestBuildCutOff would catch a long instruction that zeros may cut off, and which is taken for one
// where it ends with what was fetched at once.
func TestBuildCutOff(t *testing.T) {
	for _, insn := range []string{"\x2e\x2e\x2e\x2e\xc7\x84\x24\x10\x00\x00\x00\x01\x00\x00\x00", "\x2e\xc7\x84\x24\x10\x00\x00\x00\x01\x00\x00\x00", "\xb8\x01\x00\x00\x00"} {
		for before := 200; before < 270; before++ {
			c := testReader(holed{&testText{addr: 0x1000, bytes: []byte(strings.Repeat("\x90", before) + insn + strings.Repeat("\x00", 32))}}, NewCache())
			if b := c.build(0, 0x1000, isa.Mode64, 0, 0, maxInsns); int(b.N) != before || b.Stop != event.NoText {
				t.Errorf("%d bytes behind %d: %d instructions, %v, want %d before what is cut off", len(insn), before, b.N, b.Stop, before)
			}
		}
	}
}

// TestBuildAlone would catch a block of which there are several versions, since code behind it changes that cannot tell
// whether an instruction is cut off.
func TestBuildAlone(t *testing.T) {
	h := holed{&testText{addr: 0x1000, bytes: []byte("\x90\xe8\x10\x00\x00\x00\x0f\x1f\x44\x00\x00\xc3" + strings.Repeat("\x90", 8))}}
	old, now := "\x0f\x1f\x44\x00\x00", "\xe9\xa4\x00\x00\x00"
	for i := range 6 {
		h.pokes = append(h.pokes, testPoke{addr: 0x1006, old: old, new: now, time: uint64(i), batch: i})
		old, now = now, old
	}
	for at := range event.Epoch(7) {
		c := testReader(h, NewCache())
		if b := c.build(0, 0x1000, isa.Mode64, at, 0, maxInsns); b.N != 2 || b.Span != event.EveryEpoch {
			t.Errorf("epoch %d: %d instructions for %+v, want 2 for all epochs", at, b.N, b.Span)
		}
	}
}
