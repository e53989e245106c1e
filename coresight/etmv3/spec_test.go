package etmv3

import (
	"strings"
	"testing"

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
		case partZeros:
			for n < len(buf) && buf[n] == 0 {
				n++
			}
			if n < 5 || n > 250 || n == len(buf) || buf[n] != 0x80 {
				return 0
			}
			n++
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
		}
	}
	return n
}

var formats = []Format{
	{}, {CycleAccurate: true}, {ContextBytes: 4, Alternative: true}, {CycleAccurate: true, ContextBytes: 2, TS64: true, Alternative: true, DataAddresses: true},
	{DataValues: true, DataAddresses: true, ContextBytes: 1}, {DataValues: true, Alternative: true}, {DataOnly: true, DataValues: true, DataAddresses: true},
}

// Catches any difference between the table and the lexer: three bytes that a
// packet can start with (packettest.Prefixes), with zeros, ones and others behind them, in each
// format of trace.
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
			return int(p.Kind), int(p.Len)
		})
	}
}

// docTable is the table of docs/formats/etmv3-packets.md.
func docTable() string {
	var b strings.Builder
	b.WriteString("| packet | bytes | text form | says | section |\n|---|---|---|---|---|\n")
	for k := ASync; k < NumKinds; k++ {
		s := &specs[k]
		bytes := s.bytes
		for _, p := range s.parts {
			if partNames[p] != "" {
				bytes += " " + partNames[p]
			}
		}
		b.WriteString("| " + s.name + " | `" + bytes + "` | `" + codec.Table[k].Usage() + "` | " + s.meaning + " | " + s.section + " |\n")
	}
	return b.String()
}

// partNames are the parts as the document explains them.
var partNames = [...]string{
	partZeros: "ZEROS", partAddress: "ADDRESS", partExc: "[EXCEPTION]", partCycles: "CYCLES", partAtoms: "", partTag: "",
	partContext: "[CONTEXT]", partSync: "INFO [ADDRESS4]", partSecond: "[SECOND]", partByte: "BYTE", partTime: "TIME",
	partFirst5: "[DATAADDRESS]", partFirst4: "[DATAADDRESS]", partValue: "[VALUE]",
}

// Catches a document that says something else than the table in spec.go, or
// shows text that is no packet.
func TestDocAgrees(t *testing.T) {
	packettest.DocAgrees(t, "../../docs/formats/etmv3-packets.md", docTable(), func(text string) ([]byte, error) { return Assemble(nil, text) })
}
