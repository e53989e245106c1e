package stm

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// findSync returns the offset in buf of the byte in which the first Async at
// or after from starts. It starts in the upper half of that byte where it ends
// in a lower one.
//
// The data before an Async may end in F. Of more than 21 half bytes F before a
// 0 the last 21 are taken, since data follows neither F nor 0 there.
func findSync(buf []byte, from int) (off int, ok bool) {
	n, ok := findAsync(buf, 2*max(from, 0))
	return n / 2, ok
}

// ffs is what every Async holds from the second or third half byte on.
const ffs = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

// findAsync returns the place of the first Async at or after from, half bytes.
func findAsync(buf []byte, from int) (at int, ok bool) {
	for i := from / 2; i < len(buf); {
		n := bytes.Index(buf[i:], []byte(ffs))
		if n < 0 {
			break
		}
		end := i + n + len(ffs) // behind the run of bytes FF
		for end < len(buf) && buf[end] == 0xff {
			end++
		}
		if end == len(buf) {
			break
		}
		at := -1
		switch {
		case buf[end] == 0x0f:
			at = 2 * (end - len(ffs))
		case buf[end]&0x0f == 0 && end > len(ffs) && buf[end-len(ffs)-1]>>4 == 0xf:
			at = 2*(end-len(ffs)) - 1
		}
		if at >= from {
			return at, true
		}
		i = end
	}
	return 0, false
}

// Lexer splits the bytes of a stream into packets.
type Lexer struct {
	buf  []byte
	pos  int   // index in buf of the next packet, half bytes
	base int64 // offset of buf in the stream, bytes
}

// NewLexer returns a Lexer over buf, whose first byte is at offset base of its
// stream and starts a packet in its lower half. The Lexer reads buf in place.
func NewLexer(buf []byte, base int64) *Lexer {
	l := new(Lexer)
	l.Reset(buf, base)
	return l
}

// Reset makes l a Lexer over buf, as NewLexer does, without allocating.
func (l *Lexer) Reset(buf []byte, base int64) {
	*l = Lexer{buf: buf, base: base}
}

// Off returns the offset in the stream of the byte in which the next packet
// starts, bytes, and the half of it: 0 or 1.
func (l *Lexer) Off() (off int64, half uint8) {
	return l.base + int64(l.pos/2), uint8(l.pos & 1)
}

// SeekSync moves to the next Async and reports whether there was one; without
// one it moves to the end. It stays where it is if an Async starts here.
func (l *Lexer) SeekSync() bool {
	at, ok := findAsync(l.buf, l.pos)
	if !ok {
		at = 2 * len(l.buf)
	}
	l.pos = at
	return ok
}

// All returns the packets from the present place to the end of the bytes.
func (l *Lexer) All() iter.Seq[Packet] { return packettext.All(l.Next) }

// form is what an opcode says: the kind, how many half bytes of data follow,
// and whether a timestamp follows them.
type form struct {
	kind  Kind
	data  uint8
	stamp bool
}

// one, two and three are what the first half byte says, the one behind an F,
// and the one behind F0.
var (
	one = [16]form{
		0x0: {Null, 0, false}, 0x1: {M8, 2, false}, 0x2: {MERR, 2, false}, 0x3: {C8, 2, false},
		0x4: {D8, 2, false}, 0x5: {D16, 4, false}, 0x6: {D32, 8, false}, 0x7: {D64, 16, false},
		0x8: {D8MTS, 2, true}, 0x9: {D16MTS, 4, true}, 0xa: {D32MTS, 8, true}, 0xb: {D64MTS, 16, true},
		0xc: {D4, 1, false}, 0xd: {D4MTS, 1, true}, 0xe: {FlagTS, 0, true},
	}
	two = [16]form{
		0x2: {GERR, 2, false}, 0x3: {C16, 4, false},
		0x4: {D8TS, 2, true}, 0x5: {D16TS, 4, true}, 0x6: {D32TS, 8, true}, 0x7: {D64TS, 16, true},
		0x8: {D8M, 2, false}, 0x9: {D16M, 4, false}, 0xa: {D32M, 8, false}, 0xb: {D64M, 16, false},
		0xc: {D4TS, 1, true}, 0xd: {D4M, 1, false}, 0xe: {Flag, 0, false}, 0xf: {Async, 20, false},
	}
	three = [16]form{
		0x0: {Version, 1, false}, 0x1: {NullTS, 0, true}, 0x6: {Trig, 2, false}, 0x7: {TrigTS, 2, true},
		0x8: {Freq, 8, false},
	}
)

// Next reads one packet into p, every field of it, and reports whether there
// was one: false means that nothing is left. Half bytes that are no packet are
// a packet of kind Bad that reaches to the next Async, or to the end.
func (l *Lexer) Next(p *Packet) bool {
	left := 2*len(l.buf) - l.pos
	if left <= 0 {
		return false
	}
	w := l.at(l.pos)
	f, n := &one[w>>60], 1
	if w>>60 == 0xf {
		f, n = &two[w>>56&15], 2
		if w>>56&15 == 0 {
			f, n = &three[w>>52&15], 3
		}
	}
	switch {
	case left < n:
		return l.bad(p, packettext.BadCut, Bad, n)
	case f.kind == Bad:
		return l.bad(p, packettext.BadOpcode, Bad, 0)
	case f.kind == Async:
		return l.async(p, left)
	}
	var v, ts uint64
	var tsLen int
	n += int(f.data)
	if f.data > 0 {
		v = l.at(l.pos+n-int(f.data)) >> (64 - 4*f.data)
	}
	if f.stamp {
		n++
		if left < n {
			return l.bad(p, packettext.BadCut, f.kind, n)
		}
		tsLen = int(stampLen[l.at(l.pos+n-1)>>60])
		if tsLen > 16 {
			return l.bad(p, packettext.BadForm, f.kind, 0)
		}
		ts = l.at(l.pos+n) >> (64 - 4*tsLen)
		n += tsLen
	}
	if left < n {
		return l.bad(p, packettext.BadCut, f.kind, n)
	}
	if f.kind == Version && v != 3 && v != 4 {
		return l.bad(p, packettext.BadForm, f.kind, 0)
	}
	l.take(p, f.kind, n)
	p.Value, p.TS, p.TSLen = v, ts, uint8(tsLen)
	return true
}

// stampLen is the length of a timestamp by the half byte before it, half
// bytes; 99: reserved.
var stampLen = [16]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 99}

// at returns the 16 half bytes from pos on, the first in bits 63..60, zeros
// behind the end.
func (l *Lexer) at(pos int) uint64 {
	i := pos / 2
	var w uint64
	if i+9 <= len(l.buf) {
		w = binary.LittleEndian.Uint64(l.buf[i:])
		if pos&1 != 0 {
			w = w>>4 | uint64(l.buf[i+8])<<60
		}
	} else {
		var b [9]byte
		if i < len(l.buf) {
			copy(b[:], l.buf[i:])
		}
		w = binary.LittleEndian.Uint64(b[:])
		if pos&1 != 0 {
			w = w>>4 | uint64(b[8])<<60
		}
	}
	const low = 0x0f0f0f0f0f0f0f0f
	w = bits.ReverseBytes64(w)
	return w&low<<4 | w>>4&low
}

// async reads an Async, of which two half bytes are known.
func (l *Lexer) async(p *Packet, left int) bool {
	ones := bits.LeadingZeros64(^l.at(l.pos)) / 4
	if ones == 16 {
		ones += bits.LeadingZeros64(^l.at(l.pos+16)) / 4
	}
	last := l.at(l.pos+asyncLen-1) >> 60
	switch {
	case left < asyncLen && ones >= left:
		return l.bad(p, packettext.BadCut, Async, asyncLen)
	case ones != asyncLen-1 || last != 0:
		return l.bad(p, packettext.BadForm, Async, 0)
	}
	l.take(p, Async, asyncLen)
	return true
}

// take makes p a packet of n half bytes that are all there.
func (l *Lexer) take(p *Packet, k Kind, n int) {
	off, half := l.Off()
	*p = Packet{Kind: k, Half: half, Len: uint8(n), Off: off}
	l.pos += n
}

// bad makes p the half bytes from here to the next Async, or to the end. of is
// the kind of packet that began here, Bad if that is not known; need is how
// many half bytes it has, if they are not there.
func (l *Lexer) bad(p *Packet, why uint8, of Kind, need int) bool {
	off, half := l.Off()
	end, ok := findAsync(l.buf, l.pos+1)
	if !ok {
		end = 2 * len(l.buf)
	}
	*p = Packet{Kind: Bad, Half: half, Why: why, Of: of, Need: uint8(need), Value: uint64(end - l.pos), Off: off}
	l.pos = end
	return true
}
