package pt

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// randPacket returns a packet as the lexer gives them, at offset 0; item is
// the item size of the open block, 0 if none is.
func randPacket(r *rand.Rand, item uint8) Packet {
	k := PAD + Kind(r.IntN(int(NumKinds-PAD)))
	if item != 0 && r.IntN(2) == 0 || item == 0 && k == BIP {
		k = BIP
	}
	if k == BIP && item == 0 {
		k = BBP
	}
	p := Packet{Kind: k}
	for _, f := range specs[k].fields {
		if f.form != asResults && f.form != asIP {
			// Small numbers as often as large ones.
			f.set(&p, r.Uint64()>>r.IntN(64)&(1<<f.width-1)<<f.shift)
		}
	}
	switch k {
	case PAD:
		p.Len = uint8(1 + r.IntN(maxPAD))
	case TNTShort, TNTLong:
		p.N = uint8(1 + r.IntN(6))
		if k == TNTLong {
			p.N = uint8(r.IntN(48))
		}
		p.Value = r.Uint64() & (1<<p.N - 1)
	case TIP, PGE, PGD, FUP:
		p.Arg = []uint16{0, 1, 2, 3, 4, 6}[r.IntN(6)]
		if p.Arg != 0 {
			p.Value = r.Uint64() >> (64 - 8*ipSize[p.Arg])
		}
	case ModeOther:
		p.Arg = uint16(2 + r.IntN(6))
	case CYC:
		if p.Arg = uint16(r.IntN(2 * maxCYC)); p.Arg > maxCYC || int(p.Arg) <= cycSize(p.Value) {
			p.Arg = 0
		}
	case PTW:
		if p.Arg == 0 {
			p.Value &= 1<<32 - 1
		}
	case BIP:
		p.N = item
		p.Value = r.Uint64() >> (64 - 8*item)
	case TRIG:
		if p.Arg&TrigICNTV == 0 {
			p.Value = 0
		}
	}
	return p
}

// Catches a field that is lost or displaced in bytes or text for some value,
// and a length that depends on what comes before or after: sequences of random
// packets must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	const length = 12 // packets a sequence
	n := packettest.Rounds(1_000_000, 20_000)
	r := rand.New(rand.NewPCG(1, 2))
	var want []Packet
	var buf, text, back []byte
	for seq := range n {
		want, buf, text = want[:0], buf[:0], text[:0]
		item := uint8(0)
		for range length {
			p := randPacket(r, item)
			if item != 0 && p.Kind == TNTShort && AppendPacket(nil, p)[0]&7 == 4 {
				continue // would be an item
			}
			if m := len(want); m > 0 && p.Kind == PAD && want[m-1].Kind == PAD {
				continue // would be counted with the last
			}
			p.Off = int64(len(buf))
			buf = AppendPacket(buf, p)
			p.Len = uint8(len(buf) - int(p.Off))
			want = append(want, p)
			switch {
			case p.Kind == BBP:
				item = 8 - 4*uint8(p.Value>>7)
			case keepsBlock>>p.Kind&1 == 0:
				item = 0
			}
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
		for _, p := range want {
			text = append(AppendText(text, p, nil), '\n')
		}
		var err error
		if back, err = Assemble(back[:0], string(text)); err != nil || !bytes.Equal(back, buf) {
			t.Fatalf("sequence %d: %s gives %x, %v, want %x", seq, text, back, err, buf)
		}
	}
}

// Catches a read that depends on more than the bytes: any bytes come back
// whole, among them PSBs, blocks and packets cut short.
func TestRandomBytesComeBack(t *testing.T) {
	n := packettest.Rounds(200_000, 10_000)
	r := rand.New(rand.NewPCG(3, 4))
	heads := [][]byte{{0x02}, {0x02, 0x63, 0x80}, {0x02, 0x63, 0}, []byte(psb), {0xff}, {0x99}, {0xd9}, {0}}
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
		for _, v := range []uint8{0, 1, 7, 64, 255} {
			p := Packet{Kind: Kind(k), N: v, Len: v, Arg: uint16(v) * 257, Extra: uint16(v) * 257, Value: ^uint64(0)}
			if b := AppendPacket(nil, p); len(b) > 256 {
				t.Errorf("%+v gives %d bytes", p, len(b))
			}
			_ = p.String()
		}
	}
}
