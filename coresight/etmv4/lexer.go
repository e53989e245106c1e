package etmv4

import (
	"bytes"
	"encoding/binary"
	"iter"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// async is the A-Sync packet: DDI0487, "Alignment Synchronization packet".
const async = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"

// findSync returns the offset in buf of the first A-Sync at or after from. Of
// more zeros than an A-Sync has, the last ones are its.
func findSync(buf []byte, from int) (off int, ok bool) {
	from = max(from, 0)
	if from > len(buf) {
		return 0, false
	}
	// An A-Sync holds one whole word of each eight bytes side by side, so a look
	// at one word in eight bytes finds what may be one. 11 zeros: every word of
	// 4 bytes inside is zero, too.
	for i := from; i+4 <= len(buf); {
		if binary.LittleEndian.Uint32(buf[i:]) != 0 {
			i += 4
			continue
		}
		start := i
		for start > from && buf[start-1] == 0 {
			start--
		}
		end := i + 4
		for end < len(buf) && buf[end] == 0 {
			end++
		}
		if end-start >= len(async)-1 && end < len(buf) && buf[end] == 0x80 {
			return end + 1 - len(async), true
		}
		i = end
	}
	return 0, false
}

// cursor gives Lexer its methods Reset, Off and SeekTo.
type cursor = wire.Cursor

// Lexer splits the bytes of a stream into packets. What the packets are depends
// on the trace unit's configuration, not on what came before.
type Lexer struct {
	cursor
	dialect dialect
}

// NewLexer returns a Lexer of the trace unit that c describes over buf, whose
// first byte is at offset base of its stream and starts a packet. The Lexer
// reads buf in place.
func NewLexer(c coresight.Config, buf []byte, base int64) *Lexer {
	return &Lexer{cursor: cursor{Buf: buf, Base: base}, dialect: newDialect(&c)}
}

// All returns the packets from the present place to the end of the bytes.
func (l *Lexer) All() iter.Seq[Packet] { return packettext.All(l.Next) }

// Next reads one packet into p, every field of it, and reports whether there
// was one: false means that no byte is left. Bytes that are no packet are a
// packet of kind Bad that reaches to the next A-Sync, or to the end.
func (l *Lexer) Next(p *Packet) bool {
	pos := l.Pos
	if uint(pos) >= uint(len(l.Buf)) {
		return false
	}
	e := &single[l.Buf[pos]]
	if e.Kind == Bad {
		return l.next(p, l.Buf[pos:])
	}
	*p = *e
	p.Off = l.Base + int64(pos)
	l.Pos = pos + 1
	return true
}

// single is the packets of one byte that every configuration has, by that
// byte. Kind Bad: the byte alone does not say it.
var single = singles()

func singles() (t [256]Packet) {
	set := func(from, to int, k Kind, mask int) {
		for b := from; b <= to; b++ {
			t[b] = Packet{Kind: k, Len: 1, Arg: uint8(b & mask)}
		}
	}
	set(0x04, 0x04, TraceOn, 0)
	set(0x10, 0x13, CycleF3, 0xf)
	set(0x30, 0x33, Mispredict, 3)
	set(0x34, 0x37, CancelF2, 3)
	set(0x38, 0x3f, CancelF3, 7)
	set(0x71, 0x7f, Event, 0xf)
	set(0x80, 0x80, ContextSame, 0)
	set(0x90, 0x92, AddrMatch, 3)
	for b := 0xc0; b < 0x100; b++ {
		k, n, v := atoms(uint8(b))
		t[b] = Packet{Kind: k, Len: 1, N: n, Extra: v}
	}
	return t
}

// atoms returns the n atoms of a packet, the oldest in bit n-1 of v, 1: E.
// DDI0487, "Atom packets".
func atoms(b uint8) (k Kind, n uint8, v uint32) {
	switch {
	case b >= 0xf8:
		return AtomF3, 3, uint32(b&1<<2 | b&2 | b>>2&1)
	case b >= 0xf6:
		return AtomF1, 1, uint32(b & 1)
	case b >= 0xdc && b < 0xe0:
		return AtomF4, 4, [4]uint32{0b0111, 0b0000, 0b0101, 0b1010}[b&3]
	case b >= 0xd8 && b < 0xe0:
		return AtomF2, 2, uint32(b&1<<1 | b>>1&1)
	case b == 0xf5:
		return AtomF5, 5, 0b01111
	case b >= 0xd5 && b < 0xe0:
		return AtomF5, 5, [3]uint32{0b00000, 0b01010, 0b10101}[b-0xd5]
	}
	n = b&0x1f + 4
	return AtomF6, n, 1<<n - 1 - uint32(b>>5&1)
}

// next is Next where the first byte does not say all. buf starts there.
func (l *Lexer) next(p *Packet, buf []byte) bool {
	*p = Packet{Off: l.Base + int64(l.Pos)}
	b := buf[0]
	switch b {
	case 0x95, 0x96:
		return l.shortAddress(p, AddrShort, b-0x95, buf)
	case 0x9a, 0x9b:
		return l.address(p, Addr32, b-0x9a, 4, buf)
	case 0x9d, 0x9e:
		return l.address(p, Addr64, b-0x9d, 8, buf)
	case 0x02, 0x03:
		return l.timestamp(p, buf)
	case 0x82, 0x83:
		return l.address(p, AddrCtxt32, b-0x82, 4, buf)
	case 0x85, 0x86:
		return l.address(p, AddrCtxt64, b-0x85, 8, buf)
	case 0x81:
		return l.context(p, Context, 1, buf)
	case 0x06:
		return l.exception(p, buf)
	case 0x00:
		return l.extension(p, buf)
	case 0x01:
		return l.traceInfo(p, buf)
	case 0x0c, 0x0d:
		p.Arg = b & 1
		return l.payload(p, CycleF2, 1, buf)
	case 0x0e, 0x0f:
		return l.cycleF1(p, buf)
	case 0x2d:
		return l.ulebs(p, Commit, 5, false, buf)
	case 0x2e, 0x2f:
		p.Arg = b & 1
		return l.ulebs(p, CancelF1, 5, false, buf)
	case 0x05:
		return l.one(p, FuncReturn, needM, 0)
	case 0x07:
		return l.one(p, ExceptionReturn, needETMv4, 0)
	case 0x0a:
		return l.one(p, TxStart, needETE, 0)
	case 0x0b:
		return l.one(p, TxCommit, needETE, 0)
	case 0x70:
		return l.one(p, Ignore, needIgnore, 0)
	case 0x88:
		return l.one(p, TSMarker, needMarker, 0)
	case 0x09:
		return l.ite(p, buf)
	}
	return l.rare(p, b, buf)
}

// rare reads a packet that only some trace units send.
func (l *Lexer) rare(p *Packet, b uint8, buf []byte) bool {
	has := l.dialect.has
	switch {
	case b >= 0x14 && b <= 0x1f:
		return l.one(p, CycleF3, needCommits, b&0xf)
	case b >= 0x20 && b <= 0x27:
		return l.one(p, NumDataSync, needData, b&7)
	case b >= 0x28 && b <= 0x2c:
		return l.one(p, DataSync, needData, b&7)
	case b >= 0x40 && b <= 0x6f && has&needCond != 0:
		return l.conditional(p, b, buf)
	case b >= 0xa0 && b <= 0xaf && has&needQ != 0:
		return l.q(p, b&0xf, buf)
	case b >= 0xb0 && b <= 0xb2:
		return l.one(p, SrcMatch, needETE, b&3)
	case b >= 0xb4 && b <= 0xb9 && has&needETE != 0:
		switch b {
		case 0xb4, 0xb5:
			return l.shortAddress(p, SrcShort, b-0xb4, buf)
		case 0xb6, 0xb7:
			return l.address(p, Src32, b-0xb6, 4, buf)
		}
		return l.address(p, Src64, b-0xb8, 8, buf)
	}
	return l.bad(p, packettext.BadOpcode, Bad, 0)
}

// take completes a packet of n bytes that are all there.
func (l *Lexer) take(p *Packet, k Kind, n int) bool {
	p.Kind, p.Len = k, uint8(n)
	l.Pos += n
	return true
}

// one completes a packet of one byte where the trace unit has what it needs.
func (l *Lexer) one(p *Packet, k Kind, n need, arg uint8) bool {
	if l.dialect.has&n == 0 {
		return l.bad(p, packettext.BadOpcode, Bad, 0)
	}
	p.Arg = arg
	return l.take(p, k, 1)
}

// payload completes a packet whose header is followed by n bytes, 1 or 8, that
// are its Value.
func (l *Lexer) payload(p *Packet, k Kind, n int, buf []byte) bool {
	if len(buf) < 1+n {
		return l.bad(p, packettext.BadCut, k, 1+n)
	}
	p.Value = uint64(buf[1])
	if n == 8 {
		p.Value = binary.LittleEndian.Uint64(buf[1:])
	}
	return l.take(p, k, 1+n)
}

// uleb reads a ULEB128 number of most bytes at most from buf[at:]: the number
// with its size, and what follows it. 0: it does not end (packettext.BadForm), or is cut
// short (3).
func uleb(buf []byte, at, most int) (word uint64, next int, why uint8) {
	var v uint64
	for n := 0; n < most; n++ {
		if at+n >= len(buf) {
			return 0, 0, packettext.BadCut
		}
		b := buf[at+n]
		v |= uint64(b&0x7f) << (7 * n)
		if b < 0x80 {
			if n > 0 && b == 0 { // longer than need be
				v |= uint64(n+1) << sizeShift
			}
			return v, at + n + 1, 0
		}
	}
	return 0, 0, packettext.BadForm
}

// ulebs completes a packet whose header is followed by one number, or two, of
// most bytes at most.
func (l *Lexer) ulebs(p *Packet, k Kind, most int, two bool, buf []byte) bool {
	v, next, why := uleb(buf, 1, most)
	if why == 0 && two {
		p.Value2, next, why = uleb(buf, next, most)
	}
	if why != 0 {
		return l.bad(p, why, k, len(buf)+1)
	}
	p.Value = v
	return l.take(p, k, next)
}

// timestamp reads a Timestamp: DDI0487, "Timestamp packet".
func (l *Lexer) timestamp(p *Packet, buf []byte) bool {
	n := 1
	for {
		if n == len(buf) {
			return l.bad(p, packettext.BadCut, Timestamp, n+1)
		}
		b := buf[n]
		if n == 9 {
			p.Value |= uint64(b) << 56
			break
		}
		p.Value |= uint64(b&0x7f) << (7 * (n - 1))
		if b < 0x80 {
			break
		}
		n++
	}
	p.N = uint8(n)
	n++
	if buf[0]&1 != 0 {
		c, next, why := uleb(buf, n, 3)
		if why != 0 {
			return l.bad(p, why, Timestamp, len(buf)+1)
		}
		p.Arg, p.Extra, n = 1, uint32(c&0xffffff|c>>sizeShift<<24), next
	}
	return l.take(p, Timestamp, n)
}

// shortAddress reads a short address: one byte of seven bits, or another of
// eight.
func (l *Lexer) shortAddress(p *Packet, k Kind, is uint8, buf []byte) bool {
	raw, n := shortBytes(buf[1:])
	if n == 0 {
		return l.bad(p, packettext.BadCut, k, len(buf)+1)
	}
	p.Arg, p.N, p.Value = is, n, raw
	return l.take(p, k, 1+int(n))
}

// address reads an address of n bytes, 4 or 8, and where k has one the context
// behind it.
func (l *Lexer) address(p *Packet, k Kind, is uint8, n int, buf []byte) bool {
	if len(buf) < 1+n {
		return l.bad(p, packettext.BadCut, k, 1+n)
	}
	if n == 4 {
		p.Value = uint64(binary.LittleEndian.Uint32(buf[1:]))
	} else {
		p.Value = binary.LittleEndian.Uint64(buf[1:])
	}
	p.Arg = is
	if k == AddrCtxt32 || k == AddrCtxt64 {
		return l.context(p, k, 1+n, buf)
	}
	return l.take(p, k, 1+n)
}

// context reads the information byte at buf[at] and the IDs behind it.
func (l *Lexer) context(p *Packet, k Kind, at int, buf []byte) bool {
	if len(buf) <= at {
		return l.bad(p, packettext.BadCut, k, at+1)
	}
	info := buf[at]
	p.Extra |= uint32(info)
	at++
	var vmid, cid uint8
	if Info(info)&InfoV != 0 {
		vmid = l.dialect.vmid
	}
	if Info(info)&InfoC != 0 {
		cid = l.dialect.cid
	}
	if need := at + int(vmid+cid); len(buf) < need {
		return l.bad(p, packettext.BadCut, k, need)
	}
	for i := range int(vmid) {
		p.Value2 |= uint64(buf[at+i]) << (8 * i)
	}
	at += int(vmid)
	if cid != 0 {
		p.Value2 |= uint64(binary.LittleEndian.Uint32(buf[at:])) << 32
	}
	p.N = vmid | cid<<4
	return l.take(p, k, at+int(cid))
}

// The types of ETE exceptions that have no address: DDI0487, "Exception
// packets".
const (
	typePEReset = 0
	typeTxFail  = 24
)

// exception reads an Exception without the address packet that follows it.
func (l *Lexer) exception(p *Packet, buf []byte) bool {
	if len(buf) < 2 {
		return l.bad(p, packettext.BadCut, Exception, 2)
	}
	b := buf[1]
	p.Arg = b
	t := b >> 1 & 0x1f
	if b < 0x80 && (l.dialect.has&needETE == 0 || t != typePEReset && t != typeTxFail) {
		return l.take(p, Exception, 2)
	}
	if len(buf) < 3 {
		return l.bad(p, packettext.BadCut, Exception, 3)
	}
	p.Extra = 1<<8 | uint32(buf[2])
	return l.take(p, Exception, 3)
}

// extension reads a packet whose first byte is 00.
func (l *Lexer) extension(p *Packet, buf []byte) bool {
	if len(buf) < 2 {
		return l.bad(p, packettext.BadCut, Bad, 2)
	}
	switch buf[1] {
	case 0x03:
		return l.take(p, Discard, 2)
	case 0x05:
		return l.take(p, Overflow, 2)
	}
	n := min(len(buf), len(async))
	switch {
	case string(buf[:n]) == async:
		return l.take(p, ASync, n)
	case n < len(async) && bytes.Count(buf, []byte{0}) == n:
		return l.bad(p, packettext.BadCut, ASync, len(async))
	}
	return l.bad(p, packettext.BadForm, ASync, 0)
}

// traceInfo reads a Trace Info: DDI0487, "Trace Info packet".
func (l *Lexer) traceInfo(p *Packet, buf []byte) bool {
	if len(buf) < 2 {
		return l.bad(p, packettext.BadCut, TraceInfo, 2)
	}
	p.Arg = buf[1]
	if p.Arg >= 0x80 {
		return l.bad(p, packettext.BadForm, TraceInfo, 0)
	}
	next := 2
	var field [5]uint64
	for i, most := range [5]int{2, 4, 4, 3, 4} {
		if p.Arg>>i&1 == 0 {
			continue
		}
		var why uint8
		if field[i], next, why = uleb(buf, next, most); why != 0 {
			return l.bad(p, why, TraceInfo, len(buf)+1)
		}
		p.Value |= field[i] >> sizeShift << (48 + 3*i)
	}
	p.Value |= Number(field[0]) | Number(field[3])<<16
	p.Value2 = Number(field[1]) | Number(field[2])<<32
	p.Extra = uint32(Number(field[4]))
	return l.take(p, TraceInfo, next)
}

// cycleF1 reads a Cycle Count of format 1: DDI0487, "Cycle Count packets".
func (l *Lexer) cycleF1(p *Packet, buf []byte) bool {
	next := 1
	var why uint8
	p.Arg = buf[0] & 1
	if l.dialect.has&needCommits != 0 {
		p.Arg |= 2
		if p.Value2, next, why = uleb(buf, next, 5); why != 0 {
			return l.bad(p, why, CycleF1, len(buf)+1)
		}
	}
	if p.Arg&1 == 0 {
		if p.Value, next, why = uleb(buf, next, 3); why != 0 {
			return l.bad(p, why, CycleF1, len(buf)+1)
		}
	}
	return l.take(p, CycleF1, next)
}

// ite reads an Instrumentation packet: DDI0487, "Instrumentation packet".
func (l *Lexer) ite(p *Packet, buf []byte) bool {
	switch {
	case l.dialect.has&needITE == 0:
		return l.bad(p, packettext.BadOpcode, Bad, 0)
	case len(buf) < 10:
		return l.bad(p, packettext.BadCut, ITE, 10)
	}
	p.Arg, p.Value = buf[1], binary.LittleEndian.Uint64(buf[2:])
	return l.take(p, ITE, 10)
}

// q reads a Q: DDI0487, "Q packet".
func (l *Lexer) q(p *Packet, t uint8, buf []byte) bool {
	p.Arg = t
	next := 1
	switch t {
	case 0, 1, 2, QCount:
	case QShort0, QShort1:
		raw, n := shortBytes(buf[1:])
		if n == 0 {
			return l.bad(p, packettext.BadCut, Q, len(buf)+1)
		}
		p.Value, p.N, next = raw, n, 1+int(n)
	case QLong0, QLong1:
		if len(buf) < 5 {
			return l.bad(p, packettext.BadCut, Q, 5)
		}
		p.Value = uint64(binary.LittleEndian.Uint32(buf[1:]))
		next = 5
	case QBare:
		return l.take(p, Q, 1)
	default:
		return l.bad(p, packettext.BadOpcode, Bad, 0)
	}
	var why uint8
	if p.Value2, next, why = uleb(buf, next, 5); why != 0 {
		return l.bad(p, why, Q, len(buf)+1)
	}
	return l.take(p, Q, next)
}

// conditional reads a packet of conditional instruction tracing.
func (l *Lexer) conditional(p *Packet, b uint8, buf []byte) bool {
	switch {
	case b <= 0x42:
		return l.one(p, CondF2, needCond, b&3)
	case b == 0x43:
		return l.one(p, CondFlush, needCond, 0)
	case b <= 0x46:
		return l.one(p, CondResF4, needCond, b&3)
	case b >= 0x48 && b <= 0x4e && b != 0x4b:
		return l.one(p, CondResF2, needCond, b&7)
	case b >= 0x50 && b <= 0x5f:
		l.payload(p, CondResF3, 1, buf)
		if p.Kind == CondResF3 {
			p.Value |= uint64(b&0xf) << 8
		}
		return true
	case b >= 0x68 && b <= 0x6b:
		p.Arg = b & 7
		return l.ulebs(p, CondResF1, 6, true, buf)
	case b >= 0x6e:
		p.Arg = b & 7
		return l.ulebs(p, CondResF1, 6, false, buf)
	case b == 0x6c:
		return l.ulebs(p, CondF1, 5, false, buf)
	case b == 0x6d:
		return l.payload(p, CondF3, 1, buf)
	}
	return l.bad(p, packettext.BadOpcode, Bad, 0)
}

// bad makes p the bytes from here to the next A-Sync, or to the end. of is the
// kind of packet that began here, Bad if that is not known; need is how many
// bytes it has at least, if they are not there.
func (l *Lexer) bad(p *Packet, why uint8, of Kind, need int) bool {
	end, ok := findSync(l.Buf, l.Pos+1)
	if !ok {
		end = len(l.Buf)
	}
	*p = Packet{Kind: Bad, Arg: why, Extra: uint32(of), Value: uint64(end - l.Pos), Off: l.Base + int64(l.Pos)}
	if why == packettext.BadCut {
		p.N = uint8(need)
	}
	l.Pos = end
	return true
}
