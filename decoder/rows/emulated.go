package rows

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// emulates returns the instruction that the handler of the trap r executed in
// place of the breakpoint. In a patch's window it is the first one of the new
// code. At a probe it is the one under the breakpoint, if the flow goes on where
// that leads. ok is false where this is not known.
func (n *Names) emulates(r *Row) (in isa.Insn, text []byte, ok bool) {
	return emulatedBy(n.machine(r), r)
}

// InPlace returns the instruction that the handler of a trap executed in place of the
// breakpoint, on the machine rec. It asks for the fields Trap, Poke, IP, Addr and HasAddr. ok
// is false where this is not known.
func (r *Row) InPlace(rec Recording) (in isa.Insn, ok bool) {
	in, _, ok = emulatedBy(rec, r)
	return in, ok
}

// returnsZero is what static_call writes where it calls a function that does nothing but return
// 0. The handler emulates the call of that function all the same
// (arch/x86/kernel/static_call.c, __static_call_transform, v6.1).
var returnsZero = []byte{0x2e, 0x2e, 0x2e, 0x31, 0xc0}

// emulatedBy is Names.emulates for a machine.
func emulatedBy(rec Recording, r *Row) (in isa.Insn, text []byte, ok bool) {
	if r.Poke < 0 {
		return in, nil, false
	}
	p := rec.Text().Poke(r.Poke)
	switch {
	case r.Trap == flow.TrapWindow && rec.Text().Journal().Traits(r.Poke).EmulatesNew && p.Addr == r.IP:
		if text = p.New; bytes.Equal(text, returnsZero) && r.HasAddr && r.Addr != r.IP+uint64(len(text)) {
			text = binary.LittleEndian.AppendUint32([]byte{0xe8}, uint32(r.Addr-r.IP)-uint32(len(text)))
		}
	case r.Trap == flow.TrapArmed && r.HasAddr:
		text = covered(rec, r)
	}
	if dec, mode := rec.ISA(); dec.Decode(&in, text, r.IP, mode) != isa.OK {
		return in, nil, false
	}
	next := r.IP + uint64(in.Len)
	jumps := in.Class == isa.Call || in.Class == isa.Jump || in.Class == isa.Cond
	ok = r.Trap == flow.TrapWindow || in.Class == isa.Return || r.Addr == next || jumps && r.Addr == in.Target
	return in, text[:in.Len], ok
}

// covered returns the code that a probe's breakpoint covers at r, and what
// follows it.
func covered(rec Recording, r *Row) []byte {
	text := rec.Text()
	dec, _ := rec.ISA()
	for _, i := range slices.Backward(text.Between(r.IP, 1, 0, event.Epoch(r.Poke)+1, nil)) {
		if p := text.Poke(i); p.Addr == r.IP && text.Journal().Traits(i).Arms && (len(p.Old) == 1 || dec.MaxLen() == len(p.Old)) {
			b := make([]byte, dec.MaxLen())
			return b[:rec.Code(b, 0, r.IP, event.Epoch(i))]
		}
	}
	return nil
}

// Emulated returns the instruction that the handler of the trap r executed in
// place of the breakpoint, disassembled, "" if that is not known.
func (n *Names) Emulated(r *Row) string {
	_, text, ok := n.emulates(r)
	if !ok {
		return ""
	}
	_, mode := n.machine(r).ISA()
	return n.machine(r).Format(text, r.IP, mode, func(addr uint64) (string, uint64) {
		p := n.At(r, addr)
		return p.start(addr)
	})
}

// Delay returns how long after the record of its poke the trap r was taken, ns,
// by the lower bound of its time. ok is false where one of the two is not known.
func (n *Names) Delay(r *Row) (ns int64, ok bool) {
	if r.Poke < 0 || r.Time.Lo == 0 {
		return 0, false
	}
	return int64(r.Time.Lo - n.Poke(r).Time), r.Time != event.Always
}
