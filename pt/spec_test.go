package pt

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// lead is a row's leading bytes: those bits of b that mask has are fixed.
type lead struct{ b, mask []byte }

func parseLead(t testing.TB, pattern string) (l lead) {
	t.Helper()
	for _, w := range strings.Fields(pattern) {
		row := packettest.Row{Lead: w}
		b, mask := row.Fixed(t)
		l.b, l.mask = append(l.b, b), append(l.mask, mask)
	}
	return l
}

func (l *lead) matches(buf []byte) bool {
	if len(buf) < len(l.b) {
		return false
	}
	for i, b := range l.b {
		if (buf[i]^b)&l.mask[i] != 0 {
			return false
		}
	}
	return true
}

// size returns the length by the rule of s, bytes; 0: the row does not hold.
func (s *spec) size(buf []byte, head int, item uint8) int {
	switch s.rule {
	case sizePads:
		n := 0
		for n <= s.tail && buf[n] == 0 {
			n++
		}
		return n
	case sizeShort:
		if buf[0] < 4 {
			return 0
		}
	case sizeStop:
		if bytes.Count(buf[head:head+s.tail], []byte{0}) == s.tail {
			return 0
		}
	case sizeIP:
		n := map[byte]int{0: 0, 1: 2, 2: 4, 3: 6, 4: 6, 6: 8}
		tail, ok := n[buf[0]>>5]
		if !ok {
			return 0
		}
		return head + tail
	case sizeCYC:
		n, more, used := 1, buf[0]&4 != 0, 5
		for ; more; n++ {
			if n > s.tail || used >= 64 && buf[n]>>1 != 0 || used == 61 && buf[n]>>1 > 7 {
				return 0
			}
			more = buf[n]&1 != 0
			used += 7
		}
		return n
	case sizePTW:
		if buf[1]&0x20 != 0 {
			return head + 8
		}
		return head + 4
	case sizeItem:
		return head + int(item)
	case sizeICNT:
		if buf[1]&0x40 != 0 {
			return head + s.tail + 2
		}
	}
	return head + s.tail
}

// byTable says of what kind the packet is that buf starts with, and how long.
func byTable(rows []Kind, leads *[NumKinds]lead, buf []byte, item uint8) (Kind, int) {
	if item != 0 && leads[BIP].matches(buf) {
		return BIP, specs[BIP].size(buf, 1, item)
	}
	for _, k := range rows {
		if k == BIP || !leads[k].matches(buf) {
			continue
		}
		if n := specs[k].size(buf, len(leads[k].b), item); n != 0 {
			return k, n
		}
	}
	return Bad, 0
}

// Catches any difference between the table and the lexer: three bytes that a packet
// can start with (packettest.Prefixes), with zeros, ones and a sync pattern behind
// them. They stand outside of blocks and in blocks of both item sizes, through the
// quick path and the careful one.
func TestSpecAgrees(t *testing.T) {
	var leads [NumKinds]lead
	var rows [256][]Kind // by first byte
	for k := PAD; k < NumKinds; k++ {
		leads[k] = parseLead(t, specs[k].bytes)
		for b := range 256 {
			if (byte(b)^leads[k].b[0])&leads[k].mask[0] == 0 {
				rows[b] = append(rows[b], k)
			}
		}
	}
	for _, behind := range []string{strings.Repeat("\x00", 21), strings.Repeat("\xff", 21), "\x82" + psb + "\x02\x82\x02\x82"} {
		buf := append(make([]byte, 3), behind...)
		for _, item := range []uint8{0, 4, 8} {
			every := 1
			if item != 0 {
				every = 7
			}
			for front := range packettest.Prefixes(t, every) {
				copy(buf, front[:])
				l := Lexer{buf: buf}
				l.block(item)
				var p, careful Packet
				l.Next(&p)
				k, n := byTable(rows[buf[0]], &leads, buf, item)
				if p.Kind != k || int(p.Len) != n {
					t.Fatalf("%x, items of %d: lexer: %v, %d bytes; table: %v, %d bytes", buf, item, p.Kind, p.Len, k, n)
				}
				if item != 0 || front[0]%16 != 0 && front[2] != 0 {
					continue
				}
				l = Lexer{buf: buf}
				if l.next(&careful, buf[0]); careful != p {
					t.Fatalf("%x: by table %+v, by switch %+v", buf, p, careful)
				}
			}
		}
	}
}

// Catches a field that overlaps another, or bits of a packet that no field
// shows.
func TestFieldsCoverPayload(t *testing.T) {
	for k := PAD; k < NumKinds; k++ {
		var seen [inFlag + 1]uint64
		for _, f := range specs[k].fields {
			m := ^uint64(0) >> (64 - f.Width)
			if seen[f.In]&(m<<f.Lo) != 0 {
				t.Errorf("%v: %s overlaps", k, f.Name)
			}
			seen[f.In] |= m << f.Lo
		}
		if s := specs[k]; s.rule == sizeFixed && s.tail > 0 {
			n := 0
			for _, m := range seen {
				for ; m != 0; m &= m - 1 {
					n++
				}
			}
			if n != 8*s.tail {
				t.Errorf("%v: fields have %d bits, payload %d", k, n, 8*s.tail)
			}
		}
	}
}

// length is the column of lengths, bytes.
func (s *spec) length() string {
	head := len(strings.Fields(s.bytes))
	n := strconv.Itoa
	switch s.rule {
	case sizePads, sizeCYC:
		return n(head) + " to " + n(head+s.tail)
	case sizeIP:
		return "1, 3, 5, 7 or 9"
	case sizePTW:
		return "6 or 10"
	case sizeItem:
		return "5 or 9"
	case sizeICNT:
		return n(head+s.tail) + " or " + n(head+s.tail+2)
	}
	return n(head + s.tail)
}

// Catches a document that says something else than the table in spec.go, or
// shows text that is no packet.
func TestDocAgrees(t *testing.T) {
	packets.DocAgrees(t, []string{"packet", "bytes", "length", "says", "source"}, 3, func(kind int) []string {
		s := &specs[kind]
		return []string{s.name, "`" + s.bytes + "`", s.length(), s.meaning, s.source}
	})
}
