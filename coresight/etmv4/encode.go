package etmv4

import (
	"encoding/binary"
	"math/bits"
)

// Append appends the bytes of p, which must be as Next gives packets:
// then they are the bytes that Next read. Bits that have no room in the packet
// are dropped. A Bad packet holds no bytes, so nothing is appended: its bytes
// are those at [Off, End) of the stream.
func (p Packet) Append(dst []byte) []byte {
	if p.Kind < NumKinds && header[p.Kind] != 0 {
		return append(dst, header[p.Kind]|p.Arg&headerArg[p.Kind])
	}
	switch p.Kind {
	case ASync:
		return append(dst, async...)
	case Discard:
		return append(dst, 0x00, 0x03)
	case Overflow:
		return append(dst, 0x00, 0x05)
	case TraceInfo:
		return appendInfo(dst, &p)
	case Timestamp:
		return appendTimestamp(dst, &p)
	case Exception:
		dst = append(dst, 0x06, p.Arg)
		if p.Extra&(1<<8) != 0 {
			dst = append(dst, byte(p.Extra))
		}
		return dst
	case ITE:
		return binary.LittleEndian.AppendUint64(append(dst, 0x09, p.Arg), p.Value)
	case CycleF1:
		dst = append(dst, 0x0e|p.Arg&1)
		if p.Arg&2 != 0 {
			dst = appendULEB(dst, p.Value2)
		}
		if p.Arg&1 == 0 {
			dst = appendULEB(dst, p.Value)
		}
		return dst
	case CycleF2:
		return append(dst, 0x0c|p.Arg&1, byte(p.Value))
	case Context:
		return appendContext(append(dst, 0x81), &p)
	case AddrCtxt32:
		return appendContext(appendAddress(append(dst, 0x82+p.Arg&1), &p), &p)
	case AddrCtxt64:
		return appendContext(appendAddress(append(dst, 0x85+p.Arg&1), &p), &p)
	case AddrShort, Addr32, Addr64, SrcShort, Src32, Src64:
		return appendAddress(append(dst, addressHeads[p.Kind]+p.Arg&1), &p)
	case Q:
		return appendQ(dst, &p)
	case AtomF1, AtomF2, AtomF3, AtomF4, AtomF5, AtomF6:
		return appendAtoms(dst, &p)
	}
	return appendRare(dst, &p)
}

// appendRare is Append for packets of speculation and of conditional
// instructions.
func appendRare(dst []byte, p *Packet) []byte {
	switch p.Kind {
	case Commit:
		return appendULEB(append(dst, 0x2d), p.Value)
	case CancelF1:
		return appendULEB(append(dst, 0x2e|p.Arg&1), p.Value)
	case CondF1:
		return appendULEB(append(dst, 0x6c), p.Value)
	case CondF3:
		return append(dst, 0x6d, byte(p.Value))
	case CondResF3:
		return append(dst, 0x50|byte(p.Value>>8&0xf), byte(p.Value))
	case CondResF1:
		dst = appendULEB(append(dst, 0x68|p.Arg&7), p.Value)
		if p.Arg&4 == 0 {
			dst = appendULEB(dst, p.Value2)
		}
		return dst
	}
	return dst
}

// header is the byte of packets that have but one; headerArg is the bits of it
// that are their Arg.
var header = [NumKinds]byte{
	TraceOn: 0x04, FuncReturn: 0x05, ExceptionReturn: 0x07, TxStart: 0x0a, TxCommit: 0x0b, CycleF3: 0x10,
	NumDataSync: 0x20, DataSync: 0x28, Mispredict: 0x30, CancelF2: 0x34, CancelF3: 0x38,
	CondF2: 0x40, CondFlush: 0x43, CondResF4: 0x44, CondResF2: 0x48, Ignore: 0x70, Event: 0x70,
	ContextSame: 0x80, TSMarker: 0x88, AddrMatch: 0x90, SrcMatch: 0xb0,
}

var headerArg = [NumKinds]byte{
	CycleF3: 0xf, NumDataSync: 7, DataSync: 7, Mispredict: 3, CancelF2: 3, CancelF3: 7,
	CondF2: 3, CondResF4: 3, CondResF2: 7, Event: 0xf, AddrMatch: 3, SrcMatch: 3,
}

// appendULEB appends the number in word, in as many bytes as its size says.
func appendULEB(dst []byte, word uint64) []byte {
	v := Number(word)
	n := max(ulebSize(v), min(int(word>>sizeShift), 8))
	for i := 1; i < n; i++ {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v)&0x7f)
}

// ulebSize returns the length of the shortest ULEB128 that holds v, bytes.
func ulebSize(v uint64) int { return max(1, (bits.Len64(v)+6)/7) }

func appendInfo(dst []byte, p *Packet) []byte {
	dst = append(dst, 0x01, p.Arg)
	field := [5]uint64{p.Value & (1<<14 - 1), p.Value2 & (1<<28 - 1), p.Value2 >> 32 & (1<<28 - 1),
		p.Value >> 16 & (1<<21 - 1), uint64(p.Extra)}
	for i, v := range field {
		if p.Arg>>i&1 != 0 {
			dst = appendULEB(dst, v|p.Value>>(48+3*i)&7<<sizeShift)
		}
	}
	return dst
}

func appendTimestamp(dst []byte, p *Packet) []byte {
	dst = append(dst, 0x02|p.Arg&1)
	v := p.Value
	for i := 1; i < int(min(p.N, 9)); i++ {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	if p.N < 9 {
		v &= 0x7f
	}
	dst = append(dst, byte(v))
	if p.Arg&1 != 0 {
		dst = appendULEB(dst, uint64(p.Extra&0xffffff)|uint64(p.Extra>>24)<<sizeShift)
	}
	return dst
}

// addressHeads are the headers of packets that are an address, of A64 or A32.
var addressHeads = [NumKinds]byte{AddrShort: 0x95, Addr32: 0x9a, Addr64: 0x9d, SrcShort: 0xb4, Src32: 0xb6, Src64: 0xb8}

// appendAddress appends the bytes of p's address.
func appendAddress(dst []byte, p *Packet) []byte {
	n, _ := p.sent()
	return appendPayload(dst, p.Value, int(n))
}

// appendPayload appends the low n bytes of v, the lowest first.
func appendPayload(dst []byte, v uint64, n int) []byte {
	for range n {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// appendContext appends the information byte and the IDs.
func appendContext(dst []byte, p *Packet) []byte {
	dst = append(dst, byte(p.Extra))
	if p.Extra&InfoV != 0 {
		dst = appendPayload(dst, p.Value2, int(p.N&0xf))
	}
	if p.Extra&InfoC != 0 {
		dst = appendPayload(dst, p.Value2>>32, int(p.N>>4))
	}
	return dst
}

func appendQ(dst []byte, p *Packet) []byte {
	dst = append(dst, 0xa0|p.Arg&0xf)
	switch p.Arg & 0xf {
	case QShort0, QShort1, QLong0, QLong1:
		dst = appendAddress(dst, p)
	case QBare:
		return dst
	}
	return appendULEB(dst, p.Value2)
}

// appendAtoms appends the one packet that holds the atoms of p; none where
// their kind cannot.
func appendAtoms(dst []byte, p *Packet) []byte {
	for b := 0xc0; b < 0x100; b++ {
		if e := &single[b]; e.Kind == p.Kind && e.N == p.N && e.Extra == p.Extra {
			return append(dst, byte(b))
		}
	}
	return dst
}

// AppendAtoms appends packets that hold the n newest bits of v, the oldest in
// bit n-1, 1: E, in as few packets as format 6 and the others allow.
func AppendAtoms(dst []byte, v uint64, n int) []byte {
	for n > 0 {
		best, size := 0, 0
		for b := 0xc0; b < 0x100; b++ {
			e := &single[b]
			k := int(e.N)
			if k > size && k <= n && v>>(n-k)&(1<<k-1) == uint64(e.Extra) {
				best, size = b, k
			}
		}
		dst = append(dst, byte(best))
		n -= size
	}
	return dst
}
