package flow

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestArmNonsense would catch a panic, or a walk without end, over events that
// no trace unit gives and code that nobody wrote. The walk goes by ETMv4's
// rules. The code is poked live and against the rules.
func TestArmNonsense(t *testing.T) {
	runs := testsize.Of(t, 300, 3000)
	kinds := []uint32{nopA64, isbA64, retA64, eretA64, svcA64, brA64, blrA64, 0xd4200080, 0, 0xd503205f}
	ranges := 0
	for seed := range runs {
		r := rand.New(rand.NewPCG(uint64(seed), 64))
		word := func() uint32 {
			near := uint32(r.IntN(32)-16) & 0x7ffff
			switch r.IntN(8) {
			case 0:
				return 0x14000000 | uint32(r.IntN(32)-16)&0x3ffffff
			case 1:
				return 0x94000000 | uint32(r.IntN(32)-16)&0x3ffffff
			case 2, 3:
				return 0x54000001 | near<<5
			case 4:
				return r.Uint32()
			}
			return kinds[r.IntN(len(kinds))]
		}
		x := &liveText{testText: testText{addr: 0x1000}, begin: 50, end: 300, unsafe: r.IntN(3) == 0}
		for range 64 {
			x.bytes = binary.LittleEndian.AppendUint32(x.bytes, word())
		}
		for range r.IntN(6) {
			a := uint64(r.IntN(64)) * 4
			x.pokes = append(x.pokes, testPoke{addr: 0x1000 + a, old: string(x.bytes[a : a+4]), new: words(word()), time: 60 + uint64(r.IntN(200))})
		}
		rules := liveRules
		if r.IntN(4) == 0 {
			rules.Returns = isa.ReturnsByTarget
		}
		if r.IntN(4) == 0 {
			rules.SilentBranches, rules.PopsFirst = true, true
		}
		src, evs := events{syncA64(0x1000)}, 1+r.IntN(200)
		ip := func() uint64 { return 0x1000 + uint64(r.IntN(68))*4 - uint64(r.IntN(40)/39) }
		for i := range evs {
			e := event.Event{Kind: event.Kind(1 + r.IntN(15)), Value: uint64(r.IntN(100)), Flags: event.FlagIP, IP: ip(), From: ip(), Off: int64(i), End: int64(i) + 1}
			if r.IntN(2) == 0 {
				e.Kind, e.N, e.Value = event.Outcomes, uint8(1+r.IntN(64)), r.Uint64()|r.Uint64()|r.Uint64()
			}
			if r.IntN(8) == 0 {
				e.Flags = event.Flags(r.IntN(1<<12)) &^ event.FlagMode
			}
			lo := uint64(r.IntN(400))
			e.Time = event.Time{Lo: lo, Hi: lo + uint64(r.IntN(300))}
			src = append(src, e)
		}
		w := NewWalker(x, NewCache(), Config{ISA: a64.Decoder{}, Rules: rules, Mode: isa.ModeA64, MaxThreads: 1 + r.IntN(20), MaxEvents: 1 + r.IntN(64)})
		var got addrs
		if err := w.Run(&src, &got); err != nil {
			t.Fatal(err)
		}
		// Every branch spends an outcome, so that between two there is no more than
		// the 64 instructions that there are.
		if most := (evs + 1) * 65 * 64; len(got.ips) > most {
			t.Fatalf("seed %d: %d instructions of %d events", seed, len(got.ips), evs)
		}
		ranges += len(got.ips)
	}
	if ranges < runs*20 {
		t.Errorf("%d instructions in %d runs: nothing was walked", ranges, runs)
	}
}
