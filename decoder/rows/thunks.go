package rows

// A thunk that is not listed is part of the call that it serves. The branch from it to the
// function says what the thunk is made of: a retpoline's is a return. So the row of the call
// says how the thunk was entered: by a call, or by a jump in place of one.
//
// Between both branches lie only those from thunk to thunk. If anything else comes, as an
// interrupt, the row says how the thunk was left. So it is the same in both directions.

// stillLed stands for how a thunk was entered where that is not known yet.
const stillLed = numTransfers

// led returns how the thunk was entered that r leads to. It is before where r leads from
// thunk to thunk, or to nowhere else, and NoTransfer where r leads to no thunk.
func (m *Maker) led(r *Row, before Transfer) Transfer {
	switch n := &m.names; {
	case m.o.Thunks || !r.HasAddr:
	case r.Transfer == TransferCond, r.Transfer == TransferCall && m.skips(r):
		return before // none lies in a thunk, or it is the call of a retpoline
	case !n.leadsOn(r, r.Addr):
	case n.leadsOn(r, r.IP):
		return before
	case (r.Transfer == TransferCall || r.Transfer == TransferJump) && n.toFunction(r, r.Addr):
		return r.Transfer
	}
	return NoTransfer
}

// leaves reports whether r leaves a thunk that is not listed, as thunks do.
func (m *Maker) leaves(r *Row) bool {
	return !m.o.Thunks && (r.Transfer == TransferReturn || r.Transfer == TransferJump) && m.names.leadsOn(r, r.IP)
}

// madeBy has call say how it was made: r leaves a thunk for the function, which was entered as
// led says.
func (m *Maker) madeBy(call, r *Row, led Transfer) {
	if led != NoTransfer && m.leaves(r) {
		call.Transfer = led
	}
}

// servedCall is, backwards, the row of a call that a thunk serves, and its place. It waits for
// the branch to the thunk.
type servedCall struct {
	waits bool
	place place
	row   Row
}

// serves makes the row of the last call wait.
func (f *folder) serves() error {
	f.served = servedCall{waits: true, place: f.m.queue.reserve(), row: f.call.Clone()}
	return nil
}

// entered takes, backwards, the branch r, or nil where the flow is not seen: the call that
// waits was made by it.
func (f *folder) entered(r *Row) error {
	s := &f.served
	if !s.waits {
		return nil
	}
	if r != nil {
		switch led := f.m.led(r, stillLed); led {
		case stillLed:
			return nil
		case NoTransfer:
		default:
			s.row.Transfer = led
		}
	}
	s.waits = false
	return f.m.queue.fill(s.place, func() error { return f.put(&s.row) })
}
