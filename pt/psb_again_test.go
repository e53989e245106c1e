package pt

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// anyPSB returns a PSB+ of r's choice and what stands behind it, with few different packets.
func anyPSB(r *rand.Rand) []byte {
	p := func(b []byte, k Kind, v uint64) []byte { return Packet{Kind: k, Value: v}.Append(b) }
	buf := []byte(psb)
	for range r.IntN(8) {
		switch v := uint64(r.IntN(2)); r.IntN(12) {
		case 0:
			buf = p(buf, ModeExec, 1+v)
		case 1:
			buf = p(buf, ModeTSX, v)
		case 2:
			buf = p(buf, PIP, 0x1000|v)
		case 3:
			buf = p(buf, VMCS, 0x55+v)
		case 4:
			buf = append(buf, 0x02, 0x03, 0x26+byte(v), 0)
		case 5:
			buf = p(buf, TSC, 1000+v*500)
		case 6:
			buf = append(p(buf, TSC, 1000), 0x02, 0x73, 1, 0, 0, 3, 0)
			buf = p(p(p(buf, MTC, 4+v), MTC, 4+v), MTC, 9)
		case 7, 8:
			buf = append(buf, []byte{0x7d, 0x5d, 0x3d, 0x1d}[r.IntN(4)])
			for n := ipSize[buf[len(buf)-1]>>5]; n > 0; n-- {
				buf = append(buf, byte(r.IntN(256)))
			}
		case 9:
			buf = append(buf, 0x02, 0x73, 1, byte(v), byte(r.IntN(16)/15), 3, 0)
		default:
			buf = append(buf, make([]byte, r.IntN(4))...)
		}
	}
	if r.IntN(20) > 0 {
		buf = append(buf, 0x02, []byte{0x23, 0x23, 0x23, 0x23, 0xf3}[r.IntN(5)])
	}
	buf = append(buf, make([]byte, r.IntN(12))...)
	switch r.IntN(4) {
	case 0:
		buf = append(buf, 0x71, 1, 2, 3, 4, 5, 6)
	case 1:
		buf = append(buf, 0x6d, 1, 2, 3, 4, 5, 6)
	case 2:
		buf = append(buf, 0x06, 0x1c)
	}
	return append(buf, make([]byte, 1+r.IntN(2)*64)...)
}

// TestPSBAgain would catch a PSB+ that is taken for one which was read before, though it says
// something else or leaves the clock elsewhere. readPSB is the slow twin. It also catches that
// none is known again.
func TestPSBAgain(t *testing.T) {
	models := []Model{{}, {6, 94, 0}, {6, 85, 4}}
	for seed := range uint64(testsize.Of(t, 30, 300)) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := Config{Model: models[r.IntN(len(models))], CTCNum: 2, CTCDen: 1, MTCFreq: 3, NearTSC: uint64(r.IntN(2)) << 50}
		er := c.errata()
		again := psbAgain{fresh: newClock(c)}
		hits := 0
		var bases [][]byte
		for i := range 3000 {
			if i%100 == 0 {
				bases = [][]byte{anyPSB(r), anyPSB(r), anyPSB(r)}
			}
			buf := slices.Clone(bases[r.IntN(3)])
			if r.IntN(2) == 0 {
				buf[16+r.IntN(len(buf)-16)] ^= byte(1 << r.IntN(8))
			}
			var twin, l Lexer
			twin.Reset(buf, int64(1000*i))
			l = twin
			own, k := newClock(c), newClock(c)
			if r.IntN(2) == 0 {
				own.until, k.until = 4000, 4000
			}
			want := readPSB(&twin, &own, &er)
			if again.find(buf) != nil {
				hits++
			}
			var got psbPlus
			if r.IntN(3) == 0 && k.until == unknown {
				again.read(&got, &l, nil, &er)
			} else if again.read(&got, &l, &k, &er); k != own {
				t.Fatalf("seed %d, PSB+ % x: the clock is %+v, want %+v", seed, buf, k, own)
			}
			if got != want || l.pos != twin.pos || l.item != twin.item || l.fast != twin.fast {
				t.Fatalf("seed %d, PSB+ % x: got %+v up to %d, want %+v up to %d", seed, buf, got, l.pos, want, twin.pos)
			}
		}
		if hits < 100 {
			t.Errorf("seed %d: %d PSB+ were known again, need 100", seed, hits)
		}
	}
}
