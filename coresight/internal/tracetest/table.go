package tracetest

import (
	"math/rand/v2"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// SlowASync returns the length of the A-sync of ETMv3 or PTM that buf begins with, 0
// if it begins with none. It looks at one byte after the other.
func SlowASync(buf []byte) (n int) {
	for n < len(buf) && buf[n] == 0 {
		n++
	}
	if n < 5 || n > 250 || n == len(buf) || buf[n] != 0x80 {
		return 0
	}
	return n + 1
}

// Lexers returns the Lex of a protocol whose lexer is made of a format.
func Lexers[F, P any, L packettest.Lexer[P]](formats []F, make func(f F, buf []byte, base int64) L) func(format int, buf []byte, base int64) packettest.Lexer[P] {
	return func(format int, buf []byte, base int64) packettest.Lexer[P] { return make(formats[format], buf, base) }
}

// Layout is the parts of a packet behind its leading byte, those that have a name.
func Layout[T ~uint8](parts []T, names []string) (s string) {
	for _, p := range parts {
		if names[p] != "" {
			s += " " + names[p]
		}
	}
	return s
}

// RandomStamp returns a timestamp of ETMv3 or PTM as the lexer gives it, and how many
// bytes it has.
func RandomStamp(r *rand.Rand, wide bool) (v uint64, n uint8) {
	most := uint8(7)
	if wide {
		most = 9
	}
	n = 1 + uint8(r.IntN(int(most)))
	if n == most {
		return r.Uint64() >> max(0, 64-(7*(int(most)-1)+8)), n
	}
	return r.Uint64() & (1<<(7*n) - 1), n
}
