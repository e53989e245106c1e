package pt

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestMulDiv holds mulDiv against big numbers. It would catch an overflow.
func TestMulDiv(t *testing.T) {
	most := new(big.Int).SetUint64(unknown)
	r := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		v, a, b := r.Uint64()>>r.IntN(64), r.Uint64()>>r.IntN(64), 1+r.Uint64()>>(1+r.IntN(63))
		want := new(big.Int).Mul(new(big.Int).SetUint64(v), new(big.Int).SetUint64(a))
		want.Div(want, new(big.Int).SetUint64(b))
		if want.Cmp(most) > 0 {
			want = most
		}
		if got := mulDiv(v, a, b); got != want.Uint64() {
			t.Fatalf("%d*%d/%d: %d, want %v", v, a, b, got, want)
		}
	}
}

// TestMTCTwin holds MTC arithmetic against rational numbers over long runs
// with lost MTCs. It would catch rounding that piles up, a wrong base, and a
// slack that does not cover what TSC and FC leave open.
func TestMTCTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		c := Config{MTCFreq: uint8(r.IntN(16)), CTCNum: 2 + r.Uint32N(500), CTCDen: 1 + r.Uint32N(5)}
		ratio := big.NewRat(int64(c.CTCNum), int64(c.CTCDen))
		k := newClock(c)
		// The crystal clock is at ctc, and its edge was a fraction before TSC - fc.
		ctc := r.Uint64N(1 << 40)
		edge := new(big.Rat).SetFrac64(int64(1e12+r.Int64N(1e12)), 7)
		fc := r.Uint64N(max(1, uint64(c.CTCNum/c.CTCDen)))
		at := new(big.Rat).Add(edge, new(big.Rat).SetUint64(fc))
		tsc := new(big.Int).Div(at.Num(), at.Denom()).Uint64()
		k.TSC(tsc)
		k.TMA(uint16(ctc), uint16(fc))
		n := ctc >> c.MTCFreq
		for range 200 {
			n += 1
			if c.MTCFreq <= 8 {
				n += r.Uint64N(3) * r.Uint64N(80) // up to 160 are lost
			}
			k.MTC(uint8(n), false)
			want := new(big.Rat).SetUint64(n<<c.MTCFreq - ctc)
			want.Mul(want, ratio).Add(want, edge)
			lo, hi := k.Ticks()
			low, high := new(big.Rat).SetUint64(lo), new(big.Rat).SetUint64(hi)
			if low.Cmp(want) > 0 || high.Cmp(want) < 0 || hi-lo > 2*edgeSlack+1 {
				t.Fatalf("%+v: MTC %d: [%d, %d], is at %s", c, n, lo, hi, want.FloatString(3))
			}
		}
	}
}

// TestClock: one rule a case. It would catch time that goes back or jumps where
// the rule forbids it.
func TestClock(t *testing.T) {
	// 40 ticks a crystal tick, 320 an MTC.
	c := Config{MTCFreq: 3, CTCNum: 80, CTCDen: 2, MaxNonTurboRatio: 20}
	tma := func(ctc, fc uint16) Packet { return Packet{Kind: TMA, Value: uint64(ctc), Arg: fc} }
	start := []Packet{val(TSC, 10000), tma(0x1003, 10)} // MTC edge 0x1000 at 10000-10-3*40
	for _, s := range []struct {
		name    string
		config  Config
		packets []Packet
		lo, hi  uint64
	}{
		{"nothing is known", c, nil, 0, unknown},
		{"tsc", c, []Packet{val(TSC, 7)}, 7, 7},
		{"tsc near", Config{NearTSC: 3<<56 + 5}, []Packet{val(TSC, 1<<56-2)}, 3<<56 - 2, 3<<56 - 2},
		{"tsc wraps", c, []Packet{val(TSC, 1<<56-1), val(TSC, 3)}, 1<<56 + 3, 1<<56 + 3},
		{"tsc set back", c, []Packet{val(TSC, 100), val(TSC, 50)}, 50, 50},
		{"the first mtc", c, append(start, val(MTC, 0x01)), 9870 + 320 - 2, 9870 + 320 + 3},
		{"mtcs were lost", c, append(start, val(MTC, 0x09)), 9870 + 9*320 - 2, 9870 + 9*320 + 3},
		{"mtc wraps", c, append(start, val(MTC, 0xe0), val(MTC, 0x00)), 9870 + 256*320 - 2, 9870 + 256*320 + 3},
		{"an mtc of before the tma", c, append(start, val(MTC, 0xff)), 10000, 10000},
		{"the tma's own mtc", c, append(start, val(MTC, 0x00)), 10000, 10000},
		{"the next after that", c, append(start, val(MTC, 0x00), val(MTC, 0x01)), 9870 + 320 - 2, 9870 + 320 + 3},
		{"a repeated mtc may be a turn later", c, append(start, val(MTC, 1), val(MTC, 1)), 9870 + 320 - 2, unknown},
		{"mtc between tsc and tma", c, append(start, val(TSC, 10100), val(MTC, 0x01)), 10100, 10100},
		{"mtc without tma", c, []Packet{val(TSC, 10000), val(MTC, 1)}, 10000, 10000},
		{"mtc without a ratio", Config{MTCFreq: 3}, append(start, val(MTC, 1)), 10000, 10000},
		{"mtcfreq above 8: the tma lacks upper bits", Config{MTCFreq: 12, CTCNum: 2, CTCDen: 1},
			[]Packet{val(TSC, 10000), tma(0xf001, 0), val(MTC, 0x50)}, 9998 + 0x2000 - 2, 9998 + 0x2000 + 3},
		{"mtc after overflow may be turns later", c, append(start, none(OVF), val(MTC, 1)), 9870 + 320 - 2, unknown},
		{"tsc ends that doubt", c, append(start, none(OVF), val(MTC, 1), val(TSC, 90000), tma(0, 0), val(MTC, 1)), 90318, 90323},
		{"cyc without cbr", c, []Packet{val(TSC, 10000), val(CYC, 100)}, 10000, unknown},
		{"cyc without the tsc's ratio", Config{}, []Packet{val(TSC, 10000), val(CBR, 20), val(CYC, 100)}, 10000, unknown},
		// The first CYC began to count at or before the TSC.
		{"first cyc", c, []Packet{val(TSC, 10000), val(CBR, 10), val(CYC, 160)}, 10000, 10000 + 340 + 1},
		{"second cyc", c, []Packet{val(TSC, 10000), val(CBR, 10), val(CYC, 0), val(CYC, 160)}, 10300, 10000 + 340 + 2},
		{"cyc over a change of speed", c, []Packet{val(TSC, 10000), val(CBR, 10), val(CYC, 0), val(CBR, 40), val(CYC, 160)}, 10075, 10000 + 340 + 2},
		{"cyc after overflow may have wrapped", c, []Packet{val(TSC, 10000), val(CBR, 10), val(CYC, 0), none(OVF), val(CYC, 160)}, 10000, unknown},
		{"an mtc corrects what cycs added", c, append(start, val(CBR, 10), val(CYC, 0), val(CYC, 800), val(MTC, 1)), 9870 + 320 + 3, 9870 + 320 + 3},
	} {
		t.Run(s.name, func(t *testing.T) {
			k := newClock(s.config)
			for i := range s.packets {
				k.read(&s.packets[i], false)
			}
			if lo, hi := k.Ticks(); lo != s.lo || hi != s.hi {
				t.Errorf("[%d, %d], want [%d, %d]", lo, hi, s.lo, s.hi)
			}
		})
	}
}

// TestTurns: whether MTCs may have lost a whole turn (256 MTCs, 81,920 ticks
// here) is told by the TSC that follows. It would catch a moment said to be
// settled that is a turn late, and a doubt where there is no time for a turn.
func TestTurns(t *testing.T) {
	c := Config{MTCFreq: 3, CTCNum: 80, CTCDen: 2}
	tied := []Packet{val(TSC, 10000), {Kind: TMA, Value: 0x1003, Arg: 10}, val(MTC, 1)}
	for _, s := range []struct {
		name  string
		more  []Packet
		until uint64 // what the segment's end states
		want  bool
	}{
		{"nothing lost", nil, unknown, false},
		{"an overflow, and no end", []Packet{none(OVF), val(MTC, 9)}, unknown, true},
		{"time enough before the end", []Packet{none(OVF), val(MTC, 9)}, 12750 + 81920, true},
		{"one tick too little", []Packet{none(OVF), val(MTC, 9)}, 12750 - 2 + 81920 - 1, false},
		{"a late mtc leaves no time", []Packet{none(OVF), val(MTC, 9), val(MTC, 0xf0)}, 100000, false},
		{"time enough before a tsc", []Packet{none(OVF), val(MTC, 9), val(TSC, 100000), tied[1], val(MTC, 1)}, 100400, true},
		{"too little before a tsc", []Packet{none(OVF), val(MTC, 9), val(TSC, 80000), tied[1], val(MTC, 1)}, 500000, false},
	} {
		k := newClock(c)
		k.until = s.until
		var b []byte
		for _, p := range append(tied, s.more...) {
			b = p.Append(b)
		}
		if got := k.turns(*NewLexer(b, 0), &errata{}); got != s.want {
			t.Errorf("%s: %v", s.name, got)
		}
	}
}

// TestClockNS: rounding of the bounds. It would catch a bound that rounding
// moves past the moment.
func TestClockNS(t *testing.T) {
	k := newClock(Config{TimeConv: event.TimeConv{Valid: true, Shift: 1, Mult: 1, Zero: 100}})
	if got := k.NS(); got != event.Always {
		t.Errorf("nothing known: %v", got)
	}
	k.TSC(21)
	if got, want := k.NS(), (event.Time{Lo: 109, Hi: 111}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestBounds: the times of events around timing packets. It would catch a lower
// bound that ignores what the trace unit holds back, and an upper bound from
// the wrong packet.
func TestBounds(t *testing.T) {
	c := Config{MTCFreq: 3, CTCNum: 80, CTCDen: 2, MaxNonTurboRatio: 20, Ahead: true}
	at := func(n uint64) uint64 { return 10000 + n*320 } // the MTC n
	psbTime := []Packet{val(TSC, 10000), val(TMA, 0)}
	for _, s := range []struct {
		name    string
		packets []Packet // after a PSB+ at tick 10000
		want    []event.Time
	}{
		{"outcomes overtaken by an mtc", []Packet{tnt("t"), val(MTC, 1), tnt("t"), val(MTC, 2), val(MTC, 3), tnt("t")},
			[]event.Time{{Lo: 10000, Hi: at(1) + 3}, {Lo: 10000, Hi: at(2) + 3}, {Lo: at(1) - 2, Hi: unknown}}},
		{"targets held back behind outcomes", []Packet{val(MTC, 1), tnt("t"), tip(1), tip(2), val(MTC, 2), tip(3), val(MTC, 3), tip(4)},
			[]event.Time{{Lo: 10000, Hi: at(2) + 3}, {Lo: 10000, Hi: at(2) + 3}, {Lo: 10000, Hi: at(2) + 3},
				{Lo: 10000, Hi: at(3) + 3}, {Lo: at(2) - 2, Hi: unknown}}},
		{"a fup is sent when it happens", []Packet{tnt("t"), val(MTC, 1), fup(1), tip(2), tnt("t")},
			[]event.Time{{Lo: 10000, Hi: at(1) + 3}, {Lo: at(1) - 2, Hi: unknown}, {Lo: at(1) - 2, Hi: unknown}}},
		{"so is an enable", []Packet{val(MTC, 1), pgd(1), val(MTC, 2), pge(1), tnt("t")},
			[]event.Time{{Lo: 10000, Hi: at(2) + 3}, {Lo: at(2) - 2, Hi: unknown}, {Lo: at(2) - 2, Hi: unknown}}},
		{"a cyc tells of the first outcome", []Packet{val(CBR, 20), val(CYC, 1), tip(1), val(CYC, 160), tnt("t"), val(TSC, 20000)},
			[]event.Time{{Lo: 10000, Hi: 10002}, {Lo: 10000, Hi: 10000 + 3 + 170}, {Lo: 10150, Hi: 20000}}},
		{"but not over an mtc that it may have overtaken", []Packet{val(CBR, 20), val(CYC, 1), tip(1), val(MTC, 1), val(CYC, 16), tnt("t"), val(TSC, 20000)},
			[]event.Time{{Lo: 10000, Hi: 10002}, {Lo: 10000, Hi: at(1) + 3}, {Lo: 10000, Hi: 20000}}},
		{"time set back holds both", []Packet{tnt("t"), val(TSC, 5000)}, []event.Time{{Lo: 5000, Hi: 10000}}},
	} {
		t.Run(s.name, func(t *testing.T) {
			var got []event.Time
			for _, e := range decode(t, c, whole(encode(append(psbAt(0x1000, psbTime...), s.packets...)...))) {
				if e.Kind != event.Sync && e.Kind != event.End {
					got = append(got, e.Time)
				}
			}
			if len(got) != len(s.want) {
				t.Fatalf("%v, want %v", got, s.want)
			}
			for i := range got {
				if got[i] != s.want[i] {
					t.Errorf("event %d: %v, want %v", i, got[i], s.want[i])
				}
			}
		})
	}
}

// TestAfter would catch an end of the recording that is taken for a moment
// before it: no tick up to that which it states may come after it.
func TestAfter(t *testing.T) {
	for _, c := range []event.TimeConv{
		{},
		{Shift: 31, Mult: 1 << 31, Zero: 12345, Valid: true},
		{Shift: 10, Mult: 389, Zero: math.MaxUint64 - 1000, Valid: true},
		{Shift: 21, Mult: 2097154, Zero: 7, Valid: true},
	} {
		for _, tick := range []uint64{0, 1, 2, 1000, 123456789, 1 << 40, 1<<50 + 7} {
			ns := c.NS(tick)
			if got := after(&c, ns); got < tick || got > tick+8 {
				t.Errorf("%+v: %d ns is tick %d, given %d", c, ns, tick, got)
			}
		}
		if got := after(&c, unknown); got != unknown {
			t.Errorf("%+v: %d for what is not known", c, got)
		}
	}
	if got := after(&event.TimeConv{Valid: true}, 5); got != unknown {
		t.Errorf("%d without a factor", got)
	}
}
