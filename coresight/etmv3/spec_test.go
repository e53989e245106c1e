package etmv3

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// slow reads the packet at the front of buf by the rows of the table alone, a byte
// at a time. buf is long enough. n is its length, 0 if the row does not hold.
func (s *spec) slow(f Format, buf []byte) (n int) {
	n = 1
	read := func(most int) {
		for i := 0; i < most; i++ {
			n++
			if buf[n-1]&0x80 == 0 {
				break
			}
		}
	}
	switch {
	case s.needs == needValues && !f.DataValues, s.needs == needData && !f.DataValues && !f.DataAddresses:
		return 0
	}
	for _, p := range s.parts {
		switch p {
		case partAddress:
			if buf[0]&0x80 != 0 {
				read(4)
			}
			if b := buf[n-1]; n == 5 && b&0x80 == 0 && b&0x38 == 0 {
				return 0
			}
		case partExc:
			b := buf[n-1]
			if n == 5 && b&0xc0 == 0x40 || f.Alternative && n > 1 && n < 5 && b&0x40 != 0 {
				read(3)
			}
		case partCycles:
			read(5)
		case partContext:
			n += int(f.ContextBytes)
		case partSync:
			if n++; !f.DataOnly {
				n += 4
			}
		case partSecond:
			if !f.DataOnly && buf[n-5]&0x80 != 0 {
				read(5)
			}
		case partByte:
			n++
		case partTime:
			read(map[bool]int{false: 7, true: 9}[f.TS64])
		case partFirst5:
			if buf[0]&0x20 != 0 && f.DataAddresses {
				read(5)
			}
		case partFirst4:
			if buf[0]&0x10 != 0 && f.DataAddresses {
				read(5)
			}
		case partValue:
			n += map[byte]int{0: 0, 4: 1, 8: 2, 12: 4}[buf[0]&0xc]
		case partTag:
			if s.text == "ooo" && buf[0]&0x60 == 0 || s.text == "placeholder" && buf[0]&0x0c == 0 {
				return 0
			}
		case partAtoms:
			if b := buf[0]; b&3 == 2 && b&0x70 != 0 && (!f.CycleAccurate || b&0x70 != 0x10) || f.CycleAccurate && b == 0x80 {
				return 0
			}
		case partZeros:
			if n = tracetest.SlowASync(buf); n == 0 {
				return 0
			}
		}
	}
	return n
}

// Catches any difference between the table and the lexer. Catches a document that says
// something else than the table, or shows text that is no packet.
func TestTableAgrees(t *testing.T) {
	packets.TableAgrees(t, func(kind int) packettest.Row {
		s := &specs[kind]
		return packettest.Row{Name: s.name, Lead: s.bytes, Layout: tracetest.Layout(s.parts, partNames[:]), Says: s.meaning, Section: s.section}
	}, func(kind, format int, buf []byte) int { return specs[kind].slow(formats[format], buf) })
}

// partNames are the parts as the document explains them.
var partNames = [...]string{
	partZeros: "ZEROS", partAddress: "ADDRESS", partExc: "[EXCEPTION]", partCycles: "CYCLES", partAtoms: "", partTag: "",
	partContext: "[CONTEXT]", partSync: "INFO [ADDRESS4]", partSecond: "[SECOND]", partByte: "BYTE", partTime: "TIME",
	partFirst5: "[DATAADDRESS]", partFirst4: "[DATAADDRESS]", partValue: "[VALUE]",
}
