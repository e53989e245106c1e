package ptm

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// randCycles gives p a cycle count, in more bytes than needed at times.
func randCycles(r *rand.Rand, p *Packet) {
	p.CC = uint8(1 + r.IntN(5))
	p.Cycles = r.Uint32() >> max(0, 32-4-7*(int(p.CC)-1)) >> r.IntN(8)
	p.Pad = uint8(r.IntN(8))
	if p.CC == 5 {
		p.Pad |= uint8(r.IntN(2) << 3)
	}
}

// randAddress gives p address bytes without the bit that says that more follow.
func randAddress(r *rand.Rand, p *Packet) {
	p.N = uint8(1 + r.IntN(5))
	switch p.Value = r.Uint64(); p.N {
	case 1:
		p.Value &= 0x7f
	case 5:
		p.Value &= 1<<36 - 1
	default:
		p.Value &= 1<<(7*p.N-1) - 1
	}
	p.Value &^= 1
}

// randPacket returns a packet as the lexer gives them in a trace of format f,
// at offset 0.
func randPacket(r *rand.Rand, f Format) Packet {
	p := Packet{Kind: ASync + Kind(r.IntN(int(NumKinds-ASync)))}
	switch p.Kind {
	case ASync:
		p.N = uint8(5 + r.IntN(20))
	case ISync:
		p.Value, p.Info = uint64(r.Uint32()), uint16(r.IntN(256))
		if f.CycleAccurate && p.Reason() != v3.ReasonPeriodic {
			randCycles(r, &p)
		}
	case Atom:
		p.N = uint8(1 + r.IntN(5))
		if f.CycleAccurate {
			p.N = 1
			randCycles(r, &p)
			p.Pad &= 8
		}
		p.Value = r.Uint64() & (1<<p.N - 1)
	case Branch:
		if randAddress(r, &p); p.N > 1 && r.IntN(2) == 0 {
			p.Value |= 1 << (7*p.N - 1)
			p.Exc, p.Info = 1, uint16(r.IntN(0x80))
			if r.IntN(2) == 0 {
				p.Exc, p.Info = 2, uint16(r.IntN(1<<16))|v3.ExcMore
			}
		} else if p.N == 5 {
			p.Value &^= 1 << (7*5 - 1)
		}
		if f.CycleAccurate {
			randCycles(r, &p)
		}
	case Waypoint:
		randAddress(r, &p)
		p.Value |= r.Uint64() & 1
		if p.N == 5 && p.hasInfo() {
			p.Exc, p.Info = 1, uint16(r.IntN(256))
		}
	case VMID:
		p.Value = r.Uint64() & 0xff
	case Timestamp:
		p.Value, p.N = tracetest.RandomStamp(r, f.TS64)
		p.Info = uint16(r.IntN(2))
		if f.CycleAccurate {
			randCycles(r, &p)
		}
	}
	if p.Kind == ISync || p.Kind == ContextID {
		if p.N = f.ContextBytes; p.N > 0 {
			p.Context = r.Uint32() >> (32 - 8*p.N)
		}
	}
	return p
}

// Catches a branch whose length or bytes are not those of its address.
func TestBranchTo(t *testing.T) {
	tracetest.Branches(t, true, func(last uint32, was isa.Mode, addr uint32, mode isa.Mode) (v uint64, n uint8) {
		p, q := BranchTo(last, was, addr, mode), Packet{}
		if NewLexer(Format{}, p.Append(nil), 0).Next(&q); q != p {
			t.Fatalf("%+v comes back as %+v", p, q)
		}
		return p.Value, p.N
	})
}
