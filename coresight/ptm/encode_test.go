package ptm

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
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
		if f.CycleAccurate && p.Reason() != ReasonPeriodic {
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
				p.Exc, p.Info = 2, uint16(r.IntN(1<<16))|excMore
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

// Catches a field that is lost or displaced in bytes or text for some value,
// and a length that depends on what comes before or after: sequences of random
// packets must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	const length = 12 // packets a sequence
	n := packettest.Rounds(100_000, 10_000)
	r := rand.New(rand.NewPCG(1, 2))
	var want []Packet
	var buf, text []byte
	for seq := range n {
		f := formats[seq%len(formats)]
		want, buf, text = want[:0], buf[:0], text[:0]
		for range length {
			p := randPacket(r, f)
			p.Off = int64(len(buf))
			buf = AppendPacket(buf, p)
			p.Len = uint8(len(buf) - int(p.Off))
			want = append(want, p)
		}
		i := 0
		for p := range NewLexer(f, buf, 0).All() {
			if i >= len(want) || p != want[i] {
				t.Fatalf("sequence %d, %+v, %x: packet %d is\n%+v, want\n%+v", seq, f, buf, i, p, want[min(i, len(want)-1)])
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("sequence %d, %x: %d packets, want %d", seq, buf, i, len(want))
		}
		if seq%16 > 4 {
			continue // text is slow, and has the cases
		}
		for _, p := range want {
			text = append(AppendText(text, p, nil), '\n')
		}
		if back, err := Assemble(nil, string(text)); err != nil || !bytes.Equal(back, buf) {
			t.Fatalf("sequence %d: %s gives %x, %v, want %x", seq, text, back, err, buf)
		}
	}
}

// Catches a read that depends on more than the bytes: any bytes come back
// whole, among them A-syncs and packets cut short.
func TestRandomBytesComeBack(t *testing.T) {
	n := packettest.Rounds(50_000, 10_000)
	r := rand.New(rand.NewPCG(3, 4))
	heads := [][]byte{{0, 0, 0, 0, 0, 0x80}, {0, 0, 0}, {0x08}, {0x42}, {0x72}, {0x6e}, {0xff, 0xff}, {0x81, 0x80, 0x80, 0x80, 0x48}}
	for i := range n {
		buf := make([]byte, 0, 64)
		for len(buf) < 40 {
			if r.IntN(2) == 0 {
				buf = append(buf, heads[r.IntN(len(heads))]...)
			}
			for range r.IntN(8) {
				buf = append(buf, byte(r.Uint32()))
			}
		}
		if out := reencode(t, formats[i%len(formats)], buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
	}
}

// Catches a panic on packets that no lexer gives.
func TestAppendPacketTakesAnything(t *testing.T) {
	for k := range 256 {
		for _, v := range []uint8{0, 1, 7, 64, 255} {
			p := Packet{Kind: Kind(k), N: v, Len: v, Exc: v, CC: v, Pad: v, Info: uint16(v) * 257, Cycles: uint32(v) << 24, Value: ^uint64(0)}
			if b := AppendPacket(nil, p); len(b) > 256 {
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
		if NewLexer(Format{}, AppendPacket(nil, p), 0).Next(&q); q != p {
			t.Fatalf("%+v comes back as %+v", p, q)
		}
		s := setARM
		if mode == isa.ModeT32 {
			s = setThumb
		}
		if p.N == 5 && addressSet(p.Value) != s || p.N != 5 && was != mode {
			t.Fatalf("%v to %v: %+v", was, mode, p)
		}
		a, n := s.bits(p.Value, p.N)
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
