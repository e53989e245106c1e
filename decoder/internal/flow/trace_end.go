package flow

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// How tracing ends at a branch, and what errata do to the places that events
// state. Intel SDM, volume 3C, sections "Packet Generation Disable (TIP.PGD)"
// and "Filter Enable (FilterEn)".

// left ends tracing as e, a Disable, says, at the branch at from. to is where
// that went, if the code alone says so and e does not; else 0.
func (x *executor) left(t *thread, e *event.Event, from, to uint64) {
	t.notBefore(x.code.text, e)
	n := Note{Kind: NoteTrackOff, Event: *e, IP: from, Poke: -1}
	if !e.HasIP() && to != 0 {
		n.Event.IP = to
		n.Event.Flags |= event.FlagIP
	}
	x.out.note(t, n)
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
		(leaving.Has(b.Class) || b.Class == isa.SoftInt || b.Class == isa.Break)
}
