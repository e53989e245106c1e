package etmv3

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Catches a branch whose length or bytes are not those of its address, and one that
// states no instruction set where it has all bytes.
func TestBranchTo(t *testing.T) {
	for _, f := range []Format{{}, {Alternative: true}} {
		tracetest.Branches(t, f.Alternative, func(last uint32, was isa.Mode, addr uint32, mode isa.Mode) (v uint64, n uint8) {
			var q Packet
			p := BranchTo(f, last, was, addr, mode)
			if NewLexer(f, p.Append(nil), 0).Next(&q); q != p {
				t.Fatalf("%+v comes back as %+v", p, q)
			}
			if _, ok := addressSet(p.Value); p.N == 5 && !ok {
				t.Fatalf("%v to %v: %+v", was, mode, p)
			}
			return p.Value, p.N
		})
	}
}

// randCycles gives p a cycle count, in more bytes than needed at times.
func randCycles(r *rand.Rand, p *Packet) {
	p.CC = uint8(1 + r.IntN(5))
	p.Cycles = r.Uint32() >> max(0, 32-7*int(p.CC)) >> r.IntN(8)
	if p.CC == 5 {
		p.Pad = uint8(r.IntN(16))
	}
}

// randAddress returns n address bytes.
func randAddress(r *rand.Rand, n uint8) uint64 {
	if n == 5 {
		return r.Uint64() & (1<<36 - 1)
	}
	return r.Uint64() & (1<<(7*n) - 1)
}

// randSync gives p what an I-sync states.
func randSync(r *rand.Rand, f Format, p *Packet) {
	p.Info = uint16(r.IntN(256))
	if p.Kind == ISyncCycles {
		randCycles(r, p)
	}
	if f.DataOnly {
		p.Info |= infoNoAddress
		return
	}
	p.Value = uint64(r.Uint32())
	if p.Info&infoSecond != 0 {
		p.Exc = uint8(1 + r.IntN(5))
		p.Extra = randAddress(r, p.Exc)
	}
}

func randBranch(r *rand.Rand, f Format, p *Packet) {
	p.N = uint8(1 + r.IntN(5))
	p.Value = randAddress(r, p.N) &^ 1
	if p.N == 5 && p.Value>>28&0xb8 == 0 {
		p.Value |= 1 << (28 + 3 + r.IntN(3))
	}
	if !p.hasInfo(f.Alternative) {
		return
	}
	p.Exc = uint8(1 + r.IntN(3))
	p.Extra = r.Uint64()&(1<<(8*p.Exc)-1) | 0x8080>>(8*(3-p.Exc))
	if p.Exc < 3 {
		p.Extra &^= 0x80 << (8*p.Exc - 8)
	}
}

func randData(r *rand.Rand, f Format, p *Packet) {
	first := uint16(r.IntN(2))
	switch p.Kind {
	case Data:
		p.Info = first
	case OutOfOrder:
		p.Info, first = uint16(1+r.IntN(3)), 0
	case Placeholder:
		p.Info = first | uint16(1+r.IntN(3))<<1
	case NotTraced:
		p.Info = first
	default:
		return
	}
	if first != 0 && f.DataAddresses {
		p.Exc = uint8(1 + r.IntN(5))
		p.Extra = randAddress(r, p.Exc)
	}
	if p.Kind == Data || p.Kind == OutOfOrder {
		if p.N = dataSizes[r.IntN(4)]; p.N > 0 {
			p.Value = r.Uint64() >> (64 - 8*p.N)
		}
	}
}

// randPacket returns a packet as the lexer gives them in a trace of format f,
// at offset 0.
func randPacket(r *rand.Rand, f Format) Packet {
	p := Packet{Kind: ASync + Kind(r.IntN(int(NumKinds-ASync)))}
	for specs[p.Kind].needs == needValues && !f.DataValues || specs[p.Kind].needs != needNothing && !f.DataValues && !f.DataAddresses {
		p.Kind = ASync + Kind(r.IntN(int(NumKinds-ASync)))
	}
	switch p.Kind {
	case ASync:
		p.N = uint8(5 + r.IntN(20))
	case CycleCount:
		randCycles(r, &p)
	case ISync, ISyncCycles:
		randSync(r, f, &p)
	case Branch:
		randBranch(r, f, &p)
	case PHeader:
		for p.Info == 0 {
			heads, cycles := headerTables()
			if f.CycleAccurate {
				heads = cycles
			}
			p.Info = 0
			if h := heads[0x80+2*r.IntN(64)]; h.Kind == PHeader {
				p = h
			}
		}
	case VMID:
		p.Value = r.Uint64() & 0xff
	case Timestamp:
		p.Value, p.N = tracetest.RandomStamp(r, f.TS64)
		p.Info = uint16(r.IntN(2))
	default:
		randData(r, f, &p)
	}
	if p.Kind == ISync || p.Kind == ISyncCycles || p.Kind == ContextID {
		if p.N = f.ContextBytes; p.N > 0 {
			p.Context = r.Uint32() >> (32 - 8*p.N)
		}
	}
	return p
}
