package etmv3

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
	case ASync:
		return wire.AppendASync(dst, p.N)
	case CycleCount:
		return appendCycles(append(dst, 0x04), p)
	case ISync:
		return appendISync(append(dst, 0x08), p)
	case ISyncCycles:
		return appendISync(appendCycles(append(dst, 0x70), p), p)
	case Trigger:
		return append(dst, 0x0c)
	case Branch:
		dst = wire.AppendBranch(dst, p.Value, p.N)
		for i := range min(p.Exc, 3) {
			dst = append(dst, byte(p.Extra>>(8*i)))
		}
		return dst
	case PHeader:
		return append(dst, header(p))
	case ContextID:
		return wire.AppendContext(append(dst, 0x6e), p.Context, p.N)
	case VMID:
		return append(dst, 0x3c, byte(p.Value))
	case Timestamp:
		return wire.AppendTimestamp(append(dst, 0x42|byte(p.Info&1)<<2), p.Value, p.N)
	case ExceptionRet:
		return append(dst, 0x76)
	case ExceptionEntry:
		return append(dst, 0x7e)
	case Ignore:
		return append(dst, 0x66)
	case Data, OutOfOrder, Placeholder, StoreFailed, DataSuppressed, NotTraced:
		return appendData(dst, p)
	}
	return dst
}

// header returns the P-header's byte.
func header(p Packet) byte {
	v := byte(p.Value)
	switch p.Info {
	case 2:
		return 0x80 | 2 | ^v&3<<2
	case 3:
		return 0xa0 | byte(p.Cycles-1)&7<<2 | v&1<<6
	case 4:
		return 0x92 | ^v&1<<2 | p.Pad&1<<3
	}
	n := p.N
	if n > 0 && v&1 == 0 {
		return 0x80 | 0x40 | (n-1)&0xf<<2
	}
	return 0x80 | n&0xf<<2
}

func appendISync(dst []byte, p Packet) []byte {
	dst = append(wire.AppendContext(dst, p.Context, p.N), byte(p.Info))
	if p.Info&infoNoAddress != 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Value))
	return wire.AppendAddress(dst, p.Extra, p.Exc)
}

// appendCycles appends the cycle count in p.CC bytes.
func appendCycles(dst []byte, p Packet) []byte {
	n := min(p.CC, 5)
	for i := range n {
		b := byte(p.Cycles>>(7*i)) & 0x7f
		switch {
		case i == 4:
			b = b&0xf | p.Pad<<4
		case i < n-1:
			b |= 0x80
		}
		dst = append(dst, b)
	}
	return dst
}
