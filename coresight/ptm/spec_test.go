package ptm

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// slow reads the packet at the front of buf by the rows of the table alone, a byte
// at a time. buf is long enough. n is its length, 0 if the row does not hold.
func (s *spec) slow(f Format, buf []byte) (n int) {
	n = 1
	read := func(most int, more byte) (read int) {
		for read < most {
			b := buf[n]
			n++
			read++
			if b&more == 0 {
				break
			}
		}
		return read
	}
	addressBytes := 0
	for _, p := range s.parts {
		switch p {
		case partZeros:
			if n = tracetest.SlowASync(buf); n == 0 {
				return 0
			}
		case partAddress:
			if buf[0]&1 == 0 {
				addressBytes = read(5, 0x80)
			} else if addressBytes = 1; buf[0]&0x80 != 0 {
				addressBytes += read(4, 0x80)
			}
		case partExc:
			if addressBytes > 1 && buf[n-1]&0x40 != 0 {
				read(2, 0x80)
			}
		case partUpdate:
			if addressBytes == 5 && buf[n-1]&0x40 != 0 {
				n++
			}
		case partSync:
			n += 5
		case partReason, partCycles:
			if f.CycleAccurate && (p == partCycles || buf[5]>>5&3 != 0) {
				if n++; buf[n-1]&0x40 != 0 {
					read(4, 0x80)
				}
			}
		case partAtoms:
			if !f.CycleAccurate && buf[0]&0x7c == 0 {
				return 0
			}
			if f.CycleAccurate && buf[0]&0x40 != 0 {
				read(4, 0x80)
			}
		case partContext:
			n += int(f.ContextBytes)
		case partByte:
			n++
		case partTime:
			read(map[bool]int{false: 7, true: 9}[f.TS64], 0x80)
		}
	}
	return n
}

// both reads each packet by the quick path and by the careful one.
type both struct {
	*Lexer
	t *testing.T
}

func (l both) Next(p *Packet) bool {
	pos := l.Pos
	more := l.Lexer.Next(p)
	l.Pos = pos
	if careful := (Packet{}); more && l.next(&careful, l.Buf[pos:]) && careful != *p {
		l.t.Fatalf("%x in %+v: quick %+v, careful %+v", l.Buf[pos:min(pos+16, len(l.Buf))], l.form, p, careful)
	}
	return more
}

// Catches any difference between the table and the lexer, by the quick path and
// by the careful one. Catches a document that says
// something else than the table, or shows text that is no packet.
func TestTableAgrees(t *testing.T) {
	twice := packets
	twice.Lex = func(format int, buf []byte, base int64) packettest.Lexer[Packet] {
		return both{NewLexer(formats[format], buf, base), t}
	}
	twice.TableAgrees(t, func(kind int) packettest.Row {
		s := &specs[kind]
		return packettest.Row{Name: s.name, Lead: s.bytes, Layout: tracetest.Layout(s.parts, partNames[:]), Says: s.meaning, Section: s.section}
	}, func(kind, format int, buf []byte) int { return specs[kind].slow(formats[format], buf) })
}

// partNames are the parts as the document explains them.
var partNames = [...]string{
	partZeros: "ZEROS", partAddress: "ADDRESS", partExc: "[EXCEPTION]", partUpdate: "[INFO]", partSync: "ADDRESS4 INFO",
	partCycles: "[CYCLES]", partReason: "[CYCLES]", partAtoms: "[CYCLES]", partContext: "[CONTEXT]", partByte: "BYTE", partTime: "TIME",
}
