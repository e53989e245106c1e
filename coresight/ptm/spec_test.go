package ptm

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// lead is a row's leading byte: those bits of b that mask has are fixed.
type lead struct{ b, mask byte }

func parseLead(t testing.TB, pattern string) (l lead) {
	t.Helper()
	if len(pattern) == 2 {
		v, err := strconv.ParseUint(pattern, 16, 8)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		return lead{byte(v), 0xff}
	}
	if len(pattern) != 8 {
		t.Fatalf("%q is neither two digits nor eight bits", pattern)
	}
	for _, c := range pattern {
		l.b, l.mask = l.b<<1, l.mask<<1
		if c == '0' || c == '1' {
			l.b, l.mask = l.b|byte(c-'0'), l.mask|1
		}
	}
	return l
}

// slow reads the packet at the front of buf, which is long enough, by the rows
// of the table alone, a byte at a time; n is its length, 0 if the row does not hold.
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

// Catches any difference between the table and the lexer: three bytes that a
// packet can start with (packettest.Prefixes), with zeros, ones and others behind them, in each
// format of trace, through the quick path and the careful one.
func TestSpecAgrees(t *testing.T) {
	var rows [256][]Kind // by first byte
	for k := ASync; k < NumKinds; k++ {
		l := parseLead(t, specs[k].bytes)
		for b := range 256 {
			if (byte(b)^l.b)&l.mask == 0 {
				rows[b] = append(rows[b], k)
			}
		}
	}
	for _, behind := range []string{strings.Repeat("\x00", 300), strings.Repeat("\xff", 21), "\x00\x00\x80\xc0\x80\x40\xff\x80\x80\x80\x80\x80\x80\x00\x00\x00\x00\x00\x00\x00", "\x80\x80\x80\x80\x80\x80\x80\x7f\x00\xc0\x80\x80\x80\x80\x01\x01\x01\x01"} {
		buf := append(make([]byte, 3), behind...)
		for _, f := range formats {
			l := NewLexer(f, buf, 0)
			for front := range packettest.Prefixes(7) {
				copy(buf, front[:])
				l.Reset(buf, 0)
				var p, careful Packet
				l.Next(&p)
				k, n := Bad, 0
				for _, row := range rows[buf[0]] {
					if n = specs[row].slow(f, buf); n != 0 {
						k = row
						break
					}
				}
				if p.Kind != k || int(p.Len) != n {
					t.Fatalf("%x in %+v: lexer: %v, %d bytes; table: %v, %d bytes", buf[:16], f, p.Kind, p.Len, k, n)
				}
				l.Reset(buf, 0)
				if l.next(&careful, buf); careful != p {
					t.Fatalf("%x in %+v: quick %+v, careful %+v", buf[:16], f, p, careful)
				}
			}
		}
	}
}

// docTable is the table of docs/formats/ptm-packets.md.
func docTable() string {
	var b strings.Builder
	b.WriteString("| packet | bytes | text form | says | section |\n|---|---|---|---|---|\n")
	for k := ASync; k < NumKinds; k++ {
		s := &specs[k]
		form, bytes := s.text, s.bytes
		for i := range s.fields {
			form += " " + s.fields[i].Usage()
		}
		for _, p := range s.parts {
			bytes += " " + partNames[p]
		}
		b.WriteString("| " + s.name + " | `" + bytes + "` | `" + form + "` | " + s.meaning + " | " + s.section + " |\n")
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
	const file = "../../docs/formats/ptm-packets.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := docTable(); !strings.Contains(string(doc), want) {
		t.Errorf("%s does not hold the table of spec.go, which is\n%s", file, want)
	}
	_, rest, ok := strings.Cut(string(doc), "```\n")
	example, _, ok2 := strings.Cut(rest, "```")
	if _, err := Assemble(nil, example); err != nil || !ok || !ok2 {
		t.Errorf("%s: example: %v (found: %v)", file, err, ok && ok2)
	}
}
