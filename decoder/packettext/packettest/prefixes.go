// Package packettest holds what the tests of all trace protocols ask of lexers,
// encoders and the text form of packets. Only tests import it.
package packettest

import (
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Prefixes gives the first three bytes of packets. In the full form of a test they are one in
// every of all that there are. In the small one they are all of two bytes, each with a third
// byte drawn at random, and half as many of three bytes at random. The draws are the same
// in each run.
func Prefixes(t testing.TB, every int) iter.Seq[[3]byte] {
	t.Helper()
	full := testsize.Full(t)
	return func(yield func([3]byte) bool) {
		if full {
			for i := 0; i < 1<<24; i += every {
				if !yield([3]byte{byte(i), byte(i >> 8), byte(i >> 16)}) {
					return
				}
			}
			return
		}
		r := rand.New(rand.NewPCG(7, 8))
		for i := range 1<<16 + 1<<15 {
			v := r.Uint32()
			if i < 1<<16 {
				v = v<<16 | uint32(i)
			}
			if !yield([3]byte{byte(v), byte(v >> 8), byte(v >> 16)}) {
				return
			}
		}
	}
}
