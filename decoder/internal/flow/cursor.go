package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// cursor is a thread's place among the events: the outcomes that it has in hand,
// and the event that it uses next.
type cursor struct {
	bits uint64 // outcomes in hand, the oldest in bit 63
	n    int    // how many
	held int    // which of the last so many of bits are in hand is open; n is 0 then
	q    int    // index of the next event
	idle int    // blocks since an outcome or event was used
	mark uint64 // an address that the flow had since, to find loops
	used int    // outcomes and targets that step used; only differences count
}

// pos orders threads by the outcomes and events they have used: threads with equal pos have
// used the same ones. The outcomes in hand, 64 at most, are of the event before q. So each
// one used brings pos nearer to the place of q.
func (c *cursor) pos() int { return c.q<<7 - c.n }

// use counts the event at q as used.
func (c *cursor) use() {
	c.q++
	c.idle = 0
}

// takeInHand takes the outcomes of e, the event at q, in hand.
func (c *cursor) takeInHand(e *event.Event) {
	c.bits, c.n = e.Value, int(e.N)
	c.use()
}

// bit spends the oldest outcome.
func (c *cursor) bit() bool {
	taken := c.bits>>63 != 0
	c.bits <<= 1
	c.n--
	c.used++
	c.idle = 0
	return taken
}

// peek returns the outcomes in hand, or those that e has where there are none.
func (c *cursor) peek(e *event.Event) uint64 {
	if c.n > 0 {
		return c.bits
	}
	return e.Value
}

// loops counts a block at ip that is executed without using an outcome or event, and
// reports whether the flow goes round without end. It does if it had this address since
// the last one used (Brent's cycle finding), or if there were too many blocks. The first few
// are not looked at: the fast walk does not look at them either.
func (c *cursor) loops(ip uint64) bool {
	c.idle++
	if c.idle&(c.idle-1) == 0 {
		c.mark = ip
		return false
	}
	return ip == c.mark && c.idle > loopBlocks || c.idle > maxIdle
}
