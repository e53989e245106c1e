package flow

import (
	"math/rand/v2"
	"testing"
)

// TestCursorOrder would catch threads that are not in step because one has an
// outcome more in hand, and a thread that counts outcomes in hand as used.
func TestCursorOrder(t *testing.T) {
	var c cursor
	e := bits("tntt")
	before := c.pos()
	c.takeInHand(&e)
	if c.pos() <= before || c.n != 4 || c.q != 1 {
		t.Fatalf("with four outcomes in hand: %+v", c)
	}
	var got string
	for c.n > 0 {
		was := c.pos()
		got += map[bool]string{true: "t", false: "n"}[c.bit()]
		if c.pos() <= was {
			t.Errorf("behind outcome %d the cursor is not further on", c.used)
		}
	}
	if got != "tntt" || c.used != 4 || c.pos() != 1<<7 {
		t.Errorf("outcomes %s, %d used, pos %d", got, c.used, c.pos())
	}
	full := bits("tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt") // 64, the most
	if c.takeInHand(&full); c.pos() <= 1<<7 {
		t.Errorf("an event of 64 outcomes in hand counts as not begun: pos %d", c.pos())
	}
	if e = bits("n"); c.peek(&e)>>63 != 1 {
		t.Error("peek returns the next event's outcome, though one is in hand")
	}
}

// TestCursorLoops would catch a loop that is never told, and a straight way that is
// told as one.
func TestCursorLoops(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		lead, ring := rnd.IntN(100), 1+rnd.IntN(100)
		var c cursor
		n := 0
		for ip := 0; !c.loops(uint64(0x1000 + ip)); n++ {
			if ip++; ip == lead+ring {
				ip = lead
			}
		}
		if n > 4*(lead+ring) || n < ring {
			t.Errorf("a loop of %d blocks behind %d is told after %d", ring, lead, n)
		}
	}
	var c cursor
	for i := range maxIdle {
		if c.loops(uint64(i)) {
			t.Fatalf("block %d of a straight way counts as a loop", i)
		}
	}
	if !c.loops(maxIdle) {
		t.Errorf("%d blocks without an outcome do not count as a loop", maxIdle)
	}
}
