package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// bind makes e, which holds what a PTWRITE wrote, a Status at that instruction:
// without a FUP of its own a PTW packet is that of the next PTWRITE that is
// executed (Intel SDM, volume 3C, "PTWRITE (PTW) Packet"). Where that is not
// reached without an outcome, or the text is contested, e stays as it is.
func (w *Walker) bind(t *thread, e *event.Event) {
	if e.Detail != event.DetailPTWrite || e.HasIP() || t.tail != nil {
		return
	}
	at, again := t.ip, t.wrote == t.ip // the PTWRITE at ip has had its packet
	for range maxReach {
		b := w.block(t.space, at, t.mode, t.lo, t.hi)
		if b == nil || b.N == 0 {
			return
		}
		ip, ok := w.writes(t, b, again)
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
func (w *Walker) writes(t *thread, b *Block, done bool) (ip uint64, ok bool) {
	ip = b.Addr
	var buf [16]byte
	for _, l := range b.Lens {
		n, _ := w.text.Fetch(buf[:l], b.Space, ip, t.lo)
		var in isa.Insn
		if w.cfg.ISA.Decode(&in, buf[:n], ip, b.Mode) == isa.OK && in.Flags&isa.FlagPTWrite != 0 && !(done && ip == b.Addr) {
			return ip, true
		}
		ip += uint64(l)
	}
	return 0, false
}
