package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestContradicts would catch a version of an instruction that is ruled out
// although the trace allows it, and one that is not although it does not.
func TestContradicts(t *testing.T) {
	nowhere := event.Event{Kind: event.Target}
	reach := func(ip uint64, f event.Flags) event.Event {
		return event.Event{Kind: event.Reach, Flags: event.FlagIP | f, IP: ip}
	}
	for _, c := range []struct {
		what, rules string
		mode        isa.Mode
		class       isa.Class
		inHand      string
		next        event.Event
		want        bool
	}{
		{"a branch without an outcome", "PT", isa.Mode64, isa.Cond, "", to(0x1000), true},
		{"a branch that leaves what is traced", "PT", isa.Mode64, isa.Cond, "", disable(0x1018), false},
		{"a branch with one", "PT", isa.Mode64, isa.Cond, "n", to(0x1000), false},
		{"one that comes next", "PT", isa.Mode64, isa.Cond, "", bits("n"), false},
		{"a compressed return", "PT", isa.Mode64, isa.Return, "t", to(0x1000), false},
		{"one that was not taken", "PT", isa.Mode64, isa.Return, "n", to(0x1000), true},
		{"a return that is not compressed", "PT", isa.Mode64, isa.Return, "", to(0x1000), false},
		{"an indirect jump whose target is deferred", "PT", isa.Mode64, isa.JumpInd, "tt", to(0x1000), false},
		{"one without a target", "PT", isa.Mode64, isa.JumpInd, "", bits("t"), true},
		{"one whose target has no address", "PT", isa.Mode64, isa.JumpInd, "", nowhere, true},
		{"one that ends tracing", "PT", isa.Mode64, isa.JumpInd, "", disable(0x1018), false},
		{"a branch that leaves it not taken", "PT", isa.Mode64, isa.Cond, "", disable(0x1001), false},
		{"a branch that leaves nothing", "PT", isa.Mode64, isa.Cond, "", disable(0x1002), true},
		{"a branch, where nothing is filtered", "PT", isa.Mode64, isa.Cond, "", disable(0), true},
		{"one that may not end it yet", "PT", isa.Mode64, isa.JumpInd, "t", disable(0x1018), true},
		{"a jump, whatever comes", "PT", isa.Mode64, isa.Jump, "", async(0x1018, 0x1000), false},
		{"a breakpoint that was not told of", "PT", isa.Mode64, isa.Break, "", to(0x1000), true},
		{"a jump that was not taken", "ETMv4", isa.ModeA64, isa.Jump, "n", to(0x1000), true},
		{"the same in an IT block", "ETMv4", isa.ModeT32, isa.Jump, "n", to(0x1000), false},
		{"a jump on the way to an exception", "ETMv4", isa.ModeA64, isa.Jump, "", async(0x1008, 0x1000), true},
		{"the same in an IT block", "ETMv4", isa.ModeT32, isa.Jump, "", async(0x1008, 0x1000), false},
		{"a system call and its exception", "ETMv4", isa.ModeA64, isa.Syscall, "", async(0x1001, 0x1000), false},
		{"and another's", "ETMv4", isa.ModeA64, isa.Syscall, "", async(0x1002, 0x1000), true},
		{"a system call with an outcome in hand", "ETMv4", isa.ModeA64, isa.Syscall, "t", async(0x1001, 0x1000), true},
		{"a jump before the end of a Reach", "PTM", isa.ModeA64, isa.Jump, "", reach(0x1004, 0), true},
		{"no branch before it", "PTM", isa.ModeA64, isa.Other, "", reach(0x1004, 0), false},
		{"a jump at its end", "PTM", isa.ModeA64, isa.Jump, "", reach(0x1000, event.FlagTaken), false},
		{"no branch at its end", "PTM", isa.ModeA64, isa.Other, "", reach(0x1000, event.FlagTaken), true},
		{"a trap that an exception tells of", "ETMv3", isa.ModeA32, isa.Undefined, "t", async(0x1000, 0x1000), false},
		{"and one that it does not", "ETMv3", isa.ModeA32, isa.Undefined, "tt", async(0x1000, 0x1000), true},
	} {
		rules := toyRules[c.rules]
		src := events{c.next}
		q := queue{src: &src}
		code := newReader(&testText{addr: 0x1000, bytes: []byte{byte(c.class)}}, NewCache(), toy{}, &rules, isa.UpperHalf)
		j := judge{rules: &rules, code: &code, events: &q}
		th := &thread{ip: 0x1000, mode: c.mode}
		e := bits(c.inHand)
		th.bits, th.n = e.Value, int(e.N)
		th.stack.part = true
		if got := j.contradicts(th, code.build(0, 0x1000, c.mode, 0, 0, 1), q.at(0)); got != c.want {
			t.Errorf("%s (%s): %v, want %v", c.what, c.rules, got, c.want)
		}
	}
}

// TestTakeAsJudged would catch a step that takes what settle would rule out, or
// fails where settle would not: what one of them knows the other must.
func TestTakeAsJudged(t *testing.T) {
	both := [2]int{}
	for name, rules := range toyRules {
		rules.StraightOnReserved = 0 // which take alone allows
		for seed := range uint64(testsize.Of(t, 1000, 3000)) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			mode := isa.Mode64
			if rules.Waypoints.Has(isa.JumpInd) {
				mode = isa.ModeT32 - isa.Mode(rnd.IntN(2))
			}
			w := NewWalker(&testText{addr: 0x1000, bytes: toyProgram(rnd)}, NewCache(), Config{ISA: toy{}, Rules: rules, Mode: mode})
			src := toyTrace(rnd, mode)[1:]
			x := &w.exec
			x.events.start(&src, false)
			x.out.start(sinkFunc(func(*Batch) error { return nil }))
			th := &w.t
			th.reset(mode)
			th.on, th.ip = true, 0x1000+uint64(rnd.IntN(96))
			if e := x.events.at(0); e.Kind == event.Outcomes && rnd.IntN(2) == 0 {
				th.takeInHand(e)
			}
			b := x.code.read(0, th.ip, mode, 0, 0, 1)
			if b.N == 0 {
				continue
			}
			judged := x.judge.contradicts(th, b, x.events.at(th.q))
			_, st := x.take(th, b, x.events.at(th.q))
			if failed := st == fail(event.Mismatch); failed != judged && st < dead || judged && !failed {
				t.Fatalf("%s, seed %d: class %d: judged %v, take says %d", name, seed, b.Class, judged, st)
			}
			both[map[bool]int{true: 1}[judged]]++
		}
	}
	if both[0] < 1000 || both[1] < 1000 {
		t.Errorf("%d fit, %d do not: that tries too little", both[0], both[1])
	}
}

// TestLate would catch a guessed target where another flow or other code comes into
// question: there it would count as evidence.
func TestLate(t *testing.T) {
	poked := []testPoke{{addr: 0x1000, new: string(byte(isa.Other))}}
	for _, c := range []struct {
		what, rules string
		class       isa.Class
		pokes       []testPoke
		flows       int
		next        events
		want        bool
	}{
		{"a target behind outcomes", "PT", isa.JumpInd, nil, 0, events{bits("t"), to(0x1000)}, true},
		{"no target", "PT", isa.JumpInd, nil, 0, events{bits("t"), bits("t")}, false},
		{"another flow", "PT", isa.JumpInd, nil, 2, events{bits("t"), to(0x1000)}, false},
		{"other code", "PT", isa.JumpInd, poked, 0, events{bits("t"), to(0x1000)}, false},
		{"a branch that spends an outcome", "ETMv4", isa.JumpInd, nil, 0, events{bits("t"), to(0x1000)}, false},
		{"another, where indirect branches do", "PTM", isa.FarJump, nil, 0, events{bits("t"), to(0x1000)}, false},
	} {
		rules := toyRules[c.rules]
		q := queue{src: &c.next}
		code := newReader(&testText{addr: 0x1000, bytes: []byte{byte(c.class)}, pokes: c.pokes}, NewCache(), toy{}, &rules, isa.UpperHalf)
		j := judge{rules: &rules, code: &code, events: &q, window: &window{threads: make([]*thread, c.flows)}}
		th := &thread{ip: 0x1000, mode: isa.Mode64}
		th.hi = event.Epoch(len(c.pokes))
		if got := j.late(th, code.build(0, 0x1000, isa.Mode64, 0, 0, 1), q.at(0)); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
