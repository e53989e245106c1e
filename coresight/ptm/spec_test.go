package ptm

import (
	"strings"
	"testing"

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
			for n < len(buf) && buf[n] == 0 {
				n++
			}
			if n < 5 || n > 250 || n == len(buf) || buf[n] != 0x80 {
				return 0
			}
			n++
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

var formats = []Format{
	{}, {CycleAccurate: true}, {ContextBytes: 4}, {CycleAccurate: true, ContextBytes: 2, TS64: true}, {TS64: true, ContextBytes: 1},
}

// Catches any difference between the table and the lexer: three bytes that a packet
// can start with (packettest.Prefixes), with zeros, ones and others behind them. It
// takes each format of trace, through the quick path and the careful one.
func TestSpecAgrees(t *testing.T) {
	behind := []string{strings.Repeat("\x00", 300), strings.Repeat("\xff", 21), "\x00\x00\x80\xc0\x80\x40\xff\x80\x80\x80\x80\x80\x80\x00\x00\x00\x00\x00\x00\x00", "\x80\x80\x80\x80\x80\x80\x80\x7f\x00\xc0\x80\x80\x80\x80\x01\x01\x01\x01"}
	var leads []string
	for i := range specs {
		leads = append(leads, specs[i].bytes)
	}
	for _, f := range formats {
		l := NewLexer(f, nil, 0)
		packettest.SpecAgrees(t, behind, leads, func(kind int, buf []byte) int { return specs[kind].slow(f, buf) }, func(buf []byte) (kind, size int) {
			var p Packet
			l.Reset(buf, 0)
			l.Next(&p)
			l.Reset(buf, 0)
			var careful Packet
			if l.next(&careful, buf); careful != p {
				t.Fatalf("%x in %+v: quick %+v, careful %+v", buf[:16], f, p, careful)
			}
			return int(p.Kind), int(p.Len)
		})
	}
}

// docTable is the table of docs/formats/ptm-packets.md.
func docTable() string {
	var b strings.Builder
	b.WriteString("| packet | bytes | text form | says | section |\n|---|---|---|---|---|\n")
	for k := ASync; k < NumKinds; k++ {
		s := &specs[k]
		bytes := s.bytes
		for _, p := range s.parts {
			bytes += " " + partNames[p]
		}
		b.WriteString("| " + s.name + " | `" + bytes + "` | `" + codec.Table[k].Usage() + "` | " + s.meaning + " | " + s.section + " |\n")
	}
	return b.String()
}

// partNames are the parts as the document explains them.
var partNames = [...]string{
	partZeros: "ZEROS", partAddress: "ADDRESS", partExc: "[EXCEPTION]", partUpdate: "[INFO]", partSync: "ADDRESS4 INFO",
	partCycles: "[CYCLES]", partReason: "[CYCLES]", partAtoms: "[CYCLES]", partContext: "[CONTEXT]", partByte: "BYTE", partTime: "TIME",
}

// Catches a document that says something else than the table in spec.go, or
// shows text that is no packet.
func TestDocAgrees(t *testing.T) {
	packettest.DocAgrees(t, "../../docs/formats/ptm-packets.md", docTable(), func(text string) ([]byte, error) { return Assemble(nil, text) })
}
