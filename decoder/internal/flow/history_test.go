package flow

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// claim is an instruction as delivered. How ranges are cut does not matter to it.
type claim struct {
	IP      uint64
	Verdict Verdict
	Stamp   Stamp
}

// claims is a Sink that keeps all that is delivered, instruction by instruction.
type claims struct {
	list  []claim
	notes []Note
}

func (k *claims) Flow(b *Batch) error {
	note := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; note < len(b.Notes) && b.Notes[note].At <= i; note++ {
			n := b.Notes[note]
			n.At, n.Others = len(k.list), slices.Clone(n.Others)
			k.notes = append(k.notes, n)
		}
		if i < len(b.Ranges) {
			r := &b.Ranges[i]
			for _, ip := range r.Block.appendIPs(nil, int(r.N)) {
				k.list = append(k.list, claim{ip, r.Verdict, b.Stamps[r.Stamp]})
			}
		}
	}
	return nil
}

// differs says where k is not want.
func (k *claims) differs(want *claims) string {
	if !slices.Equal(k.list, want.list) {
		at := 0
		for at < min(len(k.list), len(want.list)) && k.list[at] == want.list[at] {
			at++
		}
		from := func(l []claim) []claim { return l[max(0, at-3):min(len(l), at+20)] }
		return "other instructions: -want +got\n" + cmp.Diff(from(want.list), from(k.list))
	}
	return cmp.Diff(want.notes, k.notes, cmp.AllowUnexported(Note{}))
}

// spoil changes some of evs, as damage to a trace does.
func spoil(r *rand.Rand, evs []event.Event, any func() uint64) []event.Event {
	out := make([]event.Event, 0, len(evs))
	for i, e := range evs {
		switch p := r.IntN(400); {
		case p > 5 || i == len(evs)-1: // a segment ends with an End
			out = append(out, e)
		case p == 0: // lost
		case p == 1:
			out = append(out, e, e)
		case p == 2:
			e.IP = any()
			out = append(out, e)
		case p == 3:
			e.Value = r.Uint64()
			out = append(out, e)
		case p == 4:
			out = append(out, e, event.Event{Kind: event.Target, Flags: event.FlagIP, IP: any(), Off: e.Off, End: e.End, Time: e.Time})
		default:
			for range 1 + r.IntN(40) {
				out = append(out, event.Event{Kind: event.Payload, Off: e.Off, End: e.End, Time: e.Time})
			}
			out = append(out, e)
		}
	}
	return out
}

// walked is what w tells of evs.
func walked(t *testing.T, w *Walker, evs []event.Event) (got claims) {
	t.Helper()
	src := events(slices.Clone(evs))
	if err := w.Run(&src, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestHistory would catch a walk that delivers something else because of what its walker did
// before. That is what it holds of events that were used, which paths it knows, or where its
// batches end. Then two runs with other numbers of workers differ. The code of random programs, and
// their traces, are damaged. The walk by single steps is the slow twin of one that knows nothing
// yet, and of one that has been there. Every third program is traced by the rules of ETMv4.
func TestHistory(t *testing.T) {
	seeds := []int{2899, 3403} // where walks differed once
	for seed := range testsize.Of(t, 70, 450, 40000) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		m := newMachine(uint64(seed), 8+seed%120)
		cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64}
		if seed%3 == 2 {
			cfg.Rules, m.armed, m.depth = armRules, true, 1+m.r.IntN(15)
		} else if seed%4 == 3 {
			m.filter()
			cfg.Traced = func(_ uint32, ip uint64) bool { return m.in(ip) }
		}
		m.run(400 + seed%4000)
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		evs := spoil(r, m.evs, m.any)
		if seed%2 == 1 {
			m.text.bytes = slices.Clone(m.text.bytes)
			for range 1 + r.IntN(4) {
				m.text.bytes[r.IntN(len(m.text.bytes))] = []byte{0x90, 0xc3, 0xcc, 0xeb, 0x74, 0xfe}[r.IntN(6)]
			}
		}
		slow := NewWalker(&m.text, NewCache(), cfg)
		slow.careful = true
		want := walked(t, slow, evs)
		w := NewWalker(&m.text, NewCache(), cfg)
		for k, pass := range append([]string{"as if new"}, thrice...) {
			if k > 0 {
				w.paths.misses = pathAfter
			}
			got := walked(t, w, evs)
			if d := got.differs(&want); d != "" {
				t.Fatalf("seed %d, %s: %.3000s", seed, pass, d)
			}
		}
	}
}

// TestHistoryCuts would catch a walk that follows other cuts, or more of them, because of the windows that its
// walker opened in the segment before. The clock is coarse, and the bounds of windows are small.
func TestHistoryCuts(t *testing.T) {
	trace := 0
	for seed := range testsize.Of(t, 80, 800, 25000) {
		m := newMachine(uint64(seed), 8+seed%120)
		m.run(400 + seed%2000)
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64}
		switch r.IntN(3) {
		case 0:
			cfg.MaxThreads = 1 + r.IntN(6)
		case 1:
			cfg.MaxEvents, cfg.MaxWork = 1+r.IntN(64), 1+r.IntN(5000)
		}
		evs := m.evs
		if seed%3 > 0 {
			evs = spoil(r, m.evs, m.any)
		}
		wide := uint64(r.IntN(400))
		for i := range evs {
			evs[i].Time = event.Time{Lo: max(evs[i].Time.Lo, wide+1) - wide, Hi: evs[i].Time.Hi + wide}
		}
		slow := NewWalker(&m.text, NewCache(), cfg)
		slow.careful = true
		want := walked(t, slow, evs)
		for _, c := range want.list {
			if c.Verdict == Trace {
				trace++
			}
		}
		w := NewWalker(&m.text, NewCache(), cfg)
		for _, pass := range append([]string{"as if new"}, thrice...) {
			got := walked(t, w, evs)
			if d := got.differs(&want); d != "" {
				t.Fatalf("seed %d, %s: %.3000s", seed, pass, d)
			}
		}
	}
	if trace < testsize.Of(t, 400, 1000) {
		t.Errorf("cuts settled %d instructions only", trace)
	}
}

// TestHistoryRecordings would catch the same where bytes of trace are known again. Real programs'
// traces are damaged.
func TestHistoryRecordings(t *testing.T) {
	for _, name := range []string{"unzip", "foo", "icelake_tip", "avscript_32", "dyn_test"} {
		p := openProgram(t, name)
		whole := p.trace
		cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64}
		cache := NewCache()
		fast, cold, slow := NewWalker(p.text, cache, cfg), NewWalker(p.text, cache, cfg), NewWalker(p.text, cache, cfg)
		slow.careful = true
		for seed := range testsize.Of(t, 1, 10, 60) {
			p.trace = slices.Clone(whole)
			r := rand.New(rand.NewPCG(uint64(seed), 9))
			for range len(whole)/2000 + 1 {
				p.trace[r.IntN(len(whole))] = byte(r.Uint32())
			}
			for _, s := range p.segments() {
				walk := func(w *Walker, src Source) (got claims) {
					if err := w.Run(src, &got); err != nil {
						t.Fatal(err)
					}
					return got
				}
				want := walk(slow, filler{pt.NewDecoder(p.Config, s)})
				cold.paths = new(Paths)
				for _, c := range []struct {
					what string
					w    *Walker
					src  Source
				}{
					{"as if new", cold, pt.NewDecoder(p.Config, s)},
					{"by events", fast, filler{pt.NewDecoder(p.Config, s)}},
					{"by bytes", fast, pt.NewDecoder(p.Config, s)},
					{"by bytes again", fast, pt.NewDecoder(p.Config, s)},
				} {
					got := walk(c.w, c.src)
					if d := got.differs(&want); d != "" {
						t.Fatalf("%s +%#x, seed %d, %s: %.3000s", name, s.Off, seed, c.what, d)
					}
				}
			}
		}
	}
}

// TestHistoryNotes would catch what led the flow on last forgotten where a batch ends: batches
// end where many events lie between, too. Then an interrupt would confirm nothing.
func TestHistoryNotes(t *testing.T) {
	for _, n := range []int{0, 100, batchRanges, 2*batchRanges + 10, 4*batchRanges + 10} {
		evs := append([]event.Event{syncAt(0x1000), bits("n")}, slices.Repeat([]event.Event{{Kind: event.Payload}}, n)...)
		evs = append(evs, async(0x1003, 0x1030), bits("n"), impossible(0x1072-3))
		if got, want := walk(t, confirmText(), evs...), "0 2 30? gap:mismatch"; !strings.HasPrefix(got, want) {
			t.Errorf("%d events between: %s, want %s", n, got, want)
		}
	}
}

// TestHistoryLoop would catch code that goes round without end and is followed further by who
// knows the way there: by a path, or fast. How often it went round nobody knows, but the number
// printed must be the same.
func TestHistoryLoop(t *testing.T) {
	text := &testText{addr: 0x1000, bytes: []byte("\x74\x02\xff\xe0" + // je 4; jmp *%rax
		"\xeb\x00\xeb\xfc" + // 4: jmp 6; 6: jmp 4
		"\x74\x02\xff\xe0" + "\x90\xeb\xfd")} // 8: je c; jmp *%rax; c: nop; d: jmp c
	var evs events
	for range 5 {
		for _, at := range []uint64{0x1000, 0x1008} {
			evs = append(evs, syncAt(at), bits("t"), to(0x1000), bits("n"), to(at), bits("t"), event.Event{Kind: event.Payload}, to(at))
		}
	}
	evs = append(evs, end())
	run := func(w *Walker) (got claims) {
		src := slices.Clone(evs)
		if err := w.Run(&src, &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	slow, w := testWalker(text), testWalker(text)
	slow.careful = true
	want := run(slow)
	for k, pass := range append([]string{"as if new"}, thrice...) {
		if k > 0 {
			w.paths.misses = pathAfter
		}
		got := run(w)
		if d := got.differs(&want); d != "" {
			t.Fatalf("%s: %.3000s", pass, d)
		}
	}
}

// stopper is a Sink that ends the walk.
type stopper struct{}

func (stopper) Flow(*Batch) error { return io.EOF }

// TestHistoryIdle would catch a fast walk that goes round without end where it takes over from the
// careful one, late in silent code. That happens where a window is given up there.
func TestHistoryIdle(t *testing.T) {
	for _, code := range []string{"\xeb\xfe", "\x90\xeb\xfd"} { // jmp 0; nop, jmp 0
		w := testWalker(&testText{addr: 0x1000, bytes: []byte(code)})
		src := events{bits("t"), end()}
		w.exec.events.start(&src, false)
		w.exec.out.start(stopper{})
		w.t.reset(isa.Mode64)
		w.t.on, w.t.ip, w.t.idle = true, 0x1000, loopBlocks+4
		if w.fast(); w.exec.out.wait.err != nil || len(w.exec.out.batch.Ranges) > 1 {
			t.Errorf("%x: %d ranges, %v: what goes round is left to the careful walk", code, len(w.exec.out.batch.Ranges), w.exec.out.wait.err)
		}
	}
}
