package pt

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// randNumbers returns numbers at random of the fields that have no size, small ones as
// often as large ones.
func randNumbers(r *rand.Rand, fields []packettext.Field) (n packettext.Numbers) {
	for i := range fields {
		f := &fields[i]
		if f.Form != packettext.Sized && f.Form != packettext.Letters {
			n[f.In] |= r.Uint64() >> r.IntN(64) & (1<<f.Width - 1) << f.Lo
		}
	}
	return n
}

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
	n := randNumbers(r, specs[k].fields)
	n[inLen] = 1
	p, _ := ofNumbers(uint8(k), &n)
	p.Len = 0
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
		if p.Arg&trigICNTV == 0 {
			p.Value = 0
		}
	}
	return p
}

// Catches a field that is lost or displaced in bytes or text for some value, and a
// length that depends on what comes before or after. Sequences of random packets
// must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	packets.Sequences(t, func(r *rand.Rand, _ int) (list []Packet, raw []byte) {
		item := uint8(0)
		for range 12 {
			p := randPacket(r, item)
			if item != 0 && p.Kind == TNTShort && p.Append(nil)[0]&7 == 4 {
				continue // would be an item
			}
			if m := len(list); m > 0 && p.Kind == PAD && list[m-1].Kind == PAD {
				continue // would be counted with the last
			}
			p.Off = int64(len(raw))
			raw = p.Append(raw)
			p.Len = uint8(len(raw) - int(p.Off))
			list = append(list, p)
			switch {
			case p.Kind == BBP:
				item = 8 - 4*uint8(p.Value>>7)
			case keepsBlock>>p.Kind&1 == 0:
				item = 0
			}
		}
		return list, raw
	})
}
