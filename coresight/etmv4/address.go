package etmv4

// address is where instructions lie: IS 0 is A64 or A32, 1 is T32.
type address struct {
	ip uint64
	is uint8
}

// history is the last addresses that packets stated, the newest first: what a
// compressed address is completed from. DDI0487, "Address compression".
type history [3]address

// push makes a the newest address.
func (h *history) push(a address) {
	h[2], h[1], h[0] = h[1], h[0], a
}

// short completes a short address of n bytes, 1 or 2.
func (h *history) short(v uint64, n, is uint8) address {
	mask := uint64(1)<<(9-is) - 1
	if n > 1 {
		mask = 1<<(17-is) - 1
	}
	return address{h[0].ip&^mask | v, is}
}

// next returns the address that p, which holds one, states, and makes it the
// newest. A source address goes into the same history as a target.
func (h *history) next(p *Packet) address {
	var a address
	switch p.Kind {
	case AddrMatch, SrcMatch:
		a = h[min(p.Arg, 2)]
	case AddrShort, SrcShort:
		a = h.short(p.Value, p.N, p.Arg)
	case Addr32, AddrCtxt32, Src32:
		a = address{h[0].ip&^0xffffffff | p.Value, p.Arg}
	default:
		a = address{p.Value, p.Arg}
	}
	h.push(a)
	return a
}

// q returns the address that p, a Q of a type that has one, states, and makes
// it the newest.
func (h *history) q(p *Packet) address {
	var a address
	switch p.Arg {
	case QShort0, QShort1:
		a = h.short(p.Value, p.N, p.Arg-QShort0)
	case QLong0, QLong1:
		a = address{h[0].ip&^0xffffffff | p.Value, p.Arg - QLong0}
	default:
		a = h[min(p.Arg, 2)]
	}
	h.push(a)
	return a
}
