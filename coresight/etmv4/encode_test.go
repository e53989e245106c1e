package etmv4

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// reencode returns the packets of buf as bytes again, bad ones as they were. It
// fails where offsets do not rise without a hole.
func reencode(t testing.TB, c coresight.Config, buf []byte) []byte {
	t.Helper()
	return tracetest.Reencode(t, buf, func(base int64) iter.Seq[Packet] { return NewLexer(c, buf, base).All() },
		func(p Packet) bool { return p.Kind == Bad }, AppendPacket)
}

// randPacket returns a packet as text can say it: fields at random, whether or
// not a packet of the trace unit holds them.
func randPacket(r *rand.Rand, d dialect) Packet {
	p := Packet{Kind: ASync + Kind(r.IntN(int(NumKinds-ASync)))}
	for _, f := range specs[p.Kind].fields {
		// Small numbers as often as large ones.
		v := r.Uint64() >> r.IntN(64) & (1<<f.width - 1)
		if f.lo == sizeShift {
			v = uint64(r.IntN(6) * r.IntN(2) * r.IntN(2))
		}
		switch f.form {
		case asAtoms:
			b := byte(0xc0 + r.IntN(0x40))
			var bits uint32
			p.Kind, p.N, bits = atoms(b)
			v = uint64(bits)
		case asFlagged:
			if r.IntN(2) == 0 {
				f.setFlag(&p)
			}
		case asBytes:
			p.N = uint8(1 + r.IntN(9))
		case asID:
			if f.flagged(&p) {
				p.N |= [2]uint8{d.vmid, d.cid}[f.flag-14] << f.half()
			}
		}
		f.set(&p, v)
	}
	p.setBytes()
	return p
}

// Catches a field that is lost or displaced in bytes or text for some value,
// and a length that depends on what comes before or after: sequences of random
// packets must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	n := packettest.Rounds(60_000, 5_000)
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range testConfigs {
		seen := map[Kind]int{}
		for seq := range n / len(testConfigs) {
			var want []Packet
			var buf, text []byte
			for range 12 {
				p := randPacket(r, newDialect(&c))
				b := AppendPacket(nil, p)
				var q Packet
				if NewLexer(c, b, int64(len(buf))).Next(&q); q.Kind != p.Kind || int(q.Len) != len(b) {
					continue // not of this trace unit, or no form of it
				}
				seen[q.Kind]++
				want, buf = append(want, q), append(buf, b...)
				text = append(AppendText(text, q, nil), '\n')
			}
			i := 0
			for p := range NewLexer(c, buf, 0).All() {
				if i >= len(want) || p != want[i] {
					t.Fatalf("%s: sequence %d, %x: packet %d is %+v, want %+v", name, seq, buf, i, p, want[min(i, len(want)-1)])
				}
				i++
			}
			if back := reencode(t, c, buf); !bytes.Equal(back, buf) {
				t.Fatalf("%s: sequence %d: %x comes back as %x", name, seq, buf, back)
			}
			if back, err := Assemble(c, nil, string(text)); i != len(want) || err != nil || !bytes.Equal(back, buf) {
				t.Fatalf("%s: sequence %d: %s gives %x, %v, want %x", name, seq, text, back, err, buf)
			}
		}
		d := newDialect(&c)
		rows := rowsOf(t, d)
		for b := range rows {
			for _, row := range rows[b] {
				if seen[row.kind] == 0 {
					t.Errorf("%s: no %v came", name, row.kind)
				}
			}
		}
	}
}

// Catches a read that depends on more than the bytes: any bytes come back
// whole, among them A-Syncs and packets cut short.
func TestRandomBytesComeBack(t *testing.T) {
	n := packettest.Rounds(100_000, 10_000)
	r := rand.New(rand.NewPCG(3, 4))
	heads := [][]byte{{0x00}, {0x00, 0x03}, []byte(async), {0x01, 0x1f}, {0x0e}, {0x9d}, {0x85}, {0xa5}, {0x68}, {0x06}}
	for _, c := range testConfigs {
		for range n / len(testConfigs) {
			buf := make([]byte, 0, 64)
			for len(buf) < 40 {
				if r.IntN(2) == 0 {
					buf = append(buf, heads[r.IntN(len(heads))]...)
				}
				for range r.IntN(8) {
					buf = append(buf, byte(r.Uint32()))
				}
			}
			if out := reencode(t, c, buf); !bytes.Equal(out, buf) {
				t.Fatalf("%x comes back as %x", buf, out)
			}
		}
	}
}

// Catches a panic on packets that no lexer gives.
func TestAppendTakesAnything(t *testing.T) {
	for k := range 256 {
		for _, v := range []uint8{0, 1, 7, 64, 255} {
			p := Packet{Kind: Kind(k), N: v, Len: v, Arg: v, Extra: uint32(v) * 0x1010101, Value: ^uint64(0), Value2: ^uint64(0)}
			if b := AppendPacket(nil, p); len(b) > 64 {
				t.Errorf("%+v gives %d bytes", p, len(b))
			}
			_ = p.String()
			_ = AppendText(nil, p, nil)
		}
	}
}

// Catches outcomes that packets turn round or drop.
func TestAppendAtoms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 1 + r.IntN(64)
		v := r.Uint64() >> (64 - n)
		if r.IntN(3) == 0 { // long runs of E
			v |= r.Uint64() | r.Uint64() | r.Uint64()
			v &= 1<<n - 1
		}
		var got uint64
		k := 0
		for p := range NewLexer(testConfigs["ete1.3"], AppendAtoms(nil, v, n), 0).All() {
			got, k = got<<p.N|uint64(p.Extra), k+int(p.N)
		}
		if got != v || k != n {
			t.Fatalf("%0*b comes back as %0*b", n, v, k, got)
		}
	}
}
