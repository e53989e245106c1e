package pt

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// psb is the PSB packet: Intel SDM, "Packet Stream Boundary (PSB) Packet".
const psb = "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"

// ovf is an OVF packet.
const ovf = "\x02\xf3"

// maxCYC is the longest CYC that is followed, bytes. The manual's longest has
// 10; a longer one is taken as long as its count fits 64 bits, since the bytes
// behind the tenth can then only say zero.
const maxCYC = 15

// FindSync returns the offset in buf of the first PSB at or after from.
//
// The bytes before a PSB may happen to continue its pattern to the front (a payload
// that ends in 02 82). Where the pattern is repeated more than eight times without
// a break, the last place at which a whole PSB fits is returned. What follows it is
// no part of the pattern. Of two PSBs without a byte between them that is the
// second.
func FindSync(buf []byte, from int) (off int, ok bool) {
	// Every 16 bytes hold one whole word of each eight side by side. So a look at
	// one word in eight bytes is enough to find what may be a PSB.
	for i := max(from, 0); i <= len(buf)-8; {
		start := i
		switch binary.LittleEndian.Uint64(buf[i : i+8 : i+8]) {
		case 0x8202820282028202:
		case 0x0282028202820282:
			start++
		default:
			i += 8
			continue
		}
		for start-2 >= max(from, 0) && buf[start-2] == 0x02 && buf[start-1] == 0x82 {
			start -= 2
		}
		end := start
		for end+2 <= len(buf) && buf[end] == 0x02 && buf[end+1] == 0x82 {
			end += 2
		}
		if end-start >= len(psb) {
			return end - len(psb), true
		}
		i = end
	}
	return 0, false
}

// Lexer splits the bytes of a stream into packets. It keeps one thing besides
// its place: whether a block of items (BBP) is open, because only then are the
// bytes of a BIP one.
type Lexer struct {
	buf  []byte
	pos  int   // index in buf of the next packet
	fast int   // below this index Next may use the table: nine bytes are there and no block is open
	base int64 // offset of buf in the stream, bytes
	item uint8 // bytes of an item of the open block, 4 or 8; 0: no block is open
}

// NewLexer returns a Lexer over buf, whose first byte is at offset base of its
// stream and starts a packet. The Lexer reads buf in place.
func NewLexer(buf []byte, base int64) *Lexer {
	l := new(Lexer)
	l.Reset(buf, base)
	return l
}

// Reset makes l a Lexer over buf, as NewLexer does, without allocating.
func (l *Lexer) Reset(buf []byte, base int64) {
	*l = Lexer{buf: buf, base: base}
	l.block(0)
}

// Continue goes on with buf, which lies at offset base of the stream and holds what
// follows the last packet. A block of items that is open stays open.
func (l *Lexer) Continue(buf []byte, base int64) {
	item := l.item
	*l = Lexer{buf: buf, base: base}
	l.block(item)
}

// Off returns the offset in the stream of the next packet, bytes.
func (l *Lexer) Off() int64 { return l.base + int64(l.pos) }

// SeekTo moves to offset off of the stream, which must start a packet outside of
// a block of items. It is confined to the bytes that l has.
func (l *Lexer) SeekTo(off int64) {
	l.block(0)
	l.pos = int(min(max(off-l.base, 0), int64(len(l.buf))))
}

// All returns the packets from the present place to the end of the bytes.
func (l *Lexer) All() iter.Seq[Packet] { return packettext.All(l.Next) }

// Next reads one packet into p, every field of it, and reports whether there
// was one: false means that no byte is left. Bytes that are no packet are a
// packet of kind Bad that reaches to the next PSB, or to the end. PADs side by
// side come up to seven at a time as one packet.
//
// What the first byte says goes by table, without a branch that would have to be
// guessed. In real streams the kinds follow each other as if at random, and a wrong
// guess costs more than the packet.
func (l *Lexer) Next(p *Packet) bool {
	pos := l.pos
	if pos < l.fast {
		// The third index spares the compiler a guard on the critical path.
		head := binary.LittleEndian.Uint64(l.buf[pos : pos+8 : pos+8])
		body := binary.LittleEndian.Uint64(l.buf[pos+1 : pos+9 : pos+9])
		b := uint8(head)
		pads := bits.TrailingZeros64(head|1<<63) >> 3
		if e := &first[b]; e.packet.Kind != Bad {
			n := int(firstLen[b]) + pads
			l.pos = pos + n
			*p = e.packet
			p.Len = uint8(n)
			p.Value |= body & e.mask
			p.Off = l.base + int64(pos)
			return true
		}
	}
	if pos >= len(l.buf) {
		return false
	}
	return l.next(p, l.buf[pos])
}

// maxPAD is how many PADs are one Packet at most: what fits a word after the
// bit that ends the count.
const maxPAD = 7

// firstByte is what the first byte of a packet says: the packet but for what
// its payload adds, and which bits of the payload are its Value. Kind Bad:
// the first byte does not say enough.
type firstByte struct {
	packet Packet
	mask   uint64
}

// first is indexed by the first byte of a packet outside of blocks. firstLen
// is its lengths, bytes, once more, since a table of bytes is quicker to
// reach; that of PAD is 0 because PADs are counted.
var first, firstLen = firstBytes()

func firstBytes() (t [256]firstByte, size [256]uint8) {
	set := func(b int, p Packet, mask uint64) {
		t[b] = firstByte{p, mask}
		size[b] = p.Len
	}
	set(0x00, Packet{Kind: PAD}, 0)
	for b := 4; b < 256; b += 2 {
		n, v := tntShort(uint8(b))
		set(b, Packet{Kind: TNTShort, N: n, Value: v, Len: 1}, 0)
	}
	for b := 0x03; b < 256; b += 8 {
		set(b, Packet{Kind: CYC, Value: uint64(b >> 3), Len: 1}, 0)
	}
	for k, b := range map[Kind]int{TIP: 0x0d, PGE: 0x11, PGD: 0x01, FUP: 0x1d} {
		for c, n := range ipSize {
			if n >= 0 {
				set(c<<5|b, Packet{Kind: k, Arg: uint16(c), Len: uint8(1 + n)}, 1<<(8*n)-1)
			}
		}
	}
	set(0x59, Packet{Kind: MTC, Len: 2}, 0xff)
	set(0x19, Packet{Kind: TSC, Len: 8}, 1<<56-1)
	return t, size
}

// tntShort returns the results that a short TNT holds: those below its highest
// bit and above bit 0. Intel SDM, "Taken/Not-taken (TNT) Packet".
func tntShort(b byte) (n uint8, v uint64) {
	n = uint8(bits.Len8(b)) - 2
	return n, uint64(b>>1) &^ (1 << n)
}

// keepsBlock is the kinds that leave an open block of items open.
const keepsBlock uint64 = 1<<PAD | 1<<TSC | 1<<TMA | 1<<MTC | 1<<CYC | 1<<CBR | 1<<FUP |
	1<<MNT | 1<<EXSTOP | 1<<PWRE | 1<<PWRX | 1<<BIP

// block opens a block whose items have n bytes, or closes it: n is 0.
func (l *Lexer) block(n uint8) {
	l.item = n
	l.fast = 0
	if n == 0 {
		l.fast = len(l.buf) - 8
	}
}

// next is Next without the table. b is the first byte of the packet.
func (l *Lexer) next(p *Packet, b byte) bool {
	*p = Packet{Off: l.base + int64(l.pos)}
	buf := l.buf[l.pos:]
	if l.item != 0 && b&7 == 4 {
		p.Arg, p.N = uint16(b>>3), l.item
		return l.payload(p, BIP, 1, int(l.item))
	}
	switch {
	case b == 0x00:
		return l.pad(p, buf)
	case b == 0x02:
		return l.extended(p, buf)
	case b&1 == 0:
		p.N, p.Value = tntShort(b)
		return l.take(p, TNTShort, 1)
	case b&3 == 3:
		return l.cyc(p, buf)
	}
	switch b & 0x1f {
	case 0x0d:
		return l.ip(p, TIP, b, buf)
	case 0x1d:
		return l.ip(p, FUP, b, buf)
	case 0x11:
		return l.ip(p, PGE, b, buf)
	case 0x01:
		return l.ip(p, PGD, b, buf)
	}
	switch b {
	case 0x59:
		return l.payload(p, MTC, 1, 1)
	case 0x19:
		return l.payload(p, TSC, 1, 7)
	case 0x99:
		return l.mode(p, buf)
	case 0xd9:
		return l.trig(p, buf)
	}
	return l.bad(p, packettext.BadOpcode, Bad, 0)
}

// extended reads a packet whose first byte is 02.
func (l *Lexer) extended(p *Packet, buf []byte) bool {
	if len(buf) < 2 {
		return l.bad(p, packettext.BadCut, Bad, 2)
	}
	b := buf[1]
	switch b {
	case 0x03:
		return l.pair(p, CBR, buf)
	case 0x73:
		return l.tma(p, buf)
	case 0x82:
		return l.psb(p, buf)
	case 0x23:
		return l.take(p, PSBEND, 2)
	case 0xf3:
		return l.take(p, OVF, 2)
	case 0x83:
		return l.take(p, TraceStop, 2)
	case 0xa3:
		return l.tntLong(p, buf)
	case 0x43:
		return l.payload(p, PIP, 2, 6)
	case 0xc8:
		return l.payload(p, VMCS, 2, 5)
	case 0xc3:
		return l.mnt(p, buf)
	case 0x12, 0x92:
		p.Flag = b&0x80 != 0
		return l.payload(p, PTW, 2, 4)
	case 0x32, 0xb2:
		p.Flag = b&0x80 != 0
		p.Arg = 1
		return l.payload(p, PTW, 2, 8)
	case 0x52, 0x72, 0xd2, 0xf2:
		return l.bad(p, packettext.BadForm, PTW, 0)
	case 0x62, 0xe2:
		p.Flag = b&0x80 != 0
		return l.take(p, EXSTOP, 2)
	case 0xc2:
		return l.payload(p, MWAIT, 2, 8)
	case 0x22:
		return l.payload(p, PWRE, 2, 2)
	case 0xa2:
		return l.payload(p, PWRX, 2, 5)
	case 0x63:
		return l.bbp(p, buf)
	case 0x33, 0xb3:
		p.Flag = b&0x80 != 0
		return l.take(p, BEP, 2)
	case 0x13:
		return l.pair(p, CFE, buf)
	case 0x53:
		return l.evd(p, buf)
	}
	return l.bad(p, packettext.BadOpcode, Bad, 0)
}

// take completes a packet of n bytes that are all there.
func (l *Lexer) take(p *Packet, k Kind, n int) bool {
	if l.item != 0 && keepsBlock>>k&1 == 0 {
		l.block(0)
	}
	p.Kind, p.Len = k, uint8(n)
	l.pos += n
	return true
}

// payload completes a packet of head bytes followed by n bytes, 8 at most,
// that are its Value.
func (l *Lexer) payload(p *Packet, k Kind, head, n int) bool {
	v, ok := load(l.buf[l.pos:], head, n)
	if !ok {
		return l.bad(p, packettext.BadCut, k, head+n)
	}
	p.Value = v
	return l.take(p, k, head+n)
}

// load returns the n bytes, 1 to 8, at buf[at:] as a little-endian number.
func load(buf []byte, at, n int) (v uint64, ok bool) {
	if len(buf) >= at+8 {
		return binary.LittleEndian.Uint64(buf[at:]) & (^uint64(0) >> (64 - 8*n)), true
	}
	if len(buf) < at+n {
		return 0, false
	}
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(buf[at+i])
	}
	return v, true
}

func (l *Lexer) pad(p *Packet, buf []byte) bool {
	n := 1
	for n < min(maxPAD, len(buf)) && buf[n] == 0 {
		n++
	}
	return l.take(p, PAD, n)
}

// ipSize is the payload's size in bytes by IPBytes; -1: reserved.
// Intel SDM, "IP Compression".
var ipSize = [8]int8{0, 2, 4, 6, 6, -1, 8, -1}

// ip reads a packet that holds an IP: bits 7..5 of b are IPBytes.
func (l *Lexer) ip(p *Packet, k Kind, b byte, buf []byte) bool {
	n := int(ipSize[b>>5])
	if n < 0 {
		return l.bad(p, packettext.BadForm, k, 0)
	}
	if n > 0 {
		v, ok := load(buf, 1, n)
		if !ok {
			return l.bad(p, packettext.BadCut, k, 1+n)
		}
		p.Value = v
	}
	p.Arg = uint16(b >> 5)
	return l.take(p, k, 1+n)
}

// cyc reads a CYC: five bits, then seven a byte, the lowest first. Intel SDM,
// "Cycle Count (CYC) Packet".
func (l *Lexer) cyc(p *Packet, buf []byte) bool {
	v, n, more := uint64(buf[0]>>3), 1, buf[0]&4 != 0
	for shift := 5; more; shift += 7 {
		if n == maxCYC {
			return l.bad(p, packettext.BadForm, CYC, 0)
		}
		if n == len(buf) {
			return l.bad(p, packettext.BadCut, CYC, n+1)
		}
		b := uint64(buf[n] >> 1)
		if b<<shift>>shift != b {
			return l.bad(p, packettext.BadForm, CYC, 0)
		}
		v |= b << shift
		more = buf[n]&1 != 0
		n++
	}
	p.Value = v
	if n != cycSize(v) {
		p.Arg = uint16(n)
	}
	return l.take(p, CYC, n)
}

// cycSize returns the length of the shortest CYC that holds v, bytes.
func cycSize(v uint64) int {
	n := 1
	for v >>= 5; v != 0; v >>= 7 {
		n++
	}
	return n
}

func (l *Lexer) tntLong(p *Packet, buf []byte) bool {
	v, ok := load(buf, 2, 6)
	switch {
	case !ok:
		return l.bad(p, packettext.BadCut, TNTLong, 8)
	case v == 0: // no stop bit
		return l.bad(p, packettext.BadForm, TNTLong, 0)
	}
	p.N = uint8(bits.Len64(v) - 1)
	p.Value = v &^ (1 << p.N)
	return l.take(p, TNTLong, 8)
}

func (l *Lexer) mode(p *Packet, buf []byte) bool {
	if len(buf) < 2 {
		return l.bad(p, packettext.BadCut, ModeOther, 2)
	}
	k := ModeOther
	switch leaf := buf[1] >> 5; leaf {
	case 0:
		k = ModeExec
	case 1:
		k = ModeTSX
	default:
		p.Arg = uint16(leaf)
	}
	p.Value = uint64(buf[1] & 0x1f)
	return l.take(p, k, 2)
}

// pair reads a packet of a kind whose payload is two bytes, a number each.
func (l *Lexer) pair(p *Packet, k Kind, buf []byte) bool {
	if len(buf) < 4 {
		return l.bad(p, packettext.BadCut, k, 4)
	}
	p.Value, p.Arg = uint64(buf[2]), uint16(buf[3])
	return l.take(p, k, 4)
}

func (l *Lexer) tma(p *Packet, buf []byte) bool {
	if len(buf) < 7 {
		return l.bad(p, packettext.BadCut, TMA, 7)
	}
	p.Value = uint64(buf[2]) | uint64(buf[3])<<8
	p.Arg = uint16(buf[5]) | uint16(buf[6]&1)<<8
	p.Extra = uint16(buf[4]) | uint16(buf[6]>>1)<<8
	return l.take(p, TMA, 7)
}

func (l *Lexer) psb(p *Packet, buf []byte) bool {
	n := min(len(buf), len(psb))
	switch {
	case string(buf[:n]) != psb[:n]:
		return l.bad(p, packettext.BadForm, PSB, 0)
	case n < len(psb):
		return l.bad(p, packettext.BadCut, PSB, len(psb))
	}
	return l.take(p, PSB, len(psb))
}

func (l *Lexer) mnt(p *Packet, buf []byte) bool {
	switch {
	case len(buf) > 2 && buf[2] != 0x88:
		return l.bad(p, packettext.BadOpcode, Bad, 0)
	default:
		return l.payload(p, MNT, 3, 8)
	}
}

func (l *Lexer) bbp(p *Packet, buf []byte) bool {
	if len(buf) < 3 {
		return l.bad(p, packettext.BadCut, BBP, 3)
	}
	p.Value = uint64(buf[2])
	l.take(p, BBP, 3)
	l.block(8)
	if p.Value&0x80 != 0 {
		l.block(4)
	}
	return true
}

func (l *Lexer) evd(p *Packet, buf []byte) bool {
	if len(buf) < 11 {
		return l.bad(p, packettext.BadCut, EVD, 11)
	}
	p.Arg = uint16(buf[2])
	return l.payload(p, EVD, 3, 8)
}

func (l *Lexer) trig(p *Packet, buf []byte) bool {
	n := 3
	if len(buf) > 1 && buf[1]&trigICNTV != 0 {
		n = 5
	}
	if len(buf) < n {
		return l.bad(p, packettext.BadCut, TRIG, n)
	}
	p.Arg, p.Extra = uint16(buf[1]), uint16(buf[2])
	if n == 5 {
		p.Value = uint64(buf[3]) | uint64(buf[4])<<8
	}
	return l.take(p, TRIG, n)
}

// bad makes p the bytes from here to the next PSB, or to the end. of is the
// kind of packet that began here, Bad if that is not known; need is how many
// bytes it has, if they are not there.
func (l *Lexer) bad(p *Packet, why uint16, of Kind, need int) bool {
	end, ok := FindSync(l.buf, l.pos+1)
	if !ok {
		end = len(l.buf)
	}
	*p = Packet{
		Kind: Bad, Arg: why, Extra: uint16(of), N: uint8(need),
		Value: uint64(end - l.pos), Off: l.base + int64(l.pos),
	}
	l.pos = end // a block stays open until the PSB there closes it
	return true
}

// takeIP reads the packet at buf[i:], of kind k, which holds an IP of n bytes.
func (l *Lexer) takeIP(p *Packet, k Kind, i, n int) {
	buf := l.buf
	*p = Packet{}
	p.Kind, p.Len, p.Arg, p.Off = k, uint8(1+n), uint16(buf[i]>>5), l.base+int64(i)
	p.Value = binary.LittleEndian.Uint64(buf[i+1:]) & (^uint64(0) >> (64 - 8*n))
	l.pos = i + 1 + n
}
