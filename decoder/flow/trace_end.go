package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// How tracing ends at a branch, and what errata do to the places that events
// state. Intel SDM, volume 3C, sections "Packet Generation Disable (TIP.PGD)"
// and "Filter Enable (FilterEn)".

// leaving reports whether a branch to ip ends tracing as e, a Disable, says:
// it states ip, or it states nothing and code at ip is filtered out. It states
// nothing at a conditional branch, at a compressed return, and at a direct one
// by erratum SKL014.
func (w *Walker) leaving(t *thread, e *event.Event, ip uint64) bool {
	if e.HasIP() {
		return e.IP == ip
	}
	if w.cfg.Traced == nil {
		return false
	}
	space := t.space
	if w.code.isKernel(ip) {
		space = 0
	}
	return !w.cfg.Traced(space, ip)
}

// left ends tracing as e, a Disable, says, at the branch at from. to is where
// that went, if the code alone says so and e does not; else 0.
func (w *Walker) left(t *thread, e *event.Event, from, to uint64) {
	t.notBefore(w.code.text, e)
	n := Note{Kind: NoteTrackOff, Event: *e, IP: from, Poke: -1}
	if !e.HasIP() && to != 0 {
		n.Event.IP = to
		n.Event.Flags |= event.FlagIP
	}
	w.note(t, n)
	t.on = false
	t.use()
}

// before reports whether e, by erratum, states the address behind b as its
// source although b's last instruction was not executed. That instruction was
// broken off, or leaves by an exception itself. Linux,
// tools/perf/util/intel-pt-decoder/intel-pt-decoder.c, intel_pt_fup_with_nlip,
// v6.12.
func (b *Block) before(e *event.Event) bool {
	return e.Flags&event.FlagNextIP != 0 && e.From == b.End &&
		(leaves.Has(b.Class) || b.Class == isa.SoftInt || b.Class == isa.Break)
}

// maxReach bounds how far reaches looks, blocks.
const maxReach = 64

// reaches reports whether t comes to ip without an outcome or a target; where
// its text is contested it is taken to.
func (w *Walker) reaches(t *thread, ip uint64) bool {
	at := t.ip
	for range maxReach {
		if at == ip {
			return true
		}
		b := w.code.block(t.space, at, t.mode, t.lo, t.hi)
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
