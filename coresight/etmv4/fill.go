package etmv4

import "encoding/binary"

// Fill reads packets into q, every field of them, and returns how many: fewer
// than len(q) only where no byte is left. It gives what as many calls of Next
// would.
func (l *Lexer) Fill(q []Packet) int {
	buf, pos, base := l.buf, l.pos, l.base
	for i := range q {
		if uint(pos) >= uint(len(buf)) {
			l.pos = pos
			return i
		}
		b := buf[pos]
		p := &q[i]
		if e := &single[b]; e.Kind != Bad {
			*p = *e
			p.Off = base + int64(pos)
			pos++
			continue
		}
		l.pos = pos
		if b&0xf0 != 0x90 || !l.target(p) {
			l.next(p, buf[pos:])
		}
		pos = l.pos
	}
	l.pos = pos
	return len(q)
}

// target is next for the addresses that follow branches, where more bytes are
// left than one has.
func (l *Lexer) target(p *Packet) bool {
	pos := l.pos
	if len(l.buf)-pos < 9 {
		return false
	}
	b, body := l.buf[pos], binary.LittleEndian.Uint64(l.buf[pos+1:pos+9:pos+9])
	p.Off, p.Value2 = l.base+int64(pos), 0
	switch b {
	case 0x95, 0x96:
		is := b - 0x95
		more := body >> 7 & 1 // a second byte
		p.Kind, p.N, p.Len, p.Arg, p.Extra = AddrShort, 1+uint8(more), 2+uint8(more), is, 0
		p.Value = (body&0x7f | body>>1&0x7f80&-more) << (2 - is)
	case 0x9a, 0x9b:
		p.Kind, p.N, p.Len, p.Arg = Addr32, 0, 5, b-0x9a
		p.Value, p.Extra = long(body&0xffffffff, p.Arg)
	case 0x9d, 0x9e:
		p.Kind, p.N, p.Len, p.Arg = Addr64, 0, 9, b-0x9d
		p.Value, p.Extra = long(body, p.Arg)
	default:
		return false
	}
	l.pos = pos + int(p.Len)
	return true
}
