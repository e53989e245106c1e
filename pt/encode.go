package pt

import "encoding/binary"

// Append appends the bytes of p, which must be as Next gives packets:
// then they are the bytes that Next read. Bits that have no room in the packet
// are dropped. A Bad packet holds no bytes, so nothing is appended: its
// bytes are those at [Off, End) of the stream.
func (p Packet) Append(dst []byte) []byte {
	le := binary.LittleEndian
	switch p.Kind {
	case PAD:
		for range max(p.Len, 1) {
			dst = append(dst, 0)
		}
		return dst
	case TNTShort:
		return append(dst, byte((p.Value|1<<p.N)<<1))
	case TNTLong:
		return appendPayload(append(dst, 0x02, 0xa3), p.Value|1<<p.N, 6)
	case TIP:
		return appendIP(dst, 0x0d, p)
	case PGE:
		return appendIP(dst, 0x11, p)
	case PGD:
		return appendIP(dst, 0x01, p)
	case FUP:
		return appendIP(dst, 0x1d, p)
	case PIP:
		return appendPayload(append(dst, 0x02, 0x43), p.Value, 6)
	case VMCS:
		return appendPayload(append(dst, 0x02, 0xc8), p.Value, 5)
	case ModeExec:
		return append(dst, 0x99, byte(p.Value&0x1f))
	case ModeTSX:
		return append(dst, 0x99, 1<<5|byte(p.Value&0x1f))
	case ModeOther:
		return append(dst, 0x99, byte(p.Arg)<<5|byte(p.Value&0x1f))
	case TSC:
		return appendPayload(append(dst, 0x19), p.Value, 7)
	case MTC:
		return append(dst, 0x59, byte(p.Value))
	case TMA:
		dst = le.AppendUint16(append(dst, 0x02, 0x73), uint16(p.Value))
		return append(dst, byte(p.Extra), byte(p.Arg), byte(p.Arg>>8)&1|byte(p.Extra>>8)<<1)
	case CYC:
		return appendCYC(dst, p)
	case CBR:
		return append(dst, 0x02, 0x03, byte(p.Value), byte(p.Arg))
	case TraceStop:
		return append(dst, 0x02, 0x83)
	case OVF:
		return append(dst, 0x02, 0xf3)
	case PSB:
		return append(dst, psb...)
	case PSBEND:
		return append(dst, 0x02, 0x23)
	case MNT:
		return le.AppendUint64(append(dst, 0x02, 0xc3, 0x88), p.Value)
	case PTW:
		wide := byte(p.Arg & 1)
		return appendPayload(append(dst, 0x02, flag(p)|wide<<5|0x12), p.Value, 4<<wide)
	case EXSTOP:
		return append(dst, 0x02, flag(p)|0x62)
	case MWAIT:
		return le.AppendUint64(append(dst, 0x02, 0xc2), p.Value)
	case PWRE:
		return le.AppendUint16(append(dst, 0x02, 0x22), uint16(p.Value))
	case PWRX:
		return appendPayload(append(dst, 0x02, 0xa2), p.Value, 5)
	case BBP:
		return append(dst, 0x02, 0x63, byte(p.Value))
	case BIP:
		return appendPayload(append(dst, byte(p.Arg<<3)|4), p.Value, int(min(p.N, 8)))
	case BEP:
		return append(dst, 0x02, flag(p)|0x33)
	case CFE:
		return append(dst, 0x02, 0x13, byte(p.Value), byte(p.Arg))
	case EVD:
		return le.AppendUint64(append(dst, 0x02, 0x53, byte(p.Arg)), p.Value)
	case TRIG:
		dst = append(dst, 0xd9, byte(p.Arg), byte(p.Extra))
		if p.Arg&trigICNTV != 0 {
			dst = le.AppendUint16(dst, uint16(p.Value))
		}
		return dst
	}
	return dst
}

// flag returns bit 7 as p.Flag.
func flag(p Packet) byte {
	if p.Flag {
		return 0x80
	}
	return 0
}

// appendPayload appends the low n bytes of v, the lowest first.
func appendPayload(dst []byte, v uint64, n int) []byte {
	for range n {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

func appendIP(dst []byte, op byte, p Packet) []byte {
	dst = append(dst, byte(p.Arg)<<5|op)
	return appendPayload(dst, p.Value, max(0, int(ipSize[p.Arg&7])))
}

func appendCYC(dst []byte, p Packet) []byte {
	n := cycSize(p.Value)
	if p.Arg != 0 {
		n = min(max(n, int(p.Arg)), maxCYC)
	}
	b := byte(p.Value<<3) | 3
	if n > 1 {
		b |= 4
	}
	dst = append(dst, b)
	v := p.Value >> 5
	for i := 1; i < n; i++ {
		b = byte(v << 1)
		if i < n-1 {
			b |= 1
		}
		dst = append(dst, b)
		v >>= 7
	}
	return dst
}
