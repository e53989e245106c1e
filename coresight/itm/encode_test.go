package itm

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// reencode gives the bytes of buf back from its packets: AppendPacket's, and
// those of Bad packets as they stand.
func reencode(t testing.TB, buf []byte) []byte {
	t.Helper()
	return tracetest.Reencode(t, buf, func(base int64) iter.Seq[Packet] { return NewLexer(buf, base).All() },
		func(p Packet) bool { return p.Kind == Bad }, AppendPacket)
}

// randPacket returns a packet as the lexer gives them but for its place.
func randPacket(r *rand.Rand) Packet {
	p := Packet{Kind: Sync + Kind(r.IntN(int(NumKinds-Sync)))}
	v := r.Uint64() >> r.IntN(64) // small numbers as often as large ones
	switch p.Kind {
	case Sync:
		p.Value = 5 + v%40
	case SWIT, DWT:
		p.N = []uint8{1, 2, 4}[r.IntN(3)]
		p.Arg = uint8(r.IntN(32))
		p.Value = v & (1<<(8*p.N) - 1)
	case LTS1:
		p.N = uint8(1 + r.IntN(4))
		p.Arg = uint8(r.IntN(4))
		p.Value = v & (1<<(7*p.N) - 1)
	case LTS2:
		p.Value = 1 + v%6
	case GTS1:
		p.N = uint8(1 + r.IntN(4))
		p.Value = v & (1<<(7*p.N) - 1)
		if p.N == 4 {
			p.Arg = uint8(r.IntN(4))
			p.Value &= 1<<26 - 1
		}
	case GTS2:
		p.N = uint8(1 + r.IntN(6))
		p.Value = v & (1<<(7*p.N) - 1)
	case Ext:
		p.N = uint8(r.IntN(5))
		p.Arg = uint8(r.IntN(16))
		p.Value = v & (1<<(7*p.N) - 1)
	}
	return p
}

// Catches a field that is lost or displaced in bytes or text for some value,
// and a length that depends on what comes before or after: sequences of random
// packets must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	const length = 12 // packets a sequence
	n := packettest.Rounds(300_000, 10_000)
	r := rand.New(rand.NewPCG(1, 2))
	var want []Packet
	var buf, text []byte
	for seq := range n {
		want, buf, text = want[:0], buf[:0], text[:0]
		for range length {
			p := randPacket(r)
			p.Off = int64(len(buf))
			buf = AppendPacket(buf, p)
			want = append(want, p)
			text = append(AppendText(text, p, nil), '\n')
		}
		i := 0
		for p := range NewLexer(buf, 0).All() {
			if i >= len(want) || p != want[i] {
				t.Fatalf("sequence %d, %x: packet %d is %+v, want %+v", seq, buf, i, p, want[min(i, len(want)-1)])
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("sequence %d, %x: %d packets, want %d", seq, buf, i, len(want))
		}
		if seq%16 != 0 {
			continue // text is slow, and has the cases
		}
		if back, err := Assemble(nil, string(text)); err != nil || !bytes.Equal(back, buf) {
			t.Fatalf("sequence %d: %s gives %x, %v, want %x", seq, text, back, err, buf)
		}
	}
}

// Catches a read that depends on more than the bytes: any bytes come back
// whole, among them sync points, long zeros and packets cut short.
func TestRandomBytesComeBack(t *testing.T) {
	n := packettest.Rounds(100_000, 10_000)
	r := rand.New(rand.NewPCG(3, 4))
	heads := []string{syncPattern, "\x00\x00\x00", "\x94\xff\xff", "\xb4\xff\xff\xff", "\xc0\x80", "\x88\x80", "\x00\x00\x00\x00\x00\x00\x00\x00\x00"}
	for range n {
		buf := make([]byte, 0, 64)
		for len(buf) < 40 {
			if r.IntN(2) == 0 {
				buf = append(buf, heads[r.IntN(len(heads))]...)
			}
			for range r.IntN(8) {
				buf = append(buf, byte(r.Uint32()))
			}
		}
		if out := reencode(t, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
	}
}

// Catches a panic on packets that no lexer gives.
func TestAppendPacketTakesAnything(t *testing.T) {
	for k := range 256 {
		for _, v := range []uint8{0, 1, 3, 7, 64, 255} {
			p := Packet{Kind: Kind(k), N: v, Arg: v, Of: Kind(v), Value: uint64(v) * 0x01010101}
			if k != int(Sync) {
				p.Value = ^uint64(0)
			} else if v > 0 {
				continue
			}
			if b := AppendPacket(nil, p); len(b) > 300 {
				t.Errorf("%+v gives %d bytes", p, len(b))
			}
			_ = p.String()
		}
	}
}

// Catches a search that misses a sync point at either end, takes one cut
// short, or does not take the last zeros.
func TestFindSync(t *testing.T) {
	for _, c := range []struct {
		name, buf string
		from, at  int
		ok        bool
	}{
		{"at the front", syncPattern, 0, 0, true},
		{"at the end", "\x12\x34" + syncPattern, 0, 2, true},
		{"more zeros", "\x12\x00\x00" + syncPattern, 0, 3, true},
		{"four zeros", "\x01" + syncPattern[1:], 0, 0, false},
		{"no 80", syncPattern[:5] + "\x81", 0, 0, false},
		{"cut short", syncPattern[:5], 0, 0, false},
		{"nothing", "", 0, 0, false},
		{"behind the place asked for", syncPattern + syncPattern, 1, 6, true},
		{"only before it", syncPattern, 1, 0, false},
		{"beyond the end", syncPattern, 100, 0, false},
		{"before the front", syncPattern, -1, 0, true},
	} {
		at, ok := FindSync([]byte(c.buf), c.from)
		if ok != c.ok || ok && at != c.at {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, at, ok, c.at, c.ok)
		}
	}
}
