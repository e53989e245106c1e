package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

func testReader(x Text, c *Cache) *reader {
	r := newReader(x, c, x86.Decoder{}, &ptRules, isa.UpperHalf)
	return &r
}

// TestReaderBlock would catch a block that is not true for all that the clock
// allows, and one that stays in the private table when its code has changed. It
// would also catch walkers that do not share what they read.
func TestReaderBlock(t *testing.T) {
	cache := NewCache()
	a, b := testReader(toggles(10), cache), testReader(toggles(10), cache)
	for range 3 {
		for at := range event.Epoch(11) {
			x := a.block(0, 0x1000, isa.Mode64, at, at)
			if y := b.block(0, 0x1000, isa.Mode64, at, at); x == nil || x != y || !x.Span.Has(at) {
				t.Fatalf("epoch %d: %p and %p, %+v", at, x, y, x)
			}
			if want := uint64(0x1007 - 2*(at&1)); x.End != want {
				t.Errorf("epoch %d: the block ends at %#x, want %#x", at, x.End, want)
			}
			if at > 0 && a.block(0, 0x1000, isa.Mode64, at-1, at) != nil {
				t.Errorf("epochs %d to %d have one block", at-1, at)
			}
		}
	}
	if plain := a.block(0, 0x1011, isa.Mode64, 0, 10); plain == nil || plain.Span != event.EveryEpoch {
		t.Errorf("code that is not poked: %+v", plain)
	}
}

// TestReaderSpace would catch the kernel read once for each program, and code of
// one program or of a virtual machine taken for another's.
func TestReaderSpace(t *testing.T) {
	c := testReader(code(nil), NewCache())
	const user, kernel = 0x1000, isa.UpperHalf
	for _, x := range []struct {
		space uint32
		addr  uint64
		want  uint32
	}{{0, user, 0}, {5, user, 5}, {5, kernel, 0}, {5, kernel - 1, 5}, {guestSpace, user, guestSpace}, {guestSpace, kernel, guestSpace}} {
		if got := c.spaceOf(x.space, x.addr); got != x.want {
			t.Errorf("space %d, %#x: %d, want %d", x.space, x.addr, got, x.want)
		}
	}
	if c.block(5, kernel, isa.Mode64, 0, 0) != c.block(6, kernel, isa.Mode64, 0, 0) || c.block(5, user, isa.Mode64, 0, 0) == c.block(6, user, isa.Mode64, 0, 0) {
		t.Error("the kernel is not one, or programs are")
	}
}

// TestReaderTells would catch a reader that reads code and does not tell who watches that, be it for
// the first time or known from before. Nobody need watch.
func TestReaderTells(t *testing.T) {
	for name, read := range map[string]func(c *reader){
		"block": func(c *reader) { c.block(0, 0x1000, isa.Mode64, 3, 3) },
		"read":  func(c *reader) { c.read(0, 0x1000, isa.Mode64, 3, 0, 1) },
		"insn":  func(c *reader) { c.insn(0x1000, isa.Mode64, 3) },
	} {
		c := testReader(toggles(10), NewCache())
		read(c)
		for range 2 {
			c.watch = new(Watch)
			if read(c); c.watch.Has(0xf00, 0x1000) || !c.watch.Has(0x1000, 0x1001) || c.watch.Has(0x1100, 0x1200) {
				t.Errorf("%s: not what lies at 0x1000 is told, and no more", name)
			}
		}
	}
}

// TestReaderRead would catch what was read as of one epoch or up to one limit given
// for another, and an instruction that is not that of its epoch.
func TestReaderRead(t *testing.T) {
	c := testReader(toggles(4), NewCache())
	for range 2 {
		for at := range event.Epoch(5) {
			one := c.read(0, 0x1000, isa.Mode64, at, 0, 1)
			if one.N != 1 || one.End != 0x1005 || (at&1 == 1) != (one.Class == isa.Jump) {
				t.Errorf("epoch %d: one instruction: %+v", at, one)
			}
			if in, ok := c.insn(0x1000, isa.Mode64, at); !ok || in.Class != one.Class {
				t.Errorf("epoch %d: %+v, %v", at, in, ok)
			}
		}
		if b := c.read(0, 0x1000, isa.Mode64, 0, 0x1005, maxInsns); b.End != 0x1005 {
			t.Errorf("up to 0x1005: to %#x", b.End)
		}
		if b := c.read(0, 0x1000, isa.Mode64, 0, 0, maxInsns); b.End != 0x1007 {
			t.Errorf("without a limit: to %#x", b.End)
		}
	}
}
