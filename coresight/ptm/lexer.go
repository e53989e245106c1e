package ptm

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Format is what the lengths of packets depend on besides their bytes: how the
// trace unit was set up. The zero value is a trace without cycle counts and
// context IDs, of 48-bit timestamps.
type Format struct {
	CycleAccurate bool  // packets hold cycle counts (ETMCR bit 12)
	ContextBytes  uint8 // bytes of a context ID: 0, 1, 2 or 4 (ETMCR bits 15..14)
	TS64          bool  // timestamps have 64 bits (ETMCCER bit 29)
}

// cursor gives Lexer its methods Off and SeekTo.
type cursor = wire.Cursor

// Lexer splits the bytes of a stream into packets.
type Lexer struct {
	cursor
	fast int // below this index Next may use the quick path: eight bytes are there, and packets hold no cycles
	form Format
}

// NewLexer returns a Lexer over buf, whose first byte is at offset base of its
// stream and starts a packet. The Lexer reads buf in place.
func NewLexer(f Format, buf []byte, base int64) *Lexer {
	l := &Lexer{form: f}
	l.Reset(buf, base)
	return l
}

// Reset makes l a Lexer over buf of the same Format, without allocating.
func (l *Lexer) Reset(buf []byte, base int64) {
	*l = Lexer{cursor: cursor{Buf: buf, Base: base}, form: l.form}
	if !l.form.CycleAccurate {
		l.fast = len(buf) - 7
	}
}

// All returns the packets from the present place to the end of the bytes.
func (l *Lexer) All() iter.Seq[Packet] { return packettext.All(l.Next) }

// Next reads one packet into p, every field of it, and reports whether there
// was one: false means that no byte is left. Bytes that are no packet are a
// packet of kind Bad that reaches to the next A-sync, or to the end.
func (l *Lexer) Next(p *Packet) bool {
	pos := l.Pos
	if pos < l.fast {
		head := binary.LittleEndian.Uint64(l.Buf[pos : pos+8 : pos+8])
		b := uint8(head)
		if e := &single[b]; e.Kind != Bad {
			*p = *e
			p.Off = l.Base + int64(pos)
			l.Pos = pos + 1
			return true
		}
		if b&1 != 0 {
			// A fifth byte ends the address whatever its bit 7.
			n := bits.TrailingZeros64(^head&0x80808080|1<<39)>>3 + 1
			if head>>(8*n-2)&1 == 0 { // no exception bytes follow
				*p = Packet{Kind: Branch, Len: uint8(n), N: uint8(n), Value: wire.Squeeze(head & wire.AddressBits & (1<<(8*n) - 2)), Off: l.Base + int64(pos)}
				l.Pos = pos + n
				return true
			}
		}
	}
	if pos >= len(l.Buf) {
		return false
	}
	return l.next(p, l.Buf[pos:])
}

// single is the packet of one byte that each byte is, an Atom or a Branch, of
// kind Bad where it is none; not for cycle-accurate traces. IHI0035B, "Atom
// packet".
var single = singleBytes()

func singleBytes() (t [256]Packet) {
	for b := 0x80; b < 256; b += 2 {
		n := bits.Len8(uint8(b)&0x7f) - 2 // the outcomes lie below the highest set bit
		if n < 1 {
			continue // no set bit: reserved
		}
		v := ^uint64(b>>1) & (1<<n - 1)
		t[b] = Packet{Kind: Atom, Len: 1, N: uint8(n), Value: v}
	}
	for b := 0x01; b < 0x80; b += 2 {
		t[b] = Packet{Kind: Branch, Len: 1, N: 1, Value: uint64(b - 1)}
	}
	return t
}

// next is Next without the quick path. buf is what is left, one byte or more.
func (l *Lexer) next(p *Packet, buf []byte) bool {
	*p = Packet{Off: l.Base + int64(l.Pos)}
	switch b := buf[0]; {
	case b&1 != 0:
		return l.branch(p, buf)
	case b >= 0x80:
		return l.atom(p, buf)
	}
	switch buf[0] {
	case 0x00:
		return l.async(p, buf)
	case 0x08:
		return l.isync(p, buf)
	case 0x0c:
		return l.take(p, Trigger, 1)
	case 0x3c:
		if len(buf) < 2 {
			return l.bad(p, packettext.BadCut, VMID, 2)
		}
		p.Value = uint64(buf[1])
		return l.take(p, VMID, 2)
	case 0x42, 0x46:
		return l.timestamp(p, buf)
	case 0x66:
		return l.take(p, Ignore, 1)
	case 0x6e:
		if n := 1 + int(l.form.ContextBytes); len(buf) < n {
			return l.bad(p, packettext.BadCut, ContextID, n)
		}
		n := l.context(p, buf, 1)
		return l.take(p, ContextID, n)
	case 0x72:
		return l.waypoint(p, buf)
	case 0x76:
		return l.take(p, ExceptionRet, 1)
	}
	return l.bad(p, packettext.BadOpcode, Bad, 0)
}

// take completes a packet of n bytes that are all there.
func (l *Lexer) take(p *Packet, k Kind, n int) bool {
	p.Kind, p.Len = k, uint8(n)
	l.Pos += n
	return true
}

func (l *Lexer) async(p *Packet, buf []byte) bool {
	n, why, need := v3.ASync(buf)
	if n == 0 {
		return l.bad(p, why, ASync, need)
	}
	p.N = uint8(n)
	return l.take(p, ASync, n+1)
}

// isync reads an I-Sync: four bytes of address, the information byte, the
// cycle count but in periodic ones, the context ID. IHI0035B, "I-sync, instruction synchronization packet".
func (l *Lexer) isync(p *Packet, buf []byte) bool {
	if len(buf) < 6 {
		return l.bad(p, packettext.BadCut, ISync, 6+int(l.form.ContextBytes))
	}
	p.Value, p.Info = uint64(binary.LittleEndian.Uint32(buf[1:])), uint16(buf[5])
	n := 6
	if l.form.CycleAccurate && p.Reason() != v3.ReasonPeriodic {
		if n = p.cycles(buf, n); n > len(buf) {
			return l.bad(p, packettext.BadCut, ISync, n+int(l.form.ContextBytes))
		}
	}
	if end := n + int(l.form.ContextBytes); end > len(buf) {
		return l.bad(p, packettext.BadCut, ISync, end)
	}
	n = l.context(p, buf, n)
	return l.take(p, ISync, n)
}

// context reads the context ID at buf[at:], where it must be whole, and returns
// the index behind it.
func (l *Lexer) context(p *Packet, buf []byte, at int) int {
	for i := range min(int(l.form.ContextBytes), 4) {
		p.Context |= uint32(buf[at+i]) << (8 * i)
	}
	p.N = l.form.ContextBytes
	return at + int(p.N)
}

// cycles reads the cycle count at buf[at:] and returns the index behind it,
// which is beyond the end where it is cut. IHI0035B, "Atom packet".
func (p *Packet) cycles(buf []byte, at int) int {
	for n, shift := 0, 0; ; n++ {
		if at+n >= len(buf) {
			return len(buf) + 1
		}
		b := buf[at+n]
		more := b&0x80 != 0
		if n == 0 {
			more = b&0x40 != 0
			p.Cycles = uint32(b>>2) & 0xf
			p.Pad = b>>1&1 | b&1<<1 | b>>7<<2
			shift = 4
		} else {
			p.Cycles |= uint32(b&0x7f) << shift
			shift += 7
		}
		if n == 4 {
			p.Pad |= b >> 7 << 3
			more = false
		}
		if !more {
			p.CC = uint8(n + 1)
			return at + n + 1
		}
	}
}

func (l *Lexer) atom(p *Packet, buf []byte) bool {
	if !l.form.CycleAccurate {
		a := &single[buf[0]]
		if a.Kind == Bad {
			return l.bad(p, packettext.BadForm, Atom, 0)
		}
		p.N, p.Value = a.N, a.Value
		return l.take(p, Atom, 1)
	}
	n := p.cycles(buf, 0)
	if n > len(buf) {
		return l.bad(p, packettext.BadCut, Atom, n)
	}
	p.N, p.Value = 1, uint64(^buf[0]>>1&1)
	p.Pad &^= 7 // they make the atom
	return l.take(p, Atom, n)
}

// address reads the address bytes at buf[at:] and returns the index behind
// them, which is beyond the end where they are cut.
func (p *Packet) address(buf []byte, at int) int {
	for n := 0; n < 5; n++ {
		if at+n >= len(buf) {
			return len(buf) + 1
		}
		b := buf[at+n]
		if n == 4 {
			p.Value |= uint64(b) << 28
		} else {
			p.Value |= uint64(b&0x7f) << (7 * n)
		}
		if p.N = uint8(n + 1); b < 0x80 {
			break
		}
	}
	return at + int(p.N)
}

// hasInfo reports whether the last address byte says that more follows: bit 6
// of any but the first.
func (p *Packet) hasInfo() bool { return p.N > 1 && p.Value>>(7*p.N-1)&1 != 0 }

// branch reads a branch address packet. IHI0035B, "Branch address packet".
func (l *Lexer) branch(p *Packet, buf []byte) bool {
	n := p.address(buf, 0)
	if n > len(buf) {
		return l.bad(p, packettext.BadCut, Branch, n)
	}
	p.Value &^= 1
	if p.hasInfo() {
		p.Exc = 1
		if n < len(buf) && buf[n]&v3.ExcMore != 0 {
			p.Exc = 2
		}
		if n+int(p.Exc) > len(buf) {
			return l.bad(p, packettext.BadCut, Branch, n+int(p.Exc))
		}
		for i := range p.Exc {
			p.Info |= uint16(buf[n]) << (8 * i)
			n++
		}
	}
	if l.form.CycleAccurate {
		if n = p.cycles(buf, n); n > len(buf) {
			return l.bad(p, packettext.BadCut, Branch, n)
		}
	}
	return l.take(p, Branch, n)
}

// waypoint reads a waypoint update packet. IHI0035B, "Waypoint update packet".
func (l *Lexer) waypoint(p *Packet, buf []byte) bool {
	n := p.address(buf, 1)
	if n > len(buf) {
		return l.bad(p, packettext.BadCut, Waypoint, n)
	}
	if p.N == 5 && p.hasInfo() {
		if n == len(buf) {
			return l.bad(p, packettext.BadCut, Waypoint, n+1)
		}
		p.Exc, p.Info = 1, uint16(buf[n])
		n++
	}
	return l.take(p, Waypoint, n)
}

// timestamp reads a timestamp packet. IHI0035B, "Timestamp packet".
func (l *Lexer) timestamp(p *Packet, buf []byte) bool {
	var n int
	if p.Value, p.N, n = v3.ReadTimestamp(buf, l.form.TS64); n > len(buf) {
		return l.bad(p, packettext.BadCut, Timestamp, n)
	}
	p.Info = uint16(buf[0] >> 2 & 1)
	if l.form.CycleAccurate {
		if n = p.cycles(buf, n); n > len(buf) {
			return l.bad(p, packettext.BadCut, Timestamp, n)
		}
	}
	return l.take(p, Timestamp, n)
}

// bad makes p the bytes from here to the next A-sync, or to the end. of is the
// kind of packet that began here, Bad if that is not known; need is how many
// bytes it has at least, if they are not there.
func (l *Lexer) bad(p *Packet, why uint16, of Kind, need int) bool {
	off, n := l.Skip(wire.BadEnd(l.Buf, l.Pos))
	*p = Packet{Kind: Bad, Info: why, Exc: uint8(of), N: uint8(min(need, 255)), Value: n, Off: off}
	return true
}
