package itm

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// matches reports whether the header b fits the row.
func (s *spec) matches(b byte) bool {
	for i, c := range s.header {
		if bit := b >> (7 - i) & 1; c == '0' && bit != 0 || c == '1' && bit != 1 {
			return false
		}
	}
	return true
}

// byTable says of what kind the packet is that buf starts with, and how long;
// 0: cut short, -1: bad. It reads the table alone.
func byTable(buf []byte) (Kind, int) {
	for k := Sync; k < NumKinds; k++ {
		s := &specs[k]
		if !s.matches(buf[0]) || s.rule == sizeCode && buf[0]&3 == 0 || k == LTS2 && buf[0] == 0x70 {
			continue
		}
		n := 1
		switch s.rule {
		case sizeCode:
			n += [4]int{0, 1, 2, 4}[buf[0]&3]
		case sizeAfter, sizeMore:
			if s.rule == sizeAfter && buf[0]&0x80 == 0 {
				break
			}
			for ; ; n++ {
				if n > s.most {
					return k, -1
				}
				if n == len(buf) {
					return k, 0
				}
				if buf[n] < 0x80 {
					break
				}
			}
			n++
		case sizeZeros:
			n = len(buf) - len(bytes.TrimLeft(buf, "\x00"))
			if n == len(buf) {
				return k, 0
			}
			if n < 5 || buf[n] != 0x80 {
				return k, -1
			}
			n++
		}
		if n > len(buf) {
			return k, 0
		}
		return k, n
	}
	return Bad, -1
}

// Catches any difference between the table and the lexer: three bytes that a packet
// can start with (packettest.Prefixes), with zeros, ones and others behind them.
// They are whole and cut at each length.
func TestSpecAgrees(t *testing.T) {
	for _, behind := range []string{"", "\x00\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff", "\x00\x00\x00\x80\x12\x00", "\x80\x80\x80\x00\x00", "\x85\x17"} {
		buf := append(make([]byte, 3), behind...)
		for front := range packettest.Prefixes(t, 1) {
			copy(buf, front[:])
			for n := range 3 {
				if front[2]%4 != 0 && n > 0 {
					break // cut short: of a few
				}
				b := buf[:len(buf)-n]
				k, size := byTable(b)
				p := Packet{}
				(&Lexer{cursor: cursor{Buf: b}}).Next(&p)
				switch {
				case size > 0 && (p.Kind != k || p.Size() != int64(size)):
					t.Fatalf("%x: lexer: %v, %d bytes; table: %v, %d", b, p.Kind, p.Size(), k, size)
				case size <= 0 && (p.Kind != Bad || p.Of != k || (p.Arg == packettext.BadCut) != (size == 0)):
					t.Fatalf("%x: lexer: %+v; table: %v, %d", b, p, k, size)
				}
			}
		}
	}
}

// Catches a document that says something else than the table in spec.go, or
// shows text that is no packet.
func TestDocAgrees(t *testing.T) {
	packets.DocAgrees(t, []string{"packet", "header", "length", "says", "section"}, 3, func(kind int) []string {
		s := &specs[kind]
		return []string{s.name, "`" + s.header + "`", s.length(), s.meaning, s.source}
	})
}

// length is the column of lengths, bytes.
func (s *spec) length() string {
	switch s.rule {
	case sizeCode:
		return "2, 3 or 5"
	case sizeMore:
		return "2 to " + strconv.Itoa(1+s.most)
	case sizeAfter:
		return "1 to " + strconv.Itoa(1+s.most)
	case sizeZeros:
		return "6 and more"
	}
	return "1"
}
