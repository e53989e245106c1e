package rows

// callsBack is the calls that a stream is in, read backwards: a return enters and a call
// leaves. How deep it all lies turns out last, so depths count from where a thread was
// first seen, and fall below zero.
type callsBack struct {
	depths map[int32]*int // by TID
}

func newCallsBack() *callsBack { return &callsBack{depths: map[int32]*int{}} }

// depthOf returns the depth of the thread that ran at r.
func (c *callsBack) depthOf(m *Maker, r *Row) *int {
	tid, _ := m.names.Thread(r)
	d := c.depths[tid]
	if d == nil {
		d = new(int)
		c.depths[tid] = d
	}
	return d
}

// callRowBack is callTree.callRow, backwards.
func (c *callsBack) callRowBack(m *Maker, r *Row) (call Row, ok bool) {
	call = asCall(r)
	call.Depth, ok = stepBack(c.depthOf(m, r), m, r)
	return call, ok && m.lists(r)
}

// stepBack is taskCalls.step, backwards.
func stepBack(d *int, m *Maker, r *Row) (depth int, ok bool) {
	names := &m.names
	switch r.Transfer {
	case TransferReturn:
		if !m.o.Thunks && names.inKernel(r, r.IP, callsOn) {
			return *d, false
		}
		if names.entry(r) && names.inKernel(r, r.IP, leadsOn) {
			return *d - 1, true // as a retpoline jumps
		}
		*d++
		return *d - 1, names.entry(r)
	case TransferIret, TransferSysret:
		*d++
	case TransferCall:
		if m.skips(r) || !m.o.Thunks && r.HasAddr && names.inKernel(r, r.Addr, callsOn) {
			return *d, false
		}
		if names.inKernel(r, r.IP, leadsOn) {
			return *d, names.entry(r) // what it pushes, the thunk takes off itself
		}
		*d--
		return *d, names.entry(r)
	case TransferSyscall, TransferInt, TransferVMEntry, TransferInterrupt, TransferTrap, TransferAbort:
		*d--
		return *d, true
	case TransferTraceStart:
		return *d, true
	case TransferJump:
		return *d - 1, m.enters(r)
	}
	return 0, false
}

// settleDepths makes the depths of rows that were read backwards count from
// the outermost.
func settleDepths(rows []Row) {
	least := map[string]int{}
	for i := range rows {
		if r := &rows[i]; r.Kind == KindCall {
			least[r.Stream.Name] = min(least[r.Stream.Name], r.Depth)
		}
	}
	for i := range rows {
		rows[i].Depth -= least[rows[i].Stream.Name]
	}
}
