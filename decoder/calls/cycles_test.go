package calls_test

import (
	"testing"
	"testing/fstest"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/pt"
)

// TestCallCycles would catch cycles that are outside of what the clock's bounds allow, or of an
// interrupt inside of a call. It would catch any where the trace counts none. A simulated
// machine says when each call began and ended. Its core counts at one rate.
func TestCallCycles(t *testing.T) {
	first, n := seedsAsked(t, 50, 100)
	var judged, exact, without, broken int
	for seed := first; seed < first+5*n && !t.Failed(); seed++ {
		g := sim.Draw(seed)
		g.Timing = sim.CYC
		if seed%8 == 0 {
			g.Timing = sim.MTC
		}
		r := sim.Simulate(g)
		s := simSession(t, r)
		all, d := watch(t, s)
		for cpu := range r.CPUs {
			want, got := withoutTrampolines(r, r.Calls(cpu)), all[cpu]
			for i := range got {
				c := &got[i]
				if _, _, timed := c.Took(); c.Counted != (g.Timing == sim.CYC && timed && !c.Gap) {
					t.Fatalf("seed %d, CPU %d (%v): call %d of %s is counted %v, gap %v, timed %v", seed, cpu, g.Timing, i, c.Sym, c.Counted, c.Gap, timed)
				}
				if !c.Counted {
					without++
				}
			}
			if g.Timing != sim.CYC || !d.sure[cpu] || len(got) != len(want) {
				continue
			}
			b, rate := boundsOf(got, want), rateOf(r.CPUs[cpu].PT)
			for i := range got {
				if !got[i].Counted || want[i].End == 0 {
					continue
				}
				lo, hi, x := b[i].lo*rate/sim.NomFreq-b[i].parts, b[i].hi*rate/sim.NomFreq+b[i].parts, int64(got[i].Cycles)
				if judged++; hi-lo < 40 {
					exact++
				}
				if b[i].parts > 2 {
					broken++
				}
				if x < lo || x > hi {
					t.Errorf("seed %d, CPU %d: call %d of %s has %d cycles, need %d to %d (%+v)", seed, cpu, i, got[i].Sym, x, lo, hi, b[i])
				}
			}
		}
	}
	t.Logf("%d calls judged, %d to less than 40 cycles, %d of them interrupted; %d without a count", judged, exact, broken, without)
}

// elapsed is the bounds of ticks that passed in a call, without interrupts: by the machine's own
// times, give or take what the clock does not tell.
type elapsed struct {
	lo, hi int64
	parts  int64 // times that these are the sum of: each count of cycles is rounded
}

// boundsOf returns for each call how many ticks its core may have counted in it.
func boundsOf(got []seen, want []sim.Call) []elapsed {
	all, left, async := make([]elapsed, len(got)), make([]elapsed, len(got)), make([]bool, len(got))
	newest := map[int]int{} // by caller: the call in it that began last
	for i := range got {
		up := want[i].Caller
		before, ok := newest[up]
		async[i] = got[i].How == calls.Interrupted || got[i].How == calls.Jumped && ok && async[before]
		newest[up] = i
	}
	for i := len(got) - 1; i >= 0; i-- { // callees first
		slack := func(t event.Time) int64 { return int64(t.Hi - t.Lo) }
		n, off := int64(want[i].End-want[i].Begin), slack(got[i].Begin)+slack(got[i].End)
		x := &all[i]
		*x = elapsed{max(0, n-off-left[i].hi), n + off - left[i].lo, 2 + left[i].parts}
		up := want[i].Caller
		if up < 0 {
			continue
		}
		out := left[i]
		if async[i] {
			out = elapsed{out.lo + x.lo, out.hi + x.hi, out.parts + x.parts}
		}
		left[up] = elapsed{left[up].lo + out.lo, left[up].hi + out.hi, left[up].parts + out.parts}
	}
	return all
}

// rateOf returns the core's clock as the trace states it, by the nominal one: CBR.
func rateOf(trace []byte) int64 {
	l := pt.NewLexer(trace, 0)
	for p := (pt.Packet{}); l.Next(&p); {
		if p.Kind == pt.CBR {
			return int64(p.Value)
		}
	}
	return 0
}

// places notes from where to where in a stream each call ran, with callees.
type places struct {
	*calls.Tree
	batch *decoder.Batch
	of    map[*calls.Call]*placed
}

// placed is where a call ran: the first and the last place of what it has, bytes, and whether
// something interrupted it.
type placed struct {
	first, last int64
	broken      bool
}

// Flow gives flow to the tree.
func (p *places) Flow(b *decoder.Batch) error {
	p.batch = b
	return p.Tree.Flow(b)
}

// cyclesAt returns the cycles up to each place in a trace, of CYC packets sent while tracing was on.
func cyclesAt(trace []byte) map[int64]uint64 {
	sum, n, on, since := map[int64]uint64{}, uint64(0), true, uint64(0)
	l := pt.NewLexer(trace, 0)
	for p := (pt.Packet{}); l.Next(&p); {
		switch p.Kind {
		case pt.CYC:
			since += p.Value
		case pt.PGE:
			on, since = true, 0
		case pt.PGD:
			n, on, since = n+since, false, 0
		}
		if on {
			n, since = n+since, 0
		}
		sum[p.Off] = n
	}
	return sum
}

// TestCyclesTold would catch a packet that counts twice, not at all, or for a call before or
// behind it, and counts that the reading in pieces loses. It compares with sums over all
// packets of the trace.
func TestCyclesTold(t *testing.T) {
	first, n := seedsAsked(t, 50, 100)
	compared, empty, longest := 0, 0, 0
	for seed := first; seed <= first+max(1, n/20) && !t.Failed(); seed++ {
		g := sim.Draw(seed)
		g.Timing, g.Insns = sim.CYC, 200_000
		r := sim.Simulate(g)
		s := simSession(t, r)
		var sums []map[int64]uint64
		for cpu := range r.CPUs {
			sums = append(sums, cyclesAt(r.CPUs[cpu].PT))
			longest = max(longest, len(r.CPUs[cpu].PT))
		}
		p := &places{Tree: &calls.Tree{Session: s}, of: map[*calls.Call]*placed{}}
		p.OnBegin = func(c *calls.Call) {
			p.of[c] = &placed{first: -1}
			for up := c.Caller; up != nil && c.How == calls.Interrupted; up = up.Caller {
				p.of[up].broken = true
			}
		}
		p.OnRan = func(c *calls.Call, x *decoder.BatchRange) {
			for off := p.batch.Stamps[x.Stamp].Off; c != nil; c = c.Caller {
				if in := p.of[c]; in != nil {
					if in.last = off; in.first < 0 {
						in.first = off
					}
				}
			}
		}
		p.OnEnd = func(c *calls.Call) {
			in, sum := p.of[c], sums[c.Stream.Index]
			if delete(p.of, c); !c.Counted || in.broken || in.first < 0 {
				return
			}
			if compared++; c.Cycles == 0 {
				empty++
			}
			if want := sum[in.last] - sum[in.first]; c.Cycles != want {
				t.Errorf("seed %d: a call of %s from %#x to %#x has %d cycles, want %d", seed, c.Sym, in.first, in.last, c.Cycles, want)
			}
		}
		if err := s.Flow(t.Context(), decoder.Query{Merged: true}, p); err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	t.Logf("%d calls compared, %d of no cycle; a trace has up to %d bytes", compared, empty, longest)
	if compared-empty < 1000 || longest < 128<<10 {
		t.Errorf("%d calls were compared, %d of no cycle: too few to tell", compared, empty)
	}
}

// TestCyclesOff would catch cycles of what was not traced, and a call that stays without a
// count. A function is called, tracing is off in it for 5,000 cycles, and then it returns.
func TestCyclesOff(t *testing.T) {
	const base = 0xffffffff81000000
	var b []byte
	for _, p := range []pt.Packet{
		{Kind: pt.PSB}, {Kind: pt.ModeExec, Value: 1}, {Kind: pt.TSC, Value: 1 << 20}, {Kind: pt.PSBEND},
		{Kind: pt.PGE, Arg: 3, Value: base & (1<<48 - 1)},
		{Kind: pt.CYC, Value: 10}, {Kind: pt.TNTShort, N: 1},
		{Kind: pt.CYC, Value: 5}, {Kind: pt.FUP, Arg: 3, Value: (base + 0x12) & (1<<48 - 1)}, {Kind: pt.PGD},
		{Kind: pt.CYC, Value: 5000}, {Kind: pt.PGE, Arg: 3, Value: (base + 0x12) & (1<<48 - 1)},
		{Kind: pt.CYC, Value: 3}, {Kind: pt.TNTShort, N: 1},
		{Kind: pt.CYC, Value: 2}, {Kind: pt.TIP, Arg: 3, Value: (base + 5) & (1<<48 - 1)},
		{Kind: pt.CYC, Value: 7}, {Kind: pt.TNTShort, N: 1},
	} {
		b = p.Append(b)
	}
	// main: call f; jmp main; f: jne over; over: jne out; out: ret
	code := append([]byte{0xe8, 0x0b, 0, 0, 0, 0xeb, 0xf9}, make([]byte, 9)...)
	code = append(code, 0x75, 0, 0x75, 0, 0xc3)
	s, err := decoder.Open(decoder.Config{
		FS: fstest.MapFS{
			"pt": {Data: b}, "code": {Data: code},
			"kallsyms": {Data: []byte("ffffffff81000000 T main\nffffffff81000010 T f\nffffffff81000015 T end\n")},
		},
		Raw:      []decoder.RawTrace{{Path: "pt", Protocol: decoder.IntelPT}},
		Code:     []decoder.CodeFile{{Path: "code", Addr: base}},
		Kallsyms: "kallsyms",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var found []calls.Call
	tree := &calls.Tree{Session: s, OnEnd: func(c *calls.Call) { found = append(found, *c) }}
	if err := s.Flow(t.Context(), decoder.Query{Merged: true}, tree); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	// The trace tells of it from the first TNT to the second.
	if len(found) == 0 || found[0].Sym != "f" || !found[0].Counted || found[0].Cycles != 8 || found[0].Insns != 3 {
		t.Errorf("the call of f has another count than 8 cycles, 3 instructions: %+v", found)
	}
}
