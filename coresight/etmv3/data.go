package etmv3

import (
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Packets of data traces: IHI0014Q, "Packet types". Their lengths are all that
// matters to the trace of instructions.

// dataSizes is the bytes of a data value by its two bits.
var dataSizes = [4]uint8{0, 1, 2, 4}

// data reads a packet of data traces.
func (l *Lexer) data(p *Packet, buf []byte) bool {
	b := buf[0]
	k, tag, first := Data, uint16(0), b&0x20 != 0
	size := dataSizes[b>>2&3]
	switch {
	case b == 0x50:
		k, first, size = StoreFailed, false, 0
	case b == 0x62:
		k, first, size = DataSuppressed, false, 0
	case b&0xef == 0x6a:
		k, first, size = NotTraced, b&0x10 != 0, 0
	case b&0xd3 == 0x50:
		k, tag, size = Placeholder, uint16(b>>2&3)<<1, 0
	case b&0x93 == 0:
		k, tag, first = OutOfOrder, uint16(b>>5&3), false
	}
	if specs[k].needs == needValues && !l.form.DataValues || !l.form.DataValues && !l.form.DataAddresses {
		return l.bad(p, packettext.BadForm, k, 0)
	}
	p.Info, p.N = tag, size
	n := 1
	if first {
		p.Info |= 1
		if l.form.DataAddresses {
			if p.Extra, p.Exc, n = address(buf, 1); n > len(buf) {
				return l.bad(p, packettext.BadCut, k, n)
			}
		}
	}
	if n+int(size) > len(buf) {
		return l.bad(p, packettext.BadCut, k, n+int(size))
	}
	for i := range int(size) {
		p.Value |= uint64(buf[n+i]) << (8 * i)
	}
	return l.take(p, k, n+int(size))
}

// appendData is the inverse of data.
func appendData(dst []byte, p Packet) []byte {
	ss := byte(0)
	for i, n := range dataSizes {
		if n == p.N {
			ss = byte(i) << 2
		}
	}
	a := byte(p.Info & 1)
	switch p.Kind {
	case Data:
		dst = append(dst, 0x02|a<<5|ss)
	case OutOfOrder:
		dst = append(dst, byte(p.Info&3)<<5|ss)
	case Placeholder:
		dst = append(dst, 0x50|a<<5|byte(p.Info>>1&3)<<2)
	case NotTraced:
		dst = append(dst, 0x6a|a<<4)
	case StoreFailed:
		return append(dst, 0x50)
	case DataSuppressed:
		return append(dst, 0x62)
	}
	if p.Kind != OutOfOrder {
		dst = wire.AppendAddress(dst, p.Extra, p.Exc)
	}
	if p.Kind == Data || p.Kind == OutOfOrder {
		for i := range min(p.N, 4) {
			dst = append(dst, byte(p.Value>>(8*i)))
		}
	}
	return dst
}
