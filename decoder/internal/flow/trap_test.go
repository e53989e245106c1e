package flow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
)

// markedText is a testText whose poke mark is where records were lost.
type markedText struct {
	*testText
	mark int
}

func (t *markedText) Poke(i int) Poke {
	p := t.testText.Poke(i)
	p.Mark, p.Guarded = i == t.mark, true
	return p
}

func (t *markedText) Floor(i int) event.Epoch { return event.Epoch(i) }

// TestTrappedMark would catch lost records that count as a change whose
// breakpoint is known to be gone: the breakpoint met may be that of a lost one.
func TestTrappedMark(t *testing.T) {
	for _, mark := range []int{-1, 0} {
		x := code(map[int]string{0: "\x90\x90"})
		x.pokes = []testPoke{{addr: 0x1000, old: "\x90", new: "\x91", time: 100}, {addr: 0x1001, old: "\x90", new: "\x91", time: 200}}
		w := testWalker(&markedText{x, mark})
		w.exec.traps.pokes = []int{0}
		if got, want := w.exec.traps.trapped(&thread{mode: isa.Mode64, evidence: evidence{floor: 2, hi: 2}}, 0x1000, 300), mark >= 0; got != want {
			t.Errorf("mark %d: may have been met: %v, want %v", mark, got, want)
		}
	}
}

// TestExecuted would catch a breakpoint taken to be gone because of code that
// its site ran. That code is not the poke's, or may not have run, or ran
// without that part.
func TestExecuted(t *testing.T) {
	block := func(space uint32) *Block {
		return &Block{Addr: 0x1000, End: 0x1006, N: 3, Lens: []uint8{2, 2, 2}, Span: event.Span{From: 5, Until: 9}, Space: space}
	}
	b, user := block(0), block(1)
	for _, c := range []struct {
		what string
		r    Range
		ip   uint64
		at   event.Epoch
		want bool
	}{
		{"its text", Range{Block: b, N: 3}, 0x1002, 4, true},
		{"by the trace", Range{Block: b, N: 3, Verdict: Trace}, 0x1000, 4, true},
		{"one of several", Range{Block: b, N: 3, Verdict: Ambiguous}, 0x1002, 4, false},
		{"one of several that do the same", Range{Block: b, N: 3, Verdict: Trace, flags: either}, 0x1002, 4, false},
		{"broken off before it", Range{Block: b, N: 1}, 0x1002, 4, false},
		{"text of before", Range{Block: b, N: 3}, 0x1002, 5, false},
		{"inside an instruction", Range{Block: b, N: 3}, 0x1003, 4, false},
		{"elsewhere", Range{Block: b, N: 3}, 0x1006, 4, false},
		{"user text", Range{Block: user, N: 3}, 0x1002, 4, false},
	} {
		if got := executed([]Range{c.r}, c.ip, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// begun is a testText whose pokes begin at their time.
type begun struct{ *testText }

func (x begun) Poke(i int) Poke {
	p := x.testText.Poke(i)
	p.From = p.Time
	return p
}

// TestPokesAt would catch a poke of the site that is not looked at although the
// breakpoint may be its. It would also catch pokes of other sites, and more of this
// one than are needed.
func TestPokesAt(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		x := code(nil)
		for i := range rnd.IntN(200) {
			x.pokes = append(x.pokes, testPoke{addr: 0x1000 + 16*uint64(rnd.IntN(1+int(seed%90))), old: "\xcc", new: "\xcc", time: 10 * uint64(i+1)})
		}
		tr := traps{code: &reader{builder: builder{text: begun{x}}}}
		n := event.Epoch(len(x.pokes))
		floor := event.Epoch(rnd.IntN(int(n) + 1))
		hi := floor + event.Epoch(rnd.IntN(int(n-floor)+1))
		latest := uint64(rnd.IntN(10 * int(n+3)))
		th := &thread{evidence: evidence{floor: floor, hi: hi}}
		var want, later []int
		for i, p := range x.pokes {
			switch {
			case p.addr != 0x1000:
			case event.Epoch(i) < floor:
				if want = append(want, i); len(want) > 2 {
					want = want[1:]
				}
			case p.time <= latest:
				want = append(want, i)
			default:
				later = append(later, i)
			}
		}
		want = append(want, later[:min(1, len(later))]...)
		if got := tr.pokesAt(nil, th, 0x1000, latest); !slices.Equal(got, want) {
			t.Fatalf("seed %d: of %d pokes, floor %d, until %d ns: %v, want %v", seed, n, floor, latest, got, want)
		}
	}
}

// TestStepped would catch a hardware breakpoint or a single step that is called a
// breakpoint of a poke, or of nobody, or refutes the flow. It would also catch BRK, and
// what is not known, that are called so. So are all where the trace tells them apart.
func TestStepped(t *testing.T) {
	x := &liveText{testText: codeA64(map[int][]uint32{0: {nopA64, 0xd4200000, isbA64}}), begin: 90, end: 150} // nop; brk; isb
	x.pokes = []testPoke{{addr: 0x1008, old: words(isbA64), new: words(nopA64), time: 100}}
	for _, c := range []struct {
		what string
		ip   uint64
		too  bool
		want TrapKind
		ok   bool
	}{
		{"a NOP", 0x1000, true, TrapDebug, true},
		{"BRK", 0x1004, true, TrapUnknown, true},
		{"behind the code", 0x2000, true, TrapUnknown, true},
		{"a NOP where only breakpoints are told", 0x1000, false, TrapUnknown, true},
		{"what a poke left, and the flow has run", 0x1008, true, TrapDebug, true},
		{"the same where only breakpoints are told", 0x1008, false, TrapUnknown, false},
	} {
		rules := armRules
		rules.DebugsToo = c.too
		w := NewWalker(x, NewCache(), Config{ISA: a64.Decoder{}, Rules: rules, Mode: isa.ModeA64})
		w.exec.out.start(nil)
		src := events{end()}
		w.exec.events.start(&src, false)
		e, n := at(200, 200, async(c.ip, 0x1080)), Note{}
		th := &thread{mode: isa.ModeA64, evidence: evidence{lo: 1, hi: 1, floor: 1, ran: []event.Epoch{0}}}
		if ok := w.exec.traps.met(th, &e, &n); ok != c.ok || n.Trap != c.want {
			t.Errorf("%s: %v, possible: %v; want %v, %v", c.what, n.Trap, ok, c.want, c.ok)
		}
	}
}

// TestGoesOnAsBefore would catch a breakpoint of a change without a record that counts as
// the next change's. Its handler goes on as the code does that the other left. It would also
// catch a breakpoint of the next change that no longer counts.
func TestGoesOnAsBefore(t *testing.T) {
	jmp, nop := "\xe9\x10\x00\x00\x00", "\x0f\x1f\x44\x00\x00" // jmp 0x1015; nop
	for _, c := range []struct {
		what    string
		handler []event.Event
		want    bool
	}{
		{"behind the jump", []event.Event{to(0x1080), to(0x1015)}, false},
		{"behind the NOP", []event.Event{to(0x1080), to(0x1005)}, true},
		{"at the site", []event.Event{to(0x1000), to(0x1015)}, true},
		{"not seen", []event.Event{to(0x1080)}, true},
		{"interrupted where the jump leads, then behind the NOP", []event.Event{async(0x1015, 0x1090), to(0x1015), to(0x1005)}, true},
	} {
		x := code(map[int]string{0: jmp})
		x.pokes = []testPoke{{addr: 0x1000, old: jmp, new: nop, time: 300}}
		w := testWalker(begun{x})
		src := events(append([]event.Event{async(0x1000, 0x1040)}, append(c.handler, end())...))
		w.exec.out.start(nil)
		w.exec.events.start(&src, false)
		e, n := at(300, 300, async(0x1000, 0x1040)), Note{}
		th := &thread{mode: isa.Mode64}
		if ok := w.exec.traps.met(th, &e, &n); !ok || th.knows(0) != c.want {
			t.Errorf("%s: possible: %v, shows that the change began: %v, want %v", c.what, ok, th.knows(0), c.want)
		}
		if got := n.Verdict == Exception; got != c.want {
			t.Errorf("%s: verdict %v", c.what, n.Verdict)
		}
	}
	// A later change may have put the breakpoint there, and what goes on as it does shows both.
	x := code(map[int]string{0: nop})
	x.pokes = []testPoke{{addr: 0x1000, old: nop, new: jmp, time: 300}, {addr: 0x1000, old: jmp, new: nop, time: 300}}
	for _, latest := range []uint64{299, 300} {
		w := testWalker(begun{x})
		src := events{async(0x1000, 0x1040), to(0x1005), end()}
		w.exec.events.start(&src, false)
		w.exec.traps.pokes = []int{0, 1}
		if got, want := w.exec.traps.goesOnAsBefore(&thread{mode: isa.Mode64}, 0x1000, 0, latest), latest < 300; got != want {
			t.Errorf("two changes, until %d ns: goes on as before: %v, want %v", latest, got, want)
		}
	}
}
