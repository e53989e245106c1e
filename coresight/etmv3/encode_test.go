package etmv3

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
			heads := &plainHeaders
			if f.CycleAccurate {
				heads = &cycleHeaders
			}
			p.Info = 0
			if h := heads[0x80+2*r.IntN(64)]; h.Kind == PHeader {
				p = h
			}
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
	heads := []string{"\x00\x00\x00\x00\x00\x80", "\x00\x00\x00", "\x08", "\x70", "\x42", "\x04", "\x6e", "\x2e", "\xff\xff", "\x81\x80\x80\x80\x48"}
	packettest.RandomBytes(t, testsize.Of(t, 10_000, 50_000), heads, func(round int, buf []byte) []byte {
		return reencode(t, formats[round%len(formats)], buf)
	})
}

// Catches a panic on packets that no lexer gives.
func TestAppendTakesAnything(t *testing.T) {
	for k := range 256 {
		for _, v := range []uint8{0, 1, 7, 64, 255} {
			p := Packet{Kind: Kind(k), N: v, Len: v, Exc: v, CC: v, Pad: v, Info: uint16(v) * 257, Cycles: uint32(v) << 24, Value: ^uint64(0), Extra: ^uint64(0)}
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
	for i := range 100_000 {
		f := Format{Alternative: i&1 != 0}
		was, mode := modes[r.IntN(2)], modes[r.IntN(2)]
		last := r.Uint32() &^ 3
		addr := last ^ r.Uint32()>>r.IntN(32)
		if addr &^= 1; mode == isa.ModeA32 {
			addr &^= 3
		}
		p := BranchTo(f, last, was, addr, mode)
		var q Packet
		if NewLexer(f, p.Append(nil), 0).Next(&q); q != p {
			t.Fatalf("%+v comes back as %+v", p, q)
		}
		s := v3.ARM
		if mode == isa.ModeT32 {
			s = v3.Thumb
		}
		if is, ok := addressSet(p.Value); p.N == 5 && (is != s || !ok) || p.N != 5 && was != mode {
			t.Fatalf("%v to %v: %+v", was, mode, p)
		}
		a, n := s.Bits(p.Value, p.N, f.Alternative)
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
