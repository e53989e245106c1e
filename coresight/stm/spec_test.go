package stm

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// byTable says of what kind the packet is that digits start with, and how
// long, half bytes; 0: cut short, -1: bad. It reads the table alone, a digit
// at a time.
func byTable(digits string) (Kind, int) {
	for k := Null; k < NumKinds; k++ {
		s := &specs[k]
		if !strings.HasPrefix(digits, s.code) {
			continue
		}
		n := len(s.code) + s.data
		if s.stamped {
			if len(digits) <= n {
				return k, 0
			}
			size := strings.IndexByte("0123456789abc-d-e", digits[n])
			if size < 0 {
				return k, -1
			}
			n += 1 + size
		}
		if len(digits) < n {
			return k, 0
		}
		if k == Version && digits[3] != '3' && digits[3] != '4' {
			return k, -1
		}
		return k, n
	}
	for k := Null; k < NumKinds; k++ {
		if strings.HasPrefix(specs[k].code, digits) {
			return Bad, 0
		}
	}
	return Bad, -1
}

// Catches any difference between the table and the lexer: all four half bytes that
// a packet can start with, with zeros, F and digits behind them. It is whole and
// cut at each length, from either half of a byte.
func TestSpecAgrees(t *testing.T) {
	every := testsize.Of(t, 3, 1)
	for _, behind := range []string{strings.Repeat("0", 36), strings.Repeat("f", 36), "fffffffffffffffff0f003", "53c20d4e" + strings.Repeat("1", 24)} {
		for i := 0; i < 1<<16; i += every {
			all := strconv.FormatUint(uint64(1<<16|i), 16)[1:] + behind
			for half := range 2 {
				for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 13, 20, 21, 22, len(all)} {
					if n > len(all) || (n+half)%2 != 0 || i%7 != 0 && n > 5 && n < len(all) {
						continue
					}
					code := all[:n]
					k, size := byTable(code)
					var p Packet
					l := Lexer{buf: pack(digits(strings.Repeat("5", half) + code)), pos: half}
					l.Next(&p)
					switch {
					case size > 0:
						if p.Kind != k || int(p.Len) != size {
							t.Fatalf("%s: lexer: %v, %d half bytes; table: %v, %d", code, p.Kind, p.Len, k, size)
						}
					case p.Kind != Bad || (p.Why == packettext.BadCut) != (size == 0) || p.Of != k && k != Bad:
						if k != Async && k != Bad { // what is not whole has no one kind
							t.Fatalf("%s: lexer: %+v; table: %v, %d", code, p, k, size)
						}
						if p.Kind != Bad {
							t.Fatalf("%s: lexer: %+v; table: bad", code, p)
						}
					}
				}
			}
		}
	}
}

// Catches a document that says something else than the table in spec.go, or
// shows text that is no packet.
func TestDocAgrees(t *testing.T) {
	packets.DocAgrees(t, []string{"packet", "half bytes", "length", "says", "source"}, 3, func(kind int) []string {
		s := &specs[kind]
		length := strconv.Itoa(len(s.code) + s.data)
		if s.stamped {
			length = strconv.Itoa(len(s.code)+s.data+1) + " + N"
		}
		return []string{s.name, "`" + s.code + "`", length, s.meaning, s.source}
	})
}
