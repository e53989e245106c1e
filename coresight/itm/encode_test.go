package itm

import (
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// reencode gives the bytes of buf back from its packets: Append's, and
// those of Bad packets as they stand.
func reencode(t testing.TB, buf []byte) []byte {
	t.Helper()
	return packettest.Reencode(t, buf, func(base int64) iter.Seq[Packet] { return NewLexer(buf, base).All() },
		func(p *Packet) bool { return p.Kind == Bad })
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

// Catches a field that is lost or displaced in bytes or text for some value, and a
// length that depends on what comes before or after. Sequences of random packets
// must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	packettest.Sequences(t, testsize.Of(t, 10_000, 300_000), func(r *rand.Rand, _ int) (s packettest.Sequence[Packet]) {
		for range 12 {
			p := randPacket(r)
			p.Off = int64(len(s.Bytes))
			s.Packets, s.Bytes = append(s.Packets, p), p.Append(s.Bytes)
		}
		s.Lex, s.Codec = NewLexer(s.Bytes, 0).All(), &codec
		return s
	})
}

// Catches a read that depends on more than the bytes: any bytes come back
// whole, among them sync points, long zeros and packets cut short.
func TestRandomBytesComeBack(t *testing.T) {
	heads := []string{syncPattern, "\x00\x00\x00", "\x94\xff\xff", "\xb4\xff\xff\xff", "\xc0\x80", "\x88\x80", "\x00\x00\x00\x00\x00\x00\x00\x00\x00"}
	packettest.RandomBytes(t, testsize.Of(t, 10_000, 100_000), heads, func(_ int, buf []byte) []byte { return reencode(t, buf) })
}

// Catches a panic on packets that no lexer gives.
func TestAppendTakesAnything(t *testing.T) {
	for k := range 256 {
		for _, v := range []uint8{0, 1, 3, 7, 64, 255} {
			p := Packet{Kind: Kind(k), N: v, Arg: v, Of: Kind(v), Value: uint64(v) * 0x01010101}
			if k != int(Sync) {
				p.Value = ^uint64(0)
			} else if v > 0 {
				continue
			}
			if b := p.Append(nil); len(b) > 300 {
				t.Errorf("%+v gives %d bytes", p, len(b))
			}
			_ = p.String()
		}
	}
}

// Catches a search that misses a sync point at either end, takes one cut
// short, or does not take the last zeros.
func TestFindSync(t *testing.T) {
	packettest.FindSync(t, FindSync, []struct {
		Name, Buf  string
		From, Want int
	}{
		{"at the front", syncPattern, 0, 0},
		{"at the end", "\x12\x34" + syncPattern, 0, 2},
		{"more zeros", "\x12\x00\x00" + syncPattern, 0, 3},
		{"four zeros", "\x01" + syncPattern[1:], 0, -1},
		{"no 80", syncPattern[:5] + "\x81", 0, -1},
		{"cut short", syncPattern[:5], 0, -1},
		{"nothing", "", 0, -1},
		{"behind the place asked for", syncPattern + syncPattern, 1, 6},
		{"only before it", syncPattern, 1, -1},
		{"beyond the end", syncPattern, 100, -1},
		{"before the front", syncPattern, -1, 0},
	})
}
