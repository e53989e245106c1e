package pt

import (
	"encoding/binary"
	"math/bits"
)

// Fill reads the next packets into q, every field of them, and returns how many:
// fewer than len(q) only where no byte is left. It gives what as many calls of
// Next would.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	for {
		n += l.common(q[n:])
		if k := l.stated(q[n:]); k > 0 {
			n += k
			continue
		}
		if n == len(q) || !l.Next(&q[n]) {
			return n
		}
		n++
	}
}

// common is Next for as many packets in a row as their first byte tells all of.
//
// Where the next packet is hangs on a table of bytes alone; nothing else stands
// between one packet and the next. PADs are told apart by a branch, since counting
// them would lengthen that way for all others.
func (l *Lexer) common(q []Packet) int {
	buf, pos, n := l.buf, l.pos, 0
	off := l.base + int64(pos)
	for n < len(q) && pos < l.fast {
		b := buf[pos]
		e := &first[b]
		if e.packet.Kind == Bad {
			break
		}
		size := int(firstLen[b])
		p := &q[n]
		n++
		*p = e.packet
		p.Off = off
		if b == 0 {
			size = bits.TrailingZeros64(binary.LittleEndian.Uint64(buf[pos:pos+8])|1<<63) >> 3
			p.Len = uint8(size)
		} else {
			p.Value = e.packet.Value | binary.LittleEndian.Uint64(buf[pos+1:pos+9])&e.mask
		}
		pos += size
		off += int64(size)
	}
	l.pos = pos
	return n
}

// stated is Next for as many packets in a row as a PSB+ is made of: their second byte tells
// what they are. They follow each other in the same order nearly each time.
func (l *Lexer) stated(q []Packet) int {
	buf, pos, n := l.buf, l.pos, 0
	for n < len(q) && pos < l.fast {
		e, body := (*firstByte)(nil), binary.LittleEndian.Uint64(buf[pos+1:pos+9])
		switch buf[pos] {
		case 0x02:
			e, body = &second[uint8(body)], body>>8
		case 0x99:
			e = &modes[body>>5&7]
		default:
			e = &first[0x02]
		}
		k := e.packet.Kind
		if k == Bad || k == PSB && (len(buf)-pos < len(psb) || string(buf[pos:pos+len(psb)]) != psb) {
			break
		}
		p := &q[n]
		n++
		*p = e.packet
		p.Value, p.Off = body&e.mask, l.base+int64(pos)
		if k == CBR {
			p.Arg = uint16(uint8(body >> 8))
		}
		pos += int(e.packet.Len)
	}
	l.pos = pos
	return n
}

// second is what the byte behind 02 says, for the packets that are short and common:
// as first, but of the payload behind both. modes is the same for MODE, by leaf.
var second, modes = secondBytes()

func secondBytes() (t [256]firstByte, leaf [8]firstByte) {
	set := func(b int, k Kind, n uint8, mask uint64) { t[b] = firstByte{Packet{Kind: k, Len: n}, mask} }
	set(0x03, CBR, 4, 0xff)
	set(0x23, PSBEND, 2, 0)
	set(0x43, PIP, 8, 1<<48-1)
	set(0x82, PSB, uint8(len(psb)), 0)
	set(0xc8, VMCS, 7, 1<<40-1)
	set(0xf3, OVF, 2, 0)
	for i := range leaf {
		leaf[i] = firstByte{Packet{Kind: ModeOther, Arg: uint16(i), Len: 2}, 0x1f}
	}
	leaf[0].packet = Packet{Kind: ModeExec, Len: 2}
	leaf[1].packet = Packet{Kind: ModeTSX, Len: 2}
	return t, leaf
}
