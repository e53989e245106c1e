package sim

// tx is the transaction that a CPU is in (DDI0487, "The Transactional Memory
// Extension").
type tx struct {
	depth int    // how many are nested; 0: in none
	next  uint64 // behind the outermost TSTART, where it goes on if it fails
	stack int    // return addresses then
}

// transaction writes one, and the way round it that is taken where it failed.
func (g *genArm) transaction(nest int) {
	out := g.a.newLabel()
	g.a.raw(a64TSTART | 3)
	g.flags[g.a.here()] |= flagTx
	g.ref64(a64CBZ|1<<31|1<<24|3, imm19, out)
	g.block(nest+1, g.statement)
	if g.tx.one(2) {
		on := g.a.newLabel()
		g.flags[g.a.here()] |= flagLikely
		g.d.condTo(g, on, true)
		g.a.raw(a64TCANCEL | uint32(g.tx.n(1<<16))<<5)
		g.a.bind(on)
	}
	g.a.raw(a64TCOMMIT)
	g.a.bind(out)
}

// begin enters a transaction; next is what lies behind its TSTART.
func (c *cpuArm) begin(next uint64) {
	u := c.u.(*unitV4)
	u.outcome(true, next)
	if c.tx.depth++; c.tx.depth == 1 {
		c.tx.next, c.tx.stack = next, len(c.stack)
		u.txStart()
	}
}

// commit ends the innermost transaction; next is what lies behind its TCOMMIT.
func (c *cpuArm) commit(next uint64) {
	if c.tx.depth--; c.tx.depth == 0 {
		c.u.(*unitV4).txCommit(next)
	}
}

// abort fails the transaction and returns where the CPU goes on. What ran in it
// has no effect, but it ran: the trace has told of it, up to some branch.
func (c *cpuArm) abort() uint64 {
	c.u.(*unitV4).txFail(c.ip, c.tx.next)
	c.stack, c.tx.depth = c.stack[:c.tx.stack], 0
	c.t += 1 + c.r.n(20)
	return c.tx.next
}

// conflicts reports whether a transaction fails at in: because that cancels it or
// enters an exception, or because another CPU wrote what it has read.
func (c *cpuArm) conflicts(in *insn) bool {
	if c.tx.depth == 0 {
		if in.op == opTxStart { // no Q hides it
			c.u.(*unitV4).endQuiet(c.ip)
		}
		return false
	}
	switch in.op {
	case opTxCancel, opInt3, opBad, opInt:
		return true
	}
	return c.r.one(64)
}
