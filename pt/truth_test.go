package pt

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// tracer is a small trace unit that knows when everything truly happened. It
// gathers outcomes, holds targets back, and sends timing packets on time, by the
// rules that Decoder's comment names. Times are TSC ticks.
type tracer struct {
	*rand.Rand
	c      Config
	buf    []byte
	now    uint64
	phase  uint64 // of the crystal clock, ticks
	mtc    uint64 // crystal edge of the next MTC
	cyc    bool   // send CYCs
	minCYC uint64 // not more often than this, core cycles
	cbr    uint64
	drops  bool    // lose packets about time right before a PSB: erratum SKL168
	skew   float64 // how much longer a core cycle is than CBR says
	cycles float64 // core cycles since the last CYC
	at     uint64  // as of this tick

	held  []uint64 // when the outcomes not yet sent happened
	bits  uint64
	late  []uint64 // when the targets not yet sent happened
	holds bool     // whether targets are held back

	outcomes, targets, asyncs []uint64 // the truth, in stream order
}

const p1 = 24

func (g *tracer) put(p Packet) { g.buf = p.Append(g.buf) }

// edge is when crystal tick k happens, rounded up to a whole TSC tick.
func (g *tracer) edge(k uint64) uint64 {
	n, d := uint64(g.c.CTCNum), uint64(g.c.CTCDen)
	return g.phase + (k*n+d-1)/d
}

// crystal is the crystal clock at tick t, and the TSC ticks since its edge.
func (g *tracer) crystal(t uint64) (ctc, fc uint64) {
	n, d := uint64(g.c.CTCNum), uint64(g.c.CTCDen)
	ctc = (t - g.phase) * d / n
	return ctc, t - g.phase - ctc*n/d
}

// count runs the cycle counter up to tick t.
func (g *tracer) count(t uint64) {
	if t > g.at {
		g.cycles += float64(t-g.at) * float64(g.cbr) / p1 / g.skew
		g.at = t
	}
}

// stamp sends the CYC of a packet that tells of tick t, if one is due.
func (g *tracer) stamp(t uint64) {
	if !g.cyc {
		return
	}
	g.count(t)
	if n := uint64(g.cycles); n >= g.minCYC {
		g.put(Packet{Kind: CYC, Value: n})
		g.cycles -= float64(n)
	}
}

// pass lets time go by to tick t, with the MTCs due until then.
func (g *tracer) pass(t uint64) {
	for step := uint64(1) << g.c.MTCFreq; g.c.MTC && g.edge(g.mtc) <= t; g.mtc += step {
		if g.cyc { // a CYC must not overtake outcomes: Intel SDM, "Cycle Packet Semantics"
			g.flush()
		}
		g.stamp(g.edge(g.mtc))
		g.put(Packet{Kind: MTC, Value: g.mtc >> g.c.MTCFreq & 0xff})
	}
	g.now = t
}

// flush sends what is gathered and held.
func (g *tracer) flush() {
	if n := len(g.held); n > 0 {
		g.stamp(g.held[0])
		g.put(Packet{Kind: TNTShort, N: uint8(n), Value: g.bits})
		g.outcomes = append(g.outcomes, g.held...)
		g.held, g.bits = g.held[:0], 0
	}
	for range g.late {
		g.put(tip(0x2000))
	}
	g.targets = append(g.targets, g.late...)
	g.late = g.late[:0]
}

func (g *tracer) branch() {
	g.held = append(g.held, g.now)
	g.bits = g.bits<<1 | g.Uint64N(2)
	if len(g.held) == 6 || g.IntN(20) == 0 {
		g.flush()
	}
}

func (g *tracer) jump() {
	if g.holds && !g.cyc && len(g.held) > 0 {
		g.late = append(g.late, g.now)
		return
	}
	g.flush()
	g.stamp(g.now)
	g.put(tip(0x2000))
	g.targets = append(g.targets, g.now)
}

func (g *tracer) interrupt() {
	g.flush()
	g.stamp(g.now)
	g.put(fup(0x1000))
	g.put(tip(0x9000))
	g.asyncs = append(g.asyncs, g.now)
}

// state sends TSC and TMA.
func (g *tracer) state() {
	g.put(val(TSC, g.now&(1<<56-1)))
	if ctc, fc := g.crystal(g.now); g.c.MTC {
		g.put(Packet{Kind: TMA, Value: ctc & 0xffff, Arg: uint16(fc)})
	}
}

func (g *tracer) psb() {
	g.flush()
	if g.drops && len(g.buf) > 0 && g.IntN(2) == 0 {
		if g.c.MTC && g.IntN(2) == 0 {
			g.now = g.edge(g.mtc)
			g.mtc += 1 << g.c.MTCFreq
		}
		g.count(g.now)
		g.cycles = 0
	}
	g.put(none(PSB))
	g.state()
	g.put(val(CBR, g.cbr))
	g.put(fup(0x1000))
	g.put(none(PSBEND))
}

func (g *tracer) speed() {
	if g.cyc {
		g.flush()
	}
	g.count(g.now)
	g.cbr = 8 + g.Uint64N(32)
	g.put(val(CBR, g.cbr))
}

// overflow loses what is held, and the packets of a while: up to more MTCs
// than their 8 bits can count.
func (g *tracer) overflow() {
	g.held, g.late, g.bits = g.held[:0], g.late[:0], 0
	ctc, _ := g.crystal(g.now)
	ctc += g.Uint64N(600 << g.c.MTCFreq)
	g.now = max(g.now, g.edge(ctc))
	g.mtc = (ctc>>g.c.MTCFreq + 1) << g.c.MTCFreq
	g.at, g.cycles = g.now, float64(g.Uint64N(1000))
	g.put(none(OVF))
	g.put(fup(0x1000))
}

// sleep stops the cycle counter and MTCs; TSC and TMA come on wake.
func (g *tracer) sleep() {
	g.flush()
	g.count(g.now)
	g.now += 1000000
	g.at = g.now
	ctc, _ := g.crystal(g.now)
	g.mtc = (ctc>>g.c.MTCFreq + 1) << g.c.MTCFreq
	g.state()
}

// trace makes a stream of about n branches.
func trace(seed uint64, n int) *tracer {
	g := &tracer{Rand: rand.New(rand.NewPCG(seed, 1))}
	g.c = Config{
		MTC: g.IntN(4) != 0, MTCFreq: uint8(g.IntN(12)), MaxNonTurboRatio: p1,
		CTCNum: uint32(2 + g.IntN(300)), CTCDen: uint32(1 + g.IntN(3)), NearTSC: 1 << 57,
		TimeConv: event.TimeConv{Valid: g.IntN(3) != 0, Shift: 31, Mult: 1<<31 + 2147*uint32(g.IntN(2)), Zero: 0 - uint64(1)<<g.IntN(58)},
	}
	g.cyc, g.holds = g.IntN(2) == 0, g.IntN(2) == 0
	g.minCYC, g.drops = uint64(g.IntN(2)*16), g.IntN(2) == 0
	g.cbr, g.skew = 8+g.Uint64N(32), 0.97+0.06*g.Float64()
	g.now = 1<<57 + g.Uint64N(1<<30)
	g.phase, g.at = g.now-g.Uint64N(1<<28)-1000, g.now
	ctc, _ := g.crystal(g.now)
	g.mtc = (ctc>>g.c.MTCFreq + 1) << g.c.MTCFreq
	rare := func(f func()) {
		if g.IntN(20) == 0 {
			f()
		}
	}
	g.psb()
	for range n {
		g.pass(g.now + 1 + g.Uint64N(1+1<<g.IntN(12)))
		switch g.IntN(100) {
		case 0:
			g.psb()
		case 1:
			rare(g.overflow)
		case 2:
			rare(g.sleep)
		case 3:
			g.speed()
		case 4:
			g.interrupt()
		case 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15:
			g.jump()
		default:
			g.branch()
		}
	}
	g.psb()
	return g
}

// TestTimesAreSound checks that every event's Time holds the moment, or all the
// moments, at which what it states truly happened, whatever the trace unit
// held back. It would catch a bound taken from a timing packet that outcomes
// or targets overtook, MTC arithmetic, and rounding. It would also catch time
// counted on over packets that erratum SKL168 drops in front of a PSB.
func TestTimesAreSound(t *testing.T) {
	seeds := uint64(testsize.Of(t, 60, 300))
	narrow, all := 0, 0
	for seed := range seeds {
		g := trace(seed, 2000)
		for _, ahead := range []bool{false, true} {
			c := g.c
			c.Ahead = ahead
			w, n, err := g.check(c)
			if err != nil {
				t.Fatalf("seed %d, %+v, cyc %v from %d, holds %v: %v", seed, c, g.cyc, g.minCYC, g.holds, err)
			}
			if ahead && g.c.MTC {
				narrow, all = narrow+w, all+n
			}
		}
	}
	// Bounds that are always wide would be sound too.
	if narrow*10 < all*9 {
		t.Errorf("only %d of %d events are known to within four MTCs", narrow, all)
	}
	t.Logf("%d of %d events are known to within four MTCs", narrow, all)
}

// check decodes g's stream and holds it against the truth. It counts events
// and those whose Time is no wider than four MTC periods and one gap between
// branches.
func (g *tracer) check(c Config) (narrow, all int, err error) {
	segs, _ := Segments(g.buf, 0, c)
	d := NewDecoder(c, segs[0])
	outcomes, targets, asyncs := g.outcomes, g.targets, g.asyncs
	wide := uint64(c.CTCNum)<<c.MTCFreq/uint64(c.CTCDen)*4 + 1<<13
	take := func(list *[]uint64, e *event.Event) error {
		if len(*list) == 0 {
			return fmt.Errorf("more events than happened: %+v", *e)
		}
		tick := (*list)[0]
		*list = (*list)[1:]
		if ns := c.TimeConv.NS(tick); ns < e.Time.Lo || ns > e.Time.Hi {
			return fmt.Errorf("at tick %d, ns %d, not in [%d, %d] (%d before, %d after): %+v",
				tick, ns, e.Time.Lo, e.Time.Hi, int64(e.Time.Lo-ns), int64(ns-e.Time.Hi), *e)
		}
		all++
		if e.Time.Hi-e.Time.Lo <= wide {
			narrow++
		}
		return nil
	}
	for _, s := range segs {
		var e event.Event
		for d.Reset(s); err == nil && d.Next(&e); {
			switch e.Kind {
			case event.Outcomes:
				for range e.N {
					if err == nil {
						err = take(&outcomes, &e)
					}
				}
			case event.Target:
				err = take(&targets, &e)
			case event.Async:
				err = take(&asyncs, &e)
			case event.Trouble:
				err = fmt.Errorf("trouble: %+v", e)
			}
		}
	}
	if err == nil && len(outcomes)+len(targets)+len(asyncs) != 0 {
		err = fmt.Errorf("%d outcomes, %d targets, %d asyncs were not told", len(outcomes), len(targets), len(asyncs))
	}
	return narrow, all, err
}
