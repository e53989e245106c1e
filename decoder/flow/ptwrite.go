package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
)

// bind makes e, a value that a PTWRITE wrote, a Status at that instruction.
// Without a FUP of its own a PTW packet is that of the next PTWRITE that is
// executed (Intel SDM, volume 3C, "PTWRITE (PTW) Packet"). Where that is not
// reached without an outcome, or the code is contested, e stays as it is.
func (w *Walker) bind(t *thread, e *event.Event) {
	if e.Detail != event.DetailPTWrite || e.HasIP() || t.tail != nil {
		return
	}
	at, again := t.ip, t.wrote == t.ip // the PTWRITE at ip has had its packet
	for range maxReach {
		b := w.code.block(t.space, at, t.mode, t.lo, t.hi)
		if b == nil || b.N == 0 {
			return
		}
		ip, ok := w.code.writes(b, t.lo, again)
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
