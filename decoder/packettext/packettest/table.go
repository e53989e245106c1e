package packettest

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Lead reads a leading byte as tables of packets write it: two hex digits, or eight
// bits with letters where any bit may stand. Those bits of b that mask has are fixed.
func Lead(tb testing.TB, pattern string) (b, mask byte) {
	tb.Helper()
	if len(pattern) == 2 {
		v, err := strconv.ParseUint(pattern, 16, 8)
		if err != nil {
			tb.Fatalf("%q: %v", pattern, err)
		}
		return byte(v), 0xff
	}
	if len(pattern) != 8 {
		tb.Fatalf("%q is neither two digits nor eight bits", pattern)
	}
	for _, c := range pattern {
		b, mask = b<<1, mask<<1
		if c == '0' || c == '1' {
			b, mask = b|byte(c-'0'), mask|1
		}
	}
	return b, mask
}

// Numbers returns numbers at random of the fields that have no size, small ones as
// often as large ones.
func Numbers(r *rand.Rand, fields []packettext.Field) (n packettext.Numbers) {
	for i := range fields {
		f := &fields[i]
		switch f.Form {
		case packettext.Sized, packettext.Count, packettext.Letters:
		default:
			n[f.In] |= r.Uint64() >> r.IntN(64) & (1<<f.Width - 1) << f.Lo
		}
	}
	return n
}

// SpecAgrees fails the test where a lexer reads other packets than the table of
// packets says: behind the Prefixes stands each of behind. leads are the table's
// leading bytes by kind. slow reads a packet of a kind by the table alone and returns
// its length, 0 where it is none. lex is the lexer, in the same terms.
func SpecAgrees(t *testing.T, behind, leads []string, slow func(kind int, buf []byte) int, lex func(buf []byte) (kind, size int)) {
	t.Helper()
	var rows [256][]int // by first byte
	for k := 1; k < len(leads); k++ {
		lead, mask := Lead(t, leads[k])
		for b := range 256 {
			if (byte(b)^lead)&mask == 0 {
				rows[b] = append(rows[b], k)
			}
		}
	}
	for _, tail := range behind {
		buf := append(make([]byte, 3), tail...)
		for front := range Prefixes(t, 7) {
			copy(buf, front[:])
			want, size := 0, 0
			for _, row := range rows[buf[0]] {
				if size = slow(row, buf); size != 0 {
					want = row
					break
				}
			}
			if k, n := lex(buf); k != want || n != size {
				t.Fatalf("%x: lexer: kind %d, %d bytes; table: kind %d, %d bytes", buf[:16], k, n, want, size)
			}
		}
	}
}
