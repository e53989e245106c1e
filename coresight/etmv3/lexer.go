package etmv3

import (
	"encoding/binary"
	"iter"
	"sync"

	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Format is what the lengths of packets depend on besides their bytes: how the
// trace unit was made and set up. The zero value is a trace of instructions
// without cycle counts and context IDs, of 48-bit timestamps.
type Format struct {
	CycleAccurate bool  // P-headers hold cycles (ETMCR bit 12)
	ContextBytes  uint8 // bytes of a context ID: 0, 1, 2 or 4 (ETMCR bits 15..14)
	TS64          bool  // timestamps have 64 bits (ETMCCER bit 29)
	Alternative   bool  // exceptions follow branches of any length (ETMIDR bit 20)
	DataValues    bool  // data values are traced (ETMCR bit 2)
	DataAddresses bool  // data addresses are traced (ETMCR bit 3)
	DataOnly      bool  // instructions are not traced: an I-sync has no address (ETMCR bit 20)
}

// cursor gives Lexer its methods Reset, Off and SeekTo.
type cursor = wire.Cursor

// Lexer splits the bytes of a stream into packets.
type Lexer struct {
	cursor
	form  Format
	heads *[256]Packet // P-headers by their byte
	quick *quickForms  // what Fill knows of form
}

// NewLexer returns a Lexer over buf, whose first byte is at offset base of its
// stream and starts a packet. The Lexer reads buf in place.
func NewLexer(f Format, buf []byte, base int64) *Lexer {
	l := new(Lexer)
	l.setForm(f)
	l.Reset(buf, base)
	return l
}

func (l *Lexer) setForm(f Format) {
	cycles, alternative := 0, 0
	if f.Alternative {
		alternative = 1
	}
	if f.CycleAccurate {
		cycles = 1
	}
	l.form, l.quick = f, &forms()[cycles][alternative]
	l.heads = &l.quick.heads
}

// All returns the packets from the present place to the end of the bytes.
func (l *Lexer) All() iter.Seq[Packet] { return packettext.All(l.Next) }

// Next reads one packet into p, every field of it, and reports whether there
// was one: false means that no byte is left. Bytes that are no packet are a
// packet of kind Bad that reaches to the next A-sync, or to the end.
func (l *Lexer) Next(p *Packet) bool {
	if l.Pos >= len(l.Buf) {
		return false
	}
	b := l.Buf[l.Pos]
	if h := &l.heads[b]; h.Kind != Bad {
		*p = *h
		p.Off = l.Base + int64(l.Pos)
		l.Pos++
		return true
	}
	*p = Packet{Off: l.Base + int64(l.Pos)}
	return l.next(p, l.Buf[l.Pos:])
}

// next is Next of what is no P-header. buf is what is left, one byte or more.
func (l *Lexer) next(p *Packet, buf []byte) bool {
	b := buf[0]
	switch {
	case b&1 != 0:
		return l.branch(p, buf)
	case b >= 0x80:
		return l.bad(p, packettext.BadForm, PHeader, 0)
	case b&0x93 == 0x00 && b&0x60 != 0, b&0xd3 == 0x02, b&0xef == 0x6a, b == 0x50, b == 0x62, b&0xd3 == 0x50 && b&0x0c != 0:
		return l.data(p, buf)
	}
	switch b {
	case 0x00:
		return l.async(p, buf)
	case 0x04:
		n := p.cycles(buf, 1)
		if n > len(buf) {
			return l.bad(p, packettext.BadCut, CycleCount, n)
		}
		return l.take(p, CycleCount, n)
	case 0x08:
		return l.isync(p, ISync, buf, 1)
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
		n := l.context(p, buf, 1)
		if n > len(buf) {
			return l.bad(p, packettext.BadCut, ContextID, n)
		}
		return l.take(p, ContextID, n)
	case 0x70:
		n := p.cycles(buf, 1)
		if n > len(buf) {
			return l.bad(p, packettext.BadCut, ISyncCycles, n)
		}
		return l.isync(p, ISyncCycles, buf, n)
	case 0x76:
		return l.take(p, ExceptionRet, 1)
	case 0x7e:
		return l.take(p, ExceptionEntry, 1)
	}
	return l.bad(p, packettext.BadOpcode, Bad, 0)
}

// forms is what a Lexer knows of forms of trace: by whether they are cycle-accurate and
// whether exception bytes are in the alternative encoding. Other protocols need no such tables.
var forms = sync.OnceValue(func() *[2][2]quickForms {
	t := new([2][2]quickForms)
	plain, cycles := headerTables()
	for alternative := range 2 {
		t[0][alternative].fill(&plain, alternative == 1)
		t[1][alternative].fill(&cycles, alternative == 1)
	}
	return t
})

// headerTables returns the P-header of each first byte, of kind Bad where it is
// none: of plain and of cycle-accurate traces. IHI0014Q, "P-headers".
func headerTables() (plain, cycles [256]Packet) {
	// run is n atoms E, and one N with bit 6.
	run := func(b, n int) Packet {
		p := Packet{Kind: PHeader, Len: 1, Info: 1, N: uint8(n), Value: 1<<n - 1}
		if b&0x40 != 0 {
			p.N++
			p.Value <<= 1
		}
		return p
	}
	two := func(b int) Packet {
		return Packet{Kind: PHeader, Len: 1, Info: 2, N: 2, Value: uint64(^b >> 2 & 3)}
	}
	for b := 0x80; b < 256; b += 2 {
		switch {
		case b&3 == 0:
			plain[b] = run(b, b>>2&0xf)
		case b&0x73 == 0x02:
			plain[b] = two(b)
		}
		switch {
		case b&0x23 == 0 && b != 0x80:
			cycles[b] = run(b, b>>2&7)
		case b&0x73 == 0x02:
			cycles[b] = two(b)
		case b&0x23 == 0x20:
			p := Packet{Kind: PHeader, Len: 1, Info: 3, Cycles: uint32(b>>2&7) + 1}
			if b&0x40 != 0 {
				p.N, p.Value = 1, 1
			}
			cycles[b] = p
		case b&0x73 == 0x12:
			cycles[b] = Packet{Kind: PHeader, Len: 1, Info: 4, N: 1, Value: uint64(^b >> 2 & 1), Pad: uint8(b >> 3 & 1)}
		}
	}
	return plain, cycles
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

// isync reads an I-sync from the context ID on, which is at buf[n:]. IHI0014Q,
// "I-sync instruction synchronization".
func (l *Lexer) isync(p *Packet, k Kind, buf []byte, n int) bool {
	n = l.context(p, buf, n)
	end := n + 5
	if l.form.DataOnly {
		end = n + 1
	}
	if end > len(buf) {
		return l.bad(p, packettext.BadCut, k, end)
	}
	p.Info = uint16(buf[n])
	if l.form.DataOnly {
		p.Info |= infoNoAddress
	} else {
		p.Value = uint64(binary.LittleEndian.Uint32(buf[n+1:]))
		if p.Info&infoSecond != 0 {
			if p.Extra, p.Exc, end = address(buf, end); end > len(buf) {
				return l.bad(p, packettext.BadCut, k, end)
			}
		}
	}
	return l.take(p, k, end)
}

// context reads the context ID at buf[at:] and returns the index behind it,
// which is beyond the end where it is cut.
func (l *Lexer) context(p *Packet, buf []byte, at int) int {
	n := int(l.form.ContextBytes)
	if at+n > len(buf) {
		return at + n
	}
	for i := range min(n, 4) {
		p.Context |= uint32(buf[at+i]) << (8 * i)
	}
	p.N = uint8(n)
	return at + n
}

// cycles reads the cycle count at buf[at:] and returns the index behind it,
// which is beyond the end where it is cut. IHI0014Q, "Cycle count packet".
func (p *Packet) cycles(buf []byte, at int) int {
	for n := 0; ; n++ {
		if at+n >= len(buf) {
			return len(buf) + 1
		}
		b := buf[at+n]
		p.Cycles |= uint32(b&0x7f) << (7 * n)
		if n == 4 {
			p.Pad = b >> 4
		}
		if b < 0x80 || n == 4 {
			p.CC = uint8(n + 1)
			return at + n + 1
		}
	}
}

// address reads the address bytes at buf[at:] and how many they are, and
// returns the index behind them, which is beyond the end where they are cut.
func address(buf []byte, at int) (v uint64, n uint8, end int) {
	for more := true; more; n++ {
		i := at + int(n)
		if i >= len(buf) {
			return 0, 0, len(buf) + 1
		}
		b := buf[i]
		if n == 4 {
			v |= uint64(b) << 28
			more = false
		} else {
			v |= uint64(b&0x7f) << (7 * n)
			more = b >= 0x80
		}
	}
	return v, n, at + int(n)
}

// branch reads a branch packet. IHI0014Q, "Branch Packets".
func (l *Lexer) branch(p *Packet, buf []byte) bool {
	var n int
	if p.Value, p.N, n = address(buf, 0); n > len(buf) {
		return l.bad(p, packettext.BadCut, Branch, n)
	}
	p.Value &^= 1
	if _, ok := addressSet(p.Value); p.N == 5 && !ok {
		return l.bad(p, packettext.BadForm, Branch, 0) // of no instruction set
	}
	if !p.hasInfo(l.form.Alternative) {
		return l.take(p, Branch, n)
	}
	for more := true; more && p.Exc < 3; n++ {
		if n >= len(buf) {
			return l.bad(p, packettext.BadCut, Branch, n+1)
		}
		p.Extra |= uint64(buf[n]) << (8 * p.Exc)
		p.Exc++
		more = buf[n]&v3.ExcMore != 0
	}
	return l.take(p, Branch, n)
}

// hasInfo reports whether the last address byte says that exception bytes
// follow: bit 6 of the fifth, or in the alternative encoding of any but the
// first.
func (p *Packet) hasInfo(alternative bool) bool {
	switch {
	case p.N == 5:
		return p.Value>>(28+6)&3 == 1
	case alternative && p.N > 1:
		return p.Value>>(7*p.N-1)&1 != 0
	}
	return false
}

// timestamp reads a timestamp packet. IHI0014Q, "Timestamp packet, ETMv3.5".
func (l *Lexer) timestamp(p *Packet, buf []byte) bool {
	var n int
	if p.Value, p.N, n = v3.ReadTimestamp(buf, l.form.TS64); n > len(buf) {
		return l.bad(p, packettext.BadCut, Timestamp, n)
	}
	p.Info = uint16(buf[0] >> 2 & 1)
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
