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
	t.moves(e, x.cfg.Guests)
	if off := *e; !e.HasIP() && to != 0 {
		off.IP = to
		off.Flags |= event.FlagIP
		x.out.noteOf(t, NoteTrackOff, &off, from)
	} else {
		x.out.noteOf(t, NoteTrackOff, e, from)
	}
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

// leavesContext reports whether tracing ends, as e says, at a MOV CR3 in b: the
// trace unit filters by CR3. Where one goes on in the traced context, a PIP is
// sent. Intel SDM, volume 3C, table "Packet Generation under Different Enable
// Conditions", "MOV CR3".
func (b *Block) leavesContext(e *event.Event) bool {
	return b.spaceAt != 0 && e.Kind == event.Disable && e.Flags&(event.FlagIP|event.FlagCR3) == 0
}

// endsInside reports whether tracing ends, as e, a Disable, says, before the last
// instruction of b is executed, or may do so.
func (b *Block) endsInside(e *event.Event) bool {
	if e.HasIP() {
		return e.IP-b.Addr < b.End-b.Addr
	}
	return b.leavesContext(e)
}

// notTaken reports whether e ends in the outcome of a branch that was not taken:
// by such a one no flow leaves what the filter lets in.
func notTaken(e *event.Event) bool {
	return e.Kind == event.Outcomes && e.N != 0 && e.Value>>(64-e.N)&1 == 0
}

// abortedAt returns where a transaction's abort came, if e tells of one.
func abortedAt(e *event.Event) (ip uint64, ok bool) {
	switch e.Kind {
	case event.Status:
		return e.IP, e.Detail == event.DetailTxAbort && e.HasIP()
	case event.Async, event.AsyncDisable:
		return e.From, e.Flags&event.FlagAbort != 0
	}
	return 0, false
}

// targets reports whether e states a target.
func targets(e *event.Event) bool { return e != nil && e.Kind == event.Target && e.HasIP() }
