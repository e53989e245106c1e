package sim

import "github.com/ptdecode/ptdecode/coresight/etmv4"

// txStart tells that a transaction has started, behind the TSTART's own atom.
func (u *unitV4) txStart() {
	u.inTx = true
	if u.gone != here {
		return
	}
	u.flush()
	u.put(etmv4.Packet{Kind: etmv4.TxStart})
	if u.reg.V4.TransactionsP0() {
		u.p0(u.at)
		u.afterP0()
	}
}

// txCommit tells that the transaction is done; next is next to run.
func (u *unitV4) txCommit(next uint64) {
	u.inTx = false
	if u.gone != here {
		return
	}
	u.endQuiet(next)
	u.flush()
	u.put(etmv4.Packet{Kind: etmv4.TxCommit})
}

// txFail tells that the transaction failed before the instruction at from, and
// that the CPU goes on at to. No address says what ran behind the newest P0
// element: nothing tells of that.
func (u *unitV4) txFail(from, to uint64) {
	u.inTx = false
	if u.gone != here {
		return
	}
	u.endQuiet(from)
	u.flush()
	u.settle()
	u.put(etmv4.Packet{Kind: etmv4.Exception, Arg: 1 | 24<<1, Extra: 1<<8 | 0x70})
	u.push(0) // the address is unknown
	*u.insns = (*u.insns)[:u.atN]
	u.p0(to)
	u.target = true
	u.afterP0()
}
