package pt

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Fill reads the next packets into q, every field of them, and returns how many:
// fewer than len(q) only where no byte is left. It gives what as many calls of
// Next would.
func (l *Lexer) Fill(q []Packet) int {
	n := 0
	var last plus
	for {
		n += l.common(q[n:])
		if k := l.again(q, n, last); k > 0 {
			n += k
			continue
		}
		if k := l.stated(q[n:]); k > 0 {
			last.note(q, n, n+k)
			n += k
			continue
		}
		if n == len(q) || !l.Next(&q[n]) {
			return n
		}
		n++
	}
}

// plus is the last PSB+ that a call of Fill read whole: q[from:to].
type plus struct {
	from, to int
	open     int // 1 + where a PSB lies whose PSBEND has not come
}

// note takes down that stated has read q[from:to], which may begin or end a PSB+.
func (x *plus) note(q []Packet, from, to int) {
	if q[from].Kind == PSB {
		x.open = 1 + from
	}
	if q[to-1].Kind == PSBEND && x.open > 0 {
		x.from, x.to, x.open = x.open-1, to, 0
	}
}

// again is Next for all packets of a PSB+ that has the same bytes as the last one: they are
// copied. Without TSC, nearly every PSB+ of a real stream is like the one before. It returns
// how many packets it wrote to q[n:].
func (l *Lexer) again(q []Packet, n int, last plus) int {
	k := last.to - last.from
	if k == 0 || len(q)-n < k || l.pos >= l.fast || l.buf[l.pos] != psb[0] {
		return 0
	}
	off := l.Off()
	by := off - q[last.from].Off
	size := int(q[last.to-1].End() - q[last.from].Off)
	if len(l.buf)-l.pos < size || !bytes.Equal(l.buf[l.pos:l.pos+size], l.buf[l.pos-int(by):][:size]) {
		return 0
	}
	from, to := q[last.from:last.to], q[n:]
	to = to[:len(from)]
	for i := range from {
		at := from[i].Off + by
		to[i] = from[i]
		to[i].Off = at
	}
	l.pos += size
	return k
}

// common is Next for as many packets in a row as their first byte tells all of.
func (l *Lexer) common(q []Packet) int {
	n := 0
	for n < len(q) && l.pos < l.fast {
		sure := min(len(q)-n, (l.fast-1-l.pos)>>3+1) // none has more than 8 bytes
		k := l.sure(q[n : n+sure])
		n += k
		if k < sure {
			break
		}
	}
	return n
}

// sure is common where no end comes near: len(q) packets are there if all are common.
//
// Each length has code of its own, so that a processor that guesses the way there
// needs no byte of this packet to begin with the next one.
func (l *Lexer) sure(q []Packet) int {
	buf, pos, base := l.buf, l.pos, l.base
	for i := range q {
		head := binary.LittleEndian.Uint64(buf[pos : pos+8 : pos+8])
		e := &first[uint8(head)]
		p := &q[i]
		*p = e.packet
		p.Off = base + int64(pos)
		switch e.packet.Len {
		case 1:
			pos++
		case 3:
			p.Value = uint64(uint16(head >> 8))
			pos += 3
		case 5:
			p.Value = uint64(uint32(head >> 8))
			pos += 5
		case 7:
			p.Value = head << 8 >> 16
			pos += 7
		case 0:
			if uint8(head) != 0 {
				l.pos = pos
				return i
			}
			size := bits.TrailingZeros64(head|1<<63) >> 3
			p.Len = uint8(size)
			pos += size
		case 2:
			p.Value = uint64(uint8(head >> 8))
			pos += 2
		case 8:
			p.Value = head >> 8
			pos += 8
		default:
			l.pos = pos
			return i
		}
	}
	l.pos = pos
	return len(q)
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
		if k == PSBEND {
			break
		}
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
