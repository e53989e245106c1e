package etmv4

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// step takes the next packet and reports whether there was one.
func (d *Decoder) step() bool {
	if d.sync == hunting {
		return d.hunt()
	}
	p := &d.pk
	if !d.lx.Next(p) {
		return false
	}
	switch {
	case p.Kind == Bad:
		d.takeBad(p)
	case d.sync == entered:
		d.entering(p)
	case d.waits.kind == elNone:
		d.packet(p)
	case !d.waited(p):
		d.trouble(event.BadPacket, d.waits.off, p.End())
		d.lost(p.End(), p.End())
	}
	return true
}

// hunt moves to the next A-Sync.
func (d *Decoder) hunt() bool {
	at, ok := findSync(d.lx.Buf, d.lx.Pos)
	if !ok {
		d.lx.Pos = len(d.lx.Buf)
		return false
	}
	d.lx.Pos = at
	d.sync = entered
	return true
}

// takeBad takes bytes that are no packet. The lexer is at the next A-Sync now, or at
// the segment's end.
func (d *Decoder) takeBad(p *Packet) {
	end := p.End()
	cut := p.Arg == packettext.BadCut && d.lx.Pos == len(d.lx.Buf)
	if cut && (d.seg.Last || d.seg.Ends) {
		d.trouble(event.Truncated, p.Off, end)
		return
	}
	d.trouble(event.BadPacket, p.Off, end).Flags = event.FlagNoPacket
	d.lost(end, end)
}

// entering takes a packet between an A-Sync and its Trace Info. ETE allows
// events there.
func (d *Decoder) entering(p *Packet) {
	switch p.Kind {
	case TraceInfo:
		d.enter(p.Value2 >> 32)
		d.threshold = p.Value >> 16 & (1<<21 - 1)
		d.sync = synced
	case Event:
		d.takePayload(p, event.DetailTraceEvent, uint64(p.Arg), 0)
	}
}

// informed takes a Trace Info where the stream has been entered. It says how many P0 elements are not
// committed. If they are not so many, packets before it are missing or others, and it is
// where the stream is entered again.
func (d *Decoder) informed(p *Packet) {
	if n := p.Value2 >> 32; n != d.spec.waiting() {
		d.contradicts(p)
		d.entering(p)
		return
	}
	d.hist, d.stamp = history{}, 0
	d.threshold = p.Value >> 16 & (1<<21 - 1)
	x := d.elem(p, elInfo)
	x.keep = true
	d.takeElem(&x)
}

// packet takes a packet where the stream has been entered.
func (d *Decoder) packet(p *Packet) {
	switch p.Kind {
	case AtomF1, AtomF2, AtomF3, AtomF4, AtomF5, AtomF6:
		x := d.elem(p, elAtoms)
		x.n, x.value = p.N, uint64(p.Extra)
		d.takeElem(&x)
	case AddrMatch, AddrShort, Addr32, Addr64:
		d.takeAddress(p)
	case AddrCtxt32, AddrCtxt64:
		d.takeContext(p)
		d.takeAddress(p)
	case Context:
		d.takeContext(p)
	case TraceInfo:
		d.informed(p)
	case TraceOn:
		x := d.elem(p, elTraceOn)
		d.takeElem(&x)
	case Exception:
		d.raise(p)
	case Q:
		d.quiet(p)
	case SrcMatch, SrcShort, Src32, Src64:
		a := d.hist.of(p)
		x := d.elem(p, elReach)
		x.p0, x.ip, x.is = true, a.ip, a.is
		d.takeElem(&x)
	case Discard, Overflow:
		d.stop(p)
	case CycleF1, CycleF2, CycleF3:
		d.cycles(p)
	case Commit, CancelF1, CancelF2, CancelF3, Mispredict:
		d.resolve(p)
	default:
		d.says(p)
	}
}

// says takes a packet that says nothing of the flow.
func (d *Decoder) says(p *Packet) {
	switch p.Kind {
	case Timestamp:
		d.stamped(p)
		if !d.awaitMarker { // else it is of a moment before all that is here
			d.takePayload(p, event.DetailTimestamp, d.stamp, 0)
		}
	case TSMarker:
		d.awaitMarker = false
		d.takePayload(p, event.DetailTimestampMarker, 0, 0)
		d.marked()
	case Event:
		d.takePayload(p, event.DetailTraceEvent, uint64(p.Arg), 0)
	case ITE:
		d.takePayload(p, event.DetailInstrumentation, p.Value, uint64(p.Arg&3))
	case NumDataSync:
		d.takePayload(p, event.DetailDataSync, uint64(p.Arg), 1)
	case DataSync:
		d.takePayload(p, event.DetailDataSync, uint64(p.Arg), 0)
	case TxStart:
		x := d.elem(p, elPayload)
		x.detail, x.p0 = event.DetailTxBegin, d.cfg.Trace.V4.TransactionsP0()
		d.takeElem(&x)
	case TxCommit:
		x := d.elem(p, elPayload)
		x.detail = event.DetailTxCommit
		d.takeElem(&x)
	case ExceptionReturn:
		x := d.elem(p, elPayload)
		x.detail, x.p0 = event.DetailExceptionRet, d.cfg.Trace.Arch.Profile == 'M' && d.cfg.Trace.Arch.Major == 7
		d.takeElem(&x)
	case FuncReturn:
		x := d.elem(p, elPayload)
		x.detail, x.p0 = event.DetailFunctionRet, true
		d.takeElem(&x)
	}
}

// elem returns an element of p.
func (d *Decoder) elem(p *Packet, k elemKind) elem {
	return elem{kind: k, off: p.Off, end: p.End(), time: d.now}
}

// takePayload adds an element that says nothing of the flow.
func (d *Decoder) takePayload(p *Packet, detail event.Detail, value, value2 uint64) {
	x := d.elem(p, elPayload)
	x.keep, x.detail, x.value, x.value2 = true, detail, value, value2
	d.takeElem(&x)
}

// takeAddress adds the target address that p states.
func (d *Decoder) takeAddress(p *Packet) {
	a := d.hist.of(p)
	x := d.elem(p, elTarget)
	x.ip, x.is = a.ip, a.is
	d.takeElem(&x)
}

// takeContext adds the context that p states.
func (d *Decoder) takeContext(p *Packet) {
	x := d.elem(p, elContext)
	x.value, x.value2 = contextOf(p)
	d.takeElem(&x)
}

// contextOf returns the context that p states as a DetailPE has it.
func contextOf(p *Packet) (ids, pe uint64) {
	info := p.Extra
	pe = uint64(info&InfoEL) | event.PEHasLevel
	for _, b := range [...]struct {
		in  uint32
		out event.Bits
	}{
		{InfoSF, event.PE64}, {InfoNS, event.PENonSecure}, {InfoNSE, event.PERealm},
	} {
		if info&b.in != 0 {
			pe |= b.out
		}
	}
	if info&InfoV != 0 && p.N&0xf != 0 {
		pe |= event.PEHasVMID
		ids |= p.Value2 << 32
	}
	if info&InfoC != 0 && p.N>>4 != 0 {
		pe |= event.PEHasID
		ids |= p.Value2 >> 32
	}
	return ids, pe
}

// raise takes an Exception. Its address is in the packet that follows, but for
// those of ETE that have none.
func (d *Decoder) raise(p *Packet) {
	x := d.elem(p, elException)
	x.p0, x.value = true, uint64(p.ExceptionType())
	if p.Arg < 0x80 && p.Extra != 0 { // PE reset, or a failed transaction: the address is unknown
		d.hist.remember(address{})
		x.flags = event.FlagHere
		if x.value == typeTxFail {
			x.kind = elFail
		}
		d.takeElem(&x)
		return
	}
	if p.Arg&(1<<6) != 0 {
		x.flags = event.FlagTaken
	}
	d.waits = x
}

// quiet takes a Q. Where it has no address, the packet that follows has it.
func (d *Decoder) quiet(p *Packet) {
	x := d.elem(p, elQuiet)
	x.p0 = true
	if p.Arg != QBare {
		x.value, x.flags = Number(p.Value2), event.FlagCount
	}
	if p.Arg == QBare || p.Arg == QCount {
		d.waits = x
		return
	}
	a := d.hist.ofQ(p)
	x.ip, x.is = a.ip, a.is
	d.takeElem(&x)
}

// waited takes p where the address of an exception or of a Q is to come. It
// reports false where p cannot stand there.
func (d *Decoder) waited(p *Packet) bool {
	switch p.Kind {
	case AddrMatch, AddrShort, Addr32, Addr64, AddrCtxt32, AddrCtxt64:
		x := d.waits
		d.waits.kind = elNone
		a := d.hist.of(p)
		x.ip, x.is, x.end = a.ip, a.is, p.End()
		with := p.Kind == AddrCtxt32 || p.Kind == AddrCtxt64
		if with && x.kind == elException {
			d.takeContext(p)
		}
		d.takeElem(&x)
		if with && x.kind == elQuiet {
			d.takeContext(p)
		}
	case Context:
		d.takeContext(p)
	case ContextSame, Ignore:
	case Timestamp, TSMarker, Event, ITE:
		d.says(p)
	default:
		return false
	}
	return true
}

// stop takes a Discard or an Overflow: what is not committed is gone, and the
// stream has to be entered again.
func (d *Decoder) stop(p *Packet) {
	end := p.End()
	d.dropWaiting()
	d.out.flush()
	if p.Kind == Overflow {
		e := d.out.push(&elem{off: p.Off, end: end, time: d.now})
		e.Kind = event.Overflow
	}
	d.lost(p.Off, end)
	d.sync = hunting
}

// cycles takes a cycle count, which also commits where the trace unit is made
// so.
func (d *Decoder) cycles(p *Packet) {
	var count, commits, unknown uint64
	switch p.Kind {
	case CycleF1:
		count, commits, unknown = Number(p.Value), Number(p.Value2), uint64(p.Arg&1)
	case CycleF2:
		count, commits = p.Value&0xf, p.Value>>4+1
		if p.Arg&1 != 0 {
			commits = p.Value>>4 + uint64(d.spec.max)
			commits -= min(commits, 15)
		}
	case CycleF3:
		count, commits = uint64(p.Arg&3), uint64(p.Arg>>2)+1
	}
	if d.lx.dialect.has&needCommits != 0 && !d.commits(p, commits) {
		return
	}
	if count += d.threshold; unknown != 0 {
		count = 0
	}
	// It belongs to what was committed last, and nothing takes it back.
	x := d.elem(p, elPayload)
	x.detail, x.value, x.value2 = event.DetailCycleCount, count, unknown
	d.out.shape(&x)
}

// commits commits n P0 elements as p says. It reports false where there are not
// so many: then the stream has been given up. Where a trace unit never
// speculates, everything is committed already.
func (d *Decoder) commits(p *Packet, n uint64) bool {
	if d.spec.commit(n, &d.out) || d.spec.max == 0 {
		return true
	}
	d.contradicts(p)
	return false
}

// contradicts gives up the stream at p, which says of elements that there are
// not what to do with them.
func (d *Decoder) contradicts(p *Packet) {
	d.trouble(event.BadPacket, p.Off, p.End())
	d.lost(p.End(), p.End())
}

// resolve takes a packet of speculation.
func (d *Decoder) resolve(p *Packet) {
	var bits, n uint64
	switch {
	case p.Kind == Mispredict || p.Kind == CancelF2:
		bits = [4]uint64{0, 1, 3, 0}[p.Arg&3]
		n = [4]uint64{0, 1, 2, 1}[p.Arg&3]
	case p.Kind == CancelF3:
		bits, n = uint64(p.Arg&1), uint64(p.Arg&1)
	}
	if n > 0 {
		x := d.elem(p, elAtoms)
		x.n, x.value = uint8(n), bits
		d.takeElem(&x)
	}
	ok, turn := true, true
	switch p.Kind {
	case Commit:
		d.commits(p, Number(p.Value))
		return
	case CancelF1:
		ok, turn = d.spec.cancel(Number(p.Value), &d.out), p.Arg&1 != 0
	case CancelF2:
		ok = d.spec.cancel(1, &d.out)
	case CancelF3:
		ok = d.spec.cancel(uint64(p.Arg>>1&3)+2, &d.out)
	}
	if ok && turn {
		ok = d.spec.mispredict()
	}
	if !ok {
		d.contradicts(p)
	}
}
