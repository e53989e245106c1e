package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Where code leads by itself, without a word of the trace.

// loopBlocks is how many blocks are executed without using an outcome or event
// before the way ahead is looked at.
const loopBlocks = 16

// circles reports whether the flow goes round for ever from t.ip: it comes to
// neither a decision nor the address at which an event stops it. What it can
// not tell without executing, because text is contested, it does not report.
func (c *reader) circles(t *thread, stop uint64, stops bool) bool {
	ip, mark := t.ip, t.ip
	for i := 1; i < maxIdle; i++ {
		b := c.block(t.space, ip, t.mode, t.lo, t.hi)
		if b == nil || b.N == 0 || b.spaceAt != 0 { // a MOV CR3 may end tracing
			return false
		}
		if stops && stop >= b.Addr && stop < b.End {
			if _, ok := b.Boundary(stop); ok {
				return false
			}
		}
		next, ok := b.silentNext()
		if !ok {
			return false
		}
		ip = next
		if ip == mark {
			return true
		}
		if i&(i-1) == 0 {
			mark = ip
		}
	}
	return true
}

// maxReach bounds how far reaches looks, blocks.
const maxReach = 64

// reaches reports whether t comes to ip without an outcome or a target; where
// its text is contested it is taken to.
func (c *reader) reaches(t *thread, ip uint64) bool {
	at := t.ip
	for range maxReach {
		if at == ip {
			return true
		}
		b := c.block(t.space, at, t.mode, t.lo, t.hi)
		if b == nil {
			return true
		}
		if n, ok := b.Boundary(ip); ok && n < int(b.N) {
			return true
		}
		next, ok := b.silentNext()
		if !ok {
			return false
		}
		at = next
	}
	return false
}

// bind makes e, a value that a PTWRITE wrote, a Status at that instruction.
// Without a FUP of its own a PTW packet is that of the next PTWRITE that is
// executed (Intel SDM, volume 3C, "PTWRITE (PTW) Packet"). Where that is not
// reached without an outcome, or the code is contested, e stays as it is.
func (c *reader) bind(t *thread, e *event.Event) {
	if e.Detail != event.DetailPTWrite || e.HasIP() || t.tail != nil {
		return
	}
	at, again := t.ip, t.wrote == t.ip // the PTWRITE at ip has had its packet
	for range maxReach {
		b := c.block(t.space, at, t.mode, t.lo, t.hi)
		if b == nil || b.N == 0 {
			return
		}
		ip, ok := c.writes(b, t.lo, again)
		if ok {
			e.Kind, e.IP = event.Status, ip
			e.Flags |= event.FlagIP
			return
		}
		again = false
		if at, ok = b.silentNext(); !ok {
			return
		}
	}
}

// writes returns the address of the first PTWRITE in b, but for its first
// instruction if that is done.
func (c *reader) writes(b *Block, at event.Epoch, done bool) (ip uint64, ok bool) {
	ip = b.Addr
	var buf [16]byte
	for _, l := range b.Lens {
		n, _ := c.text.Fetch(buf[:l], b.Space, ip, at)
		var in isa.Insn
		if c.dec.Decode(&in, buf[:n], ip, b.Mode) == isa.OK && in.Flags&isa.FlagPTWrite != 0 && !(done && ip == b.Addr) {
			return ip, true
		}
		ip += uint64(l)
	}
	return 0, false
}
