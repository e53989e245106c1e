package ptm

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// Append appends the bytes of p, which must be as Next gives packets:
// then they are the bytes that Next read. Bits that have no room in the packet
// are dropped. A Bad packet holds no bytes, so nothing is appended: its
// bytes are those at [Off, End) of the stream.
func (p Packet) Append(dst []byte) []byte {
	switch p.Kind {
	case ISync:
		dst = binary.LittleEndian.AppendUint32(append(dst, 0x08), uint32(p.Value))
		return wire.AppendContext(appendCycles(append(dst, byte(p.Info)), p), p.Context, p.N)
	case Atom:
		return appendAtom(dst, p)
	case Branch:
		dst = wire.AppendBranch(dst, p.Value, p.N)
		for i := range min(p.Exc, 2) {
			dst = append(dst, byte(p.Info>>(8*i)))
		}
		return appendCycles(dst, p)
	case Waypoint:
		dst = wire.AppendAddress(append(dst, 0x72), p.Value, p.N)
		if p.Exc != 0 {
			dst = append(dst, byte(p.Info))
		}
		return dst
	case ASync:
		return wire.AppendASync(dst, p.N)
	case Trigger:
		return append(dst, 0x0c)
	case ContextID:
		return wire.AppendContext(append(dst, 0x6e), p.Context, p.N)
	case VMID:
		return append(dst, 0x3c, byte(p.Value))
	case Timestamp:
		return appendCycles(wire.AppendTimestamp(append(dst, 0x42|byte(p.Info&1)<<2), p.Value, p.N), p)
	case ExceptionRet:
		return append(dst, 0x76)
	case Ignore:
		return append(dst, 0x66)
	}
	return dst
}

// appendCycles appends the cycle count in p.CC bytes, none for 0.
func appendCycles(dst []byte, p Packet) []byte {
	v := p.Cycles
	n := min(p.CC, 5)
	for i := range n {
		b := byte(v) & 0x7f
		if i == 0 {
			b = byte(v)&0xf<<2 | p.Pad&1<<1 | p.Pad>>1&1 | p.Pad>>2<<7
			v >>= 4
			if n > 1 {
				b |= 0x40
			}
		} else {
			v >>= 7
			if i < n-1 || i == 4 && p.Pad&8 != 0 {
				b |= 0x80
			}
		}
		dst = append(dst, b)
	}
	return dst
}

func appendAtom(dst []byte, p Packet) []byte {
	if p.CC == 0 {
		n := min(p.N, 5)
		return append(dst, 0x80|1<<(n+1)|byte(^p.Value)&(1<<n-1)<<1)
	}
	p.Pad = p.Pad&8 | 4 | byte(^p.Value)&1
	return appendCycles(dst, p)
}
