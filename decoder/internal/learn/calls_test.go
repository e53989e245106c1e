package learn

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestCalls would catch a return gone astray that is not counted, or not as one that skips
// calls. It would also catch one that is counted where the kernel itself writes the return
// address: in a retpoline, or when it switches tasks.
func TestCalls(t *testing.T) {
	const f, g, far = 0x2000, 0x3000, 0x8000
	type block struct {
		addr, end, target uint64
		class             isa.Class
	}
	call := block{0x1000, 0x1005, f, isa.Call}
	back := block{0x1005, 0x1006, 0, isa.Other}
	astray := block{far, far + 1, 0, isa.Other}
	ret := func(addr uint64) block { return block{addr, addr + 1, 0, isa.Return} }
	for _, x := range []struct {
		what   string
		blocks []block
		settle int // before this block
		want   int
		skips  int
	}{
		{"there and back", []block{call, ret(f), back}, -1, 0, 0},
		{"astray", []block{call, ret(f), astray}, -1, 1, 0},
		{"nested, the inner astray", []block{call, {f, f + 5, g, isa.Call}, ret(g), back}, -1, 1, 1},
		{"behind an older call, and that one returns no more", []block{call, {f, f + 5, g, isa.Call}, {g, g + 5, far, isa.Call}, ret(far), back, ret(0x1006), back}, -1, 1, 1},
		{"a return of a call that nobody saw", []block{ret(f), astray}, -1, 0, 0},
		{"a retpoline", []block{{0x1000, 0x1005, 0x1010, isa.Call}, ret(0x1010), {f, f + 1, 0, isa.Other}}, -1, 0, 0},
		{"a retpoline inside of a call", []block{call, {f, f + 5, f + 0x10, isa.Call}, ret(f + 0x10), ret(g), back}, -1, 0, 0},
		{"asks where it is", []block{{0x1000, 0x1005, 0x1005, isa.Call}, ret(0x1005), astray}, -1, 0, 0},
		{"a call of before it is right", []block{call, ret(f), astray}, 1, 1, 0},
		{"a call of when it is right", []block{call, ret(f), astray}, 0, 0, 0},
	} {
		var c Calls
		for i, b := range x.blocks {
			if i == x.settle {
				c.Settle()
			}
			c.Block(b.addr, b.end, b.target, b.class)
		}
		if c.Astray != x.want || c.Skipped != x.skips {
			t.Errorf("%s: %d astray, %d skip calls, want %d and %d", x.what, c.Astray, c.Skipped, x.want, x.skips)
		}
	}
	var c Calls
	c.Block(call.addr, call.end, call.target, call.class)
	c.Forget()
	c.Block(f, f+1, 0, isa.Return)
	c.Block(far, far+1, 0, isa.Other)
	if c.Astray != 0 {
		t.Errorf("another task's return: %d astray", c.Astray)
	}
}
