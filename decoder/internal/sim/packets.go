package sim

import (
	"fmt"

	"github.com/ptdecode/ptdecode/pt"
)

// send appends a packet unless packets are being dropped.
func (u *unit) send(p pt.Packet) {
	if u.losing {
		return
	}
	if u.r.one(256) {
		u.out = pt.Packet{Kind: pt.PAD}.Append(u.out)
	}
	switch p.Kind {
	case pt.TNTShort, pt.TNTLong, pt.TIP, pt.FUP, pt.PGE, pt.PGD, pt.OVF, pt.PSB:
		u.sent = append(u.sent, Sent{int64(len(u.out)), u.sure, len(*u.retired)})
	}
	u.out = p.Append(u.out)
	if len(u.out) >= u.psbAt {
		*u.event = 0
	}
}

// stamp writes a CYC if the configuration has them: the cycles since the last.
func (u *unit) stamp(t uint64) {
	if u.cfg.Timing != CYC || u.losing {
		return
	}
	now := u.cycles(t)
	if now < u.lastCYC {
		panic(fmt.Sprintf("sim: seed %d: packets of %d ns come behind later ones", u.cfg.Seed, t))
	}
	if now == u.lastCYC { // one CYC a cycle at most
		return
	}
	u.send(pt.Packet{Kind: pt.CYC, Value: now - u.lastCYC})
	u.lastCYC = now
}

// flush writes the pending outcomes and the TIPs held back behind them.
func (u *unit) flush() {
	if u.losing {
		return
	}
	if u.ntnt > 0 {
		u.stamp(u.tntT)
		p := pt.Packet{Kind: pt.TNTShort, N: uint8(u.ntnt), Value: u.tnt}
		if u.ntnt > 6 || u.cfg.LongTNT && u.r.one(8) {
			p.Kind = pt.TNTLong
		}
		u.tnt, u.ntnt = 0, 0
		u.send(p)
	}
	for _, to := range u.held {
		u.ip(pt.TIP, to)
	}
	u.held = u.held[:0]
	u.sure = max(u.sure, u.told)
}

// noIP writes an IP packet without an IP.
func (u *unit) noIP(k pt.Kind) { u.send(pt.Packet{Kind: k}) }

// ip writes an IP packet, compressed against the last one
// (SDM, "IP Compression"): with the fewest bytes that do, or now and then more.
func (u *unit) ip(k pt.Kind, ip uint64) {
	if u.losing {
		return
	}
	diff := ip ^ u.lastIP
	p := pt.Packet{Kind: k}
	switch extra := u.r.one(16); {
	case diff>>16 == 0 && !extra:
		p.Arg, p.Value = 1, ip&0xffff
	case diff>>32 == 0:
		p.Arg, p.Value = 2, ip&0xffffffff
	case uint64(int64(ip<<16)>>16) == ip && !extra:
		p.Arg, p.Value = 3, ip&(1<<48-1)
	case diff>>48 == 0:
		p.Arg, p.Value = 4, ip&(1<<48-1)
	default:
		p.Arg, p.Value = 6, ip
	}
	u.lastIP = ip
	u.send(p)
}
