package tracetest

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Branches fails the test where a branch of ETMv3 or PTM leaves out a byte that
// differs, or says another instruction set. branch returns the address bytes of the
// branch packet to addr in mode, where the address before was last, in mode was.
func Branches(t *testing.T, alternative bool, branch func(last uint32, was isa.Mode, addr uint32, mode isa.Mode) (v uint64, n uint8)) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	modes := []isa.Mode{isa.ModeA32, isa.ModeT32}
	lens := [6]int{}
	for range 100_000 {
		was, mode := modes[r.IntN(2)], modes[r.IntN(2)]
		last := r.Uint32() &^ 3
		addr := last ^ r.Uint32()>>r.IntN(32)
		if addr &^= 1; mode == isa.ModeA32 {
			addr &^= 3
		}
		v, n := branch(last, was, addr, mode)
		s := v3.ARM
		if mode == isa.ModeT32 {
			s = v3.Thumb
		}
		if n == 5 && v3.AddressSet(v) != s || n != 5 && was != mode {
			t.Fatalf("%v to %v: %d bytes 0x%x", was, mode, n, v)
		}
		a, size := s.Bits(v, n, alternative)
		if got := uint64(last)&^(1<<size-1) | a; uint32(got) != addr || got>>32 != 0 {
			t.Fatalf("from 0x%x to 0x%x in %v: %d bytes 0x%x lead to 0x%x", last, addr, mode, n, v, got)
		}
		lens[n]++
	}
	for n := 1; n <= 5; n++ {
		if lens[n] < 100 {
			t.Errorf("%d branches of %d bytes only", lens[n], n)
		}
	}
}
