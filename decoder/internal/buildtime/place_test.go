package buildtime

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// placeKernel returns a kernel of 24 MiB of code as linked at addr. One in 12 instructions of
// arm64 is a call; a function of x86-64 begins about every 400 bytes.
func placeKernel(r *rand.Rand, addr uint64, arm bool) *Kernel {
	k := &Kernel{file: &vmlinux{arm: arm, text: stretch{addr: addr, data: make([]byte, 24<<20)}}}
	text := k.file.text.data
	for i := 0; arm && i < len(text); i += 4 {
		w := uint32(armNop)
		if r.IntN(12) == 0 {
			w = armBL
		}
		binary.LittleEndian.PutUint32(text[i:], w)
	}
	for i := 0; !arm && i < len(text)-1024; i += 16 * (1 + r.IntN(50)) {
		k.groups = append(k.groups, &Group{Addr: addr + uint64(i), Built: []byte{opCall, 0, 0, 0, 0}})
	}
	return k
}

// TestPlace would catch a kernel that is laid where only modules, or other code near it, ran.
// It would also catch one that is not laid where it ran while other code ran too.
func TestPlace(t *testing.T) {
	const armLinked, linked, moved = 0xffff800080010000, 0xffffffff81000000, 0x1fe00000 // x86: it ends below 0xffffffffa2800000
	made := rand.New(rand.NewPCG(1, 2))
	kernels := map[bool]*Kernel{true: placeKernel(made, armLinked, true), false: placeKernel(made, linked, false)}
	starts := map[bool][]uint64{true: kernels[true].Functions(), false: kernels[false].Functions()}
	seeds := uint64(testsize.Of(t, 1, 8))
	type place struct {
		name           string
		arm            bool
		linked, around uint64 // around: where targets lie that are not of the kernel
		own, other     int    // targets
		n              int    // of its own, how many begin functions
		clear          bool
	}
	for _, c := range testsize.Some(t, []place{
		{"arm64, only modules", true, armLinked, 0xffff80007a000000, 0, 60, 0, false},
		{"arm64, many of modules", true, armLinked, 0xffff80007a000000, 0, 5000, 0, false},
		{"arm64, mostly modules", true, armLinked, 0xffff80007a000000, 60, 100, 50, false},
		{"arm64, few targets", true, armLinked, 0xffff80007a000000, 12, 0, 12, false},
		{"arm64", true, armLinked, 0xffff80007a000000, 100, 20, 80, true},
		{"x86, only modules", false, linked, 0xffffffffc0000000, 0, 60, 0, false},
		{"x86, many of modules", false, linked, 0xffffffffc0000000, 0, 5000, 0, false},
		{"x86, only other code", false, linked, 0xffffffffa0000000, 0, 60, 0, false},
		{"x86, mostly other code", false, linked, 0xffffffffa8000000, 60, 100, 50, false},
		{"x86, few targets", false, linked, 0xffffffffc0000000, 15, 0, 15, false},
		{"x86, few at functions", false, linked, 0xffffffffc0000000, 500, 0, 10, false},
		{"x86, among modules", false, linked, 0xffffffffc0000000, 100, 500, 30, true},
		{"x86", false, linked, 0xffffffffc0000000, 600, 5, 60, true},
		{"x86, none", false, linked, 0xffffffffc0000000, 0, 0, 0, false},
	}, 7) {
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 0x91ace))
			starts, unit := starts[c.arm], uint64(4)
			if !c.arm {
				unit = 1
			}
			targets := map[uint64]bool{}
			for len(targets) < c.n {
				targets[starts[r.IntN(len(starts))]+moved] = true
			}
			for len(targets) < c.own {
				targets[c.linked+moved+r.Uint64N(24<<20)&^(unit-1)] = true
			}
			for len(targets) < c.own+c.other {
				targets[c.around+r.Uint64N(8<<20)&^(unit-1)] = true
			}
			p := kernels[c.arm].Place(targets)
			if p.Clear() != c.clear || c.clear && p.Shift != moved {
				t.Errorf("%s, seed %d: %+v, clear: %v, want %v at %#x", c.name, seed, p, p.Clear(), c.clear, moved)
			}
		}
	}
}
