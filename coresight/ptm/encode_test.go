package ptm

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
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
		most := 7
		if f.TS64 {
			most = 9
		}
		p.N, p.Info = uint8(1+r.IntN(most)), uint16(r.IntN(2))
		p.Value = r.Uint64() & (1<<(7*p.N) - 1)
		if int(p.N) == most {
			p.Value = r.Uint64() >> max(0, 64-(7*(most-1)+8))
		}
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

// Catches a field that is lost or displaced in bytes or text for some value, and a
// length that depends on what comes before or after. Sequences of random packets
// must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	packettest.Sequences(t, testsize.Of(t, 10_000, 100_000), func(r *rand.Rand, round int) (s packettest.Sequence[Packet]) {
		f := formats[round%len(formats)]
		for range 12 {
			p := randPacket(r, f)
			p.Off = int64(len(s.Bytes))
			s.Bytes = p.Append(s.Bytes)
			p.Len = uint8(len(s.Bytes) - int(p.Off))
			s.Packets = append(s.Packets, p)
		}
		s.Lex, s.Codec = NewLexer(f, s.Bytes, 0).All(), &codec
		return s
	})
}

// Catches a read that depends on more than the bytes: any bytes come back
// whole, among them A-syncs and packets cut short.
func TestRandomBytesComeBack(t *testing.T) {
	heads := []string{"\x00\x00\x00\x00\x00\x80", "\x00\x00\x00", "\x08", "\x42", "\x72", "\x6e", "\xff\xff", "\x81\x80\x80\x80\x48"}
	packettest.RandomBytes(t, testsize.Of(t, 10_000, 50_000), heads, func(round int, buf []byte) []byte {
		return reencode(t, formats[round%len(formats)], buf)
	})
}

// Catches a panic on packets that no lexer gives.
func TestAppendTakesAnything(t *testing.T) {
	for k := range 256 {
		for _, v := range []uint8{0, 1, 7, 64, 255} {
			p := Packet{Kind: Kind(k), N: v, Len: v, Exc: v, CC: v, Pad: v, Info: uint16(v) * 257, Cycles: uint32(v) << 24, Value: ^uint64(0)}
			if b := p.Append(nil); len(b) > 256 {
				t.Errorf("%+v gives %d bytes", p, len(b))
			}
			_ = p.String()
		}
	}
}

// Catches a branch that leaves out a byte that differs, or says another
// instruction set: what BranchTo compresses must lead back to the address.
func TestBranchTo(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	modes := []isa.Mode{isa.ModeA32, isa.ModeT32}
	lens := [6]int{}
	for range 100_000 {
		was, mode := modes[r.IntN(2)], modes[r.IntN(2)]
		last := r.Uint32() &^ 3
		addr := last ^ r.Uint32()>>r.IntN(32)
		if addr &^= 1; mode == isa.ModeA32 {
			addr &^= 3
		}
		p := BranchTo(last, was, addr, mode)
		var q Packet
		if NewLexer(Format{}, p.Append(nil), 0).Next(&q); q != p {
			t.Fatalf("%+v comes back as %+v", p, q)
		}
		s := v3.ARM
		if mode == isa.ModeT32 {
			s = v3.Thumb
		}
		if p.N == 5 && v3.AddressSet(p.Value) != s || p.N != 5 && was != mode {
			t.Fatalf("%v to %v: %+v", was, mode, p)
		}
		a, n := s.Bits(p.Value, p.N, true)
		if got := uint64(last)&^(1<<n-1) | a; uint32(got) != addr || got>>32 != 0 {
			t.Fatalf("from 0x%x to 0x%x in %v: %+v leads to 0x%x", last, addr, mode, p, got)
		}
		lens[p.N]++
	}
	for n := 1; n <= 5; n++ {
		if lens[n] < 100 {
			t.Errorf("%d branches of %d bytes only", lens[n], n)
		}
	}
}
