package decoder

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// randomUnit is a trace unit that is set up at random.
type randomUnit interface {
	traceUnit
	// base returns what it has in common with others.
	base() *baseUnit
}

// baseUnit is what the units of A32 and T32 have in common: how they are set up,
// what they have told and what they hold back.
type baseUnit struct {
	r    *rand.Rand
	st   Stream // of what it writes
	near bool   // events are to have near bounds on their times
	buf  []byte

	atoms []bool // held back, the oldest first
	told  spot   // the address and the instruction set told last
	open  bool   // an A-sync has been written, its I-sync not yet
	asked bool   // for a sync point
	whole bool   // the next timestamp is to be whole
	stamp uint64 // sent last
}

func (u *baseUnit) base() *baseUnit { return u }
func (u *baseUnit) sync()           { u.asked = !u.open }

// take returns the n oldest atoms, which are held back no more, as a packet has
// them: the oldest in bit n-1, 1: E.
func (u *baseUnit) take(n int) (value uint64) {
	for _, e := range u.atoms[:n] {
		if value <<= 1; e {
			value |= 1
		}
	}
	u.atoms = u.atoms[n:]
	return value
}

// timestamp returns the bytes that a timestamp of t needs after the last, and
// what they hold, seven bits each. A whole one has 7 bytes, or 9 if wide.
func (u *baseUnit) timestamp(t uint64, wide bool) (n uint8, value uint64) {
	code := t
	if c := u.st.CoreSight(); !c.NaturalTimestamps() {
		code = t ^ t>>1
	}
	n, all := uint8(1), uint8(7)
	if wide {
		all = 9
	}
	for ; n < all && (code^u.stamp)>>(7*n) != 0; n++ {
	}
	value = code & (1<<(7*n) - 1)
	if u.whole {
		n, value = all, code
	}
	u.stamp, u.whole = code, false
	return n, value
}

// target returns l as BX has it, bit 0 set for T32.
func (l spot) target() uint64 {
	if l.mode == isa.ModeT32 {
		return l.ip | 1
	}
	return l.ip
}

// testRandom executes programs at random under units that unit makes, and fails
// where what is decoded is not what was executed. sequence is that of the random
// numbers. perInsn: the units show every instruction, also one that an exception
// cancels.
func testRandom(t *testing.T, sequence uint64, perInsn bool, unit func(r *rand.Rand) randomUnit) {
	t.Helper()
	n := testsize.Of(t, 75, 1500)
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, sequence))
		x := unit(r)
		u := x.base()
		st := &u.st
		p := newProgram(r, 8+8*r.IntN(8))
		p.dec = st.Instructions(false)
		insns := 1_200
		if seed%5 == 0 { // enough for some segments
			insns = 12_000
		}
		want := p.execute(insns, x, perInsn)
		st.Size = int64(len(u.buf))
		st.Data = stream.Memory(u.buf)
		st.Begin(0, 0)
		segs := slices.Collect(st.Segments())
		fill(segs, u.buf)
		if err := p.compare(t, want, st.Rules(), segs, st.Decoder(u.near)); err != nil {
			t.Fatalf("seed %d, %+v, %d segments: %v", seed, st.CoreSight().V3, len(segs), err)
		}
	}
}

// fill gives each segment its bytes.
func fill(segs []event.Segment, buf []byte) {
	for i := range segs {
		segs[i].Buf = buf[segs[i].Off:]
	}
}
