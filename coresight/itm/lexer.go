package itm

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// syncPattern is a Sync as short as it may be: 47 zero bits and a one.
const syncPattern = "\x00\x00\x00\x00\x00\x80"

// findSync returns the offset in buf of the first Sync at or after from. The
// payload before it may end in zeros, so of more than 5 bytes of zeros the
// last 5 are taken.
func findSync(buf []byte, from int) (off int, ok bool) {
	from = min(max(from, 0), len(buf))
	n := bytes.Index(buf[from:], []byte(syncPattern))
	if n < 0 {
		return 0, false
	}
	return from + n, true
}

// cursor gives Lexer its methods Reset, Off and SeekTo.
type cursor = wire.Cursor

// Lexer splits the bytes of a stream into packets.
type Lexer struct {
	cursor
}

// NewLexer returns a Lexer over buf, whose first byte is at offset base of its
// stream and starts a packet. The Lexer reads buf in place.
func NewLexer(buf []byte, base int64) *Lexer {
	return &Lexer{cursor{Buf: buf, Base: base}}
}

// SeekSync moves to the next Sync and reports whether there was one; without
// one it moves to the end. It stays where it is if a Sync starts here.
func (l *Lexer) SeekSync() bool {
	at, ok := findSync(l.Buf, l.Pos)
	if !ok {
		at = len(l.Buf)
	}
	l.Pos = at
	return ok
}

// All returns the packets from the present place to the end of the bytes.
func (l *Lexer) All() iter.Seq[Packet] { return packettext.All(l.Next) }

// Next reads one packet into p, every field of it, and reports whether there
// was one: false means that no byte is left. Bytes that are no packet are a
// packet of kind Bad that reaches to the next Sync, or to the end.
func (l *Lexer) Next(p *Packet) bool {
	if l.Pos >= len(l.Buf) {
		return false
	}
	b := l.Buf[l.Pos]
	*p = Packet{Off: l.Off()}
	if s := b & 3; s != 0 {
		k := SWIT
		if b&4 != 0 {
			k = DWT
		}
		p.Arg = b >> 3
		return l.payload(p, k, 1<<(s-1))
	}
	switch {
	case b == 0x00:
		return l.sync(p)
	case b == 0x70:
		return l.take(p, Overflow, 0)
	case b&0x8f == 0:
		p.Value = uint64(b >> 4)
		return l.take(p, LTS2, 0)
	case b&0xcf == 0xc0:
		p.Arg = b >> 4 & 3
		return l.more(p, LTS1, 4)
	case b == 0x94:
		return l.gts1(p)
	case b == 0xb4:
		return l.more(p, GTS2, 6)
	case b&0x0b == 0x08:
		p.Arg = b>>4&7 | b<<1&extHardware
		if b&0x80 != 0 {
			return l.more(p, Ext, 4)
		}
		return l.take(p, Ext, 0)
	}
	return l.bad(p, packettext.BadOpcode, Bad, 0)
}

// take completes a packet of n bytes of payload that are all there.
func (l *Lexer) take(p *Packet, k Kind, n int) bool {
	p.Kind, p.N = k, uint8(n)
	l.Pos += 1 + n
	return true
}

// payload completes a packet whose Value is n bytes behind the header.
func (l *Lexer) payload(p *Packet, k Kind, n int) bool {
	buf := l.Buf[l.Pos+1:]
	if len(buf) < n {
		return l.bad(p, packettext.BadCut, k, 1+n)
	}
	switch n {
	case 1:
		p.Value = uint64(buf[0])
	case 2:
		p.Value = uint64(binary.LittleEndian.Uint16(buf))
	default:
		p.Value = uint64(binary.LittleEndian.Uint32(buf))
	}
	return l.take(p, k, n)
}

// more completes a packet whose Value is 7 bits a byte, the lowest first, up
// to a byte with bit 7 clear, which must come among the first most.
func (l *Lexer) more(p *Packet, k Kind, most int) bool {
	buf := l.Buf[l.Pos+1:]
	for n := range most {
		if n == len(buf) {
			return l.bad(p, packettext.BadCut, k, 2+n)
		}
		p.Value |= uint64(buf[n]&0x7f) << (7 * n)
		if buf[n]&0x80 == 0 {
			return l.take(p, k, n+1)
		}
	}
	return l.bad(p, packettext.BadForm, k, 0)
}

// gts1 reads a GTS1, of which a fourth byte holds flags above 5 bits of value.
func (l *Lexer) gts1(p *Packet) bool {
	if l.more(p, GTS1, 4); p.Kind == GTS1 && p.N == 4 {
		p.Arg = uint8(p.Value >> 26)
		p.Value &= 1<<26 - 1
	}
	return true
}

// sync reads zeros and what follows them.
func (l *Lexer) sync(p *Packet) bool {
	buf := l.Buf[l.Pos:]
	n := 1
	for n+8 <= len(buf) {
		w := binary.LittleEndian.Uint64(buf[n:])
		n += bits.TrailingZeros64(w) / 8
		if w != 0 {
			break
		}
	}
	for n < len(buf) && buf[n] == 0 {
		n++
	}
	switch {
	case n == len(buf):
		return l.bad(p, packettext.BadCut, Sync, max(n, minZeros)+1)
	case n < minZeros || buf[n] != 0x80:
		return l.bad(p, packettext.BadForm, Sync, 0)
	}
	p.Kind, p.Value = Sync, uint64(n)
	l.Pos += n + 1
	return true
}

// bad makes p the bytes from here to the next Sync, or to the end. of is the
// kind of packet that began here, Bad if that is not known; need is how many
// bytes it has at least, if they are not there.
func (l *Lexer) bad(p *Packet, why uint8, of Kind, need int) bool {
	end, ok := findSync(l.Buf, l.Pos+1)
	if !ok {
		end = len(l.Buf)
	}
	*p = Packet{Kind: Bad, Arg: why, Of: of, N: uint8(min(need, 255)), Value: uint64(end - l.Pos), Off: l.Off()}
	l.Pos = end
	return true
}
