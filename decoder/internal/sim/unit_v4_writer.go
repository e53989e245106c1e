package sim

import (
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
)

// writerV4 writes the packets of one ETMv4 or ETE trace unit. It holds what their
// forms depend on: what was sent before, and the context.
type writerV4 struct {
	cfg *Config
	r   rnd
	reg coresight.Config
	out []byte
	sentLog

	hist  [3]uint64 // addresses sent, the newest first; bit 0: T32
	ctx   bool      // a context is to be sent with the next address
	cid   uint32    // context ID
	vmid  uint32
	level uint8   // exception level
	under []uint8 // those that exceptions came from, the newest last
	moves rnd     // where exceptions lead

	now   uint64 // ticks, as of the last tick
	stamp uint64 // the timestamp sent last; 0 behind a Trace Info
	due   uint64 // the time that a marker stands for, ticks, its timestamp not yet sent; 0: none
	cycT  uint64 // ticks up to which cycles were counted
}

// put appends a packet.
func (w *writerV4) put(p etmv4.Packet) {
	w.note(len(w.out))
	w.out = p.Append(w.out)
}

// putAtoms appends packets of n atoms, the newest in bit 0.
func (w *writerV4) putAtoms(atoms uint64, n int) {
	if n > 0 {
		w.note(len(w.out))
	}
	w.out = etmv4.AppendAtoms(w.out, atoms, n)
}

// short is how many low bits of an address a short packet of one and of two
// bytes replaces, by instruction set.
var short = [2][2]int{{9, 17}, {8, 16}}

// address states address a, in any form that holds it, and the context where
// that is due; one: in one packet.
func (w *writerV4) address(a uint64, one bool) {
	is := uint8(a & 1)
	p := etmv4.Packet{Arg: is}
	diff := (a ^ w.hist[0]) &^ 1
	wide := diff>>32 != 0 || w.r.one(16)
	ctx := w.ctx
	w.ctx = false
	switch {
	case ctx && (one || w.r.one(2)):
		p.Kind = etmv4.AddrCtxt64
		if !wide {
			p.Kind = etmv4.AddrCtxt32
		}
		w.context(&p)
		ctx = false
	case w.matches(&p, a, etmv4.AddrMatch):
	case w.shortens(&p, diff, is):
		p.Kind = etmv4.AddrShort
	case !wide:
		p.Kind = etmv4.Addr32
	default:
		p.Kind = etmv4.Addr64
	}
	p.SetAddress(a)
	c := etmv4.Packet{Kind: etmv4.Context}
	w.context(&c)
	before := w.r.one(2)
	if ctx && before {
		w.put(c)
	}
	w.put(p)
	if ctx && !before {
		w.put(c)
	}
	w.push(a)
}

// push notes an address that was sent.
func (w *writerV4) push(a uint64) { w.hist = [3]uint64{a, w.hist[0], w.hist[1]} }

// matches makes p an exact match of kind k, if the history holds a.
func (w *writerV4) matches(p *etmv4.Packet, a uint64, k etmv4.Kind) bool {
	for i, h := range w.hist {
		if h == a && !w.r.one(16) {
			*p = etmv4.Packet{Kind: k, Arg: uint8(i)}
			return true
		}
	}
	return false
}

// shortens makes p of the size of a short packet, if its address differs from the
// newest in low bits only.
func (w *writerV4) shortens(p *etmv4.Packet, diff uint64, is uint8) bool {
	for i, n := range short[is] {
		if diff>>n == 0 && !w.r.one(16) {
			p.N = uint8(i + 1)
			return true
		}
	}
	return false
}

// somewhere returns an address that means nothing.
func (w *writerV4) somewhere() uint64 {
	if w.r.one(3) {
		return w.hist[w.r.n(3)]
	}
	return textA64 + w.r.n(1<<20)*wordLength
}

// context puts the present context into p.
func (w *writerV4) context(p *etmv4.Packet) {
	p.Extra |= uint32(w.level) | etmv4.InfoSF | etmv4.InfoNS
	if w.reg.V4.VMIDs() {
		p.Extra |= etmv4.InfoV
		p.N |= 4
		p.Value2 |= uint64(w.vmid)
	}
	if w.reg.V4.ContextIDs() {
		p.Extra |= etmv4.InfoC
		p.N |= 4 << 4
		p.Value2 |= uint64(w.cid) << 32
	}
}

// restate states the context.
func (w *writerV4) restate() {
	c := etmv4.Packet{Kind: etmv4.Context}
	w.context(&c)
	w.put(c)
	w.ctx = false
}

// rise takes an exception: now and then to a hypervisor, which may run another
// machine then. It reports whether the context has changed.
func (w *writerV4) rise() bool {
	w.under = append(w.under, w.level)
	was, vmid := w.level, w.vmid
	if w.moves.one(6) {
		w.level = 2
	}
	if w.level == 2 && w.moves.one(2) {
		w.vmid = uint32(w.moves.next())
	}
	return w.level != was || w.vmid != vmid && w.reg.V4.VMIDs()
}

// sink returns from an exception and reports whether the context has changed.
func (w *writerV4) sink() bool {
	was := w.level
	n := len(w.under) - 1
	w.level, w.under = w.under[n], w.under[:n]
	return w.level != was
}

// wrongTx writes a transaction's start or end that is to be cancelled, and
// returns how many P0 elements it is.
func (w *writerV4) wrongTx() int {
	if w.r.one(2) {
		w.put(etmv4.Packet{Kind: etmv4.TxCommit})
		return 0
	}
	w.put(etmv4.Packet{Kind: etmv4.TxStart})
	if w.reg.V4.TransactionsP0() {
		return 1
	}
	return 0
}

// stampAs states the time t, ticks, of what has been sent. Where the trace unit
// marks its timestamps, the timestamp itself may come later.
func (w *writerV4) stampAs(t uint64) {
	if !w.reg.V4.TimestampMarkers() {
		w.sendStamp(t)
		return
	}
	w.sendDue()
	w.put(etmv4.Packet{Kind: etmv4.TSMarker})
	if w.due = t; w.r.one(2) {
		w.sendDue()
	}
}

// sendDue sends the timestamp of the newest marker, if that is due.
func (w *writerV4) sendDue() {
	if w.due != 0 {
		w.sendStamp(w.due)
		w.due = 0
	}
}

// sendStamp sends a timestamp of t, ticks: the bits that have changed, or more.
func (w *writerV4) sendStamp(t uint64) {
	n := min(max(1, (bits.Len64(t^w.stamp)+6)/7), 9)
	if w.r.one(16) {
		n = min(9, n+int(w.r.n(3)))
	}
	p := etmv4.Packet{Kind: etmv4.Timestamp, N: uint8(n), Value: t}
	if n < 9 {
		p.Value &= 1<<(7*n) - 1
	}
	if w.counting() && w.r.one(2) {
		p.Arg, p.Extra = 1, uint32(w.cycles())
	}
	w.put(p)
	w.stamp = t
}

// counting reports whether cycles are counted.
func (w *writerV4) counting() bool { return w.reg.V4.CycleCounts() }

// cycles returns how many have passed since it was last asked.
func (w *writerV4) cycles() uint64 {
	n := min(w.now-w.cycT, 1<<12-1)
	w.cycT = w.now
	return n
}
