package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestStackGuess would catch a return address that counts as sure although it was
// pushed in a flow that may not be what ran. It would also catch a guess of one that
// was pushed behind that. What is dropped at the bottom of a full stack takes the
// guesses with it, and two stacks that say the same lose nothing.
func TestStackGuess(t *testing.T) {
	push := func(s *ReturnStack, addrs ...uint64) {
		for _, a := range addrs {
			s.Push(a, nil)
		}
	}
	for _, c := range []struct {
		what, want string
		make       func(s *ReturnStack)
	}{
		{"nothing in doubt", "cba", func(s *ReturnStack) { push(s, 'a', 'b', 'c') }},
		{"all in doubt", "c?b?a?", func(s *ReturnStack) { push(s, 'a', 'b', 'c'); s.Doubt() }},
		{"what comes behind is not", "db?a?", func(s *ReturnStack) { push(s, 'a', 'b'); s.Doubt(); push(s, 'd') }},
		{"what goes and comes is not", "da?", func(s *ReturnStack) { push(s, 'a', 'b'); s.Doubt(); s.Pop(); push(s, 'd') }},
		{"dropped at the bottom", "fedc?", func(s *ReturnStack) { push(s, 'a', 'b', 'c'); s.Doubt(); push(s, 'd', 'e', 'f') }},
		{"the other says the same", "ba", func(s *ReturnStack) {
			o := ReturnStack{depth: 4}
			push(&o, 'a', 'b')
			push(s, 'a', 'b')
			s.doubtAs(&o)
		}},
		{"the other doubts the same", "ba?", func(s *ReturnStack) {
			o := ReturnStack{depth: 4}
			push(&o, 'a')
			o.Doubt()
			push(&o, 'b')
			push(s, 'a', 'b')
			s.part = true
			s.doubtAs(&o)
		}},
		{"the other says something else", "b?a?", func(s *ReturnStack) {
			o := ReturnStack{depth: 4}
			push(&o, 'a', 'x')
			push(s, 'a', 'b')
			s.doubtAs(&o)
		}},
	} {
		s := ReturnStack{depth: 4}
		c.make(&s)
		got := ""
		for s.n > 0 {
			guess := s.guessed()
			a, _, _ := s.Pop()
			if got += string(rune(a)); guess {
				got += "?"
			}
		}
		if got != c.want || s.guessed() {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestGuessedReturn would catch a return by an address that is a guess after which
// the flow is claimed before an event says where it is. The fast way must not take
// such a return. It would also catch doubt that lasts longer.
func TestGuessedReturn(t *testing.T) {
	text := code(map[int]string{0: "\xff\xd0\x90\x90", 0x20: "\x75\x10\x90", 0x50: "\x90\xc3"}) // call *rax; nop; nop, jne; nop, nop; ret
	got := walk(t, text, syncAt(0x1000), bits("n"), to(0x1020), async(0x1022, 0x1050), bits("t"), async(0x1003, 0x1020), bits("n"), syncAt(0x1022), end())
	if want := "0? 20? 50 51 2? 20"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestGuessedReturnRefutesItself would catch a cut that is taken out for where a return
// by a guessed address led: the packets refute the address then, not the cut.
func TestGuessedReturnRefutesItself(t *testing.T) {
	for _, protocol := range []string{"PT", "ETMv4"} {
		w := testWalker(code(map[int]string{0: "\xc3", 0x10: "\x90"}))
		x := &w.exec
		x.cfg.Rules = toyRules[protocol]
		x.out.start(nil)
		x.events.buf, x.events.drained = []event.Event{bits("n")}, true
		th := &thread{ip: 0x1000, on: true}
		th.stack.depth = 4
		th.stack.Push(0x1010, nil)
		th.stack.Doubt()
		b := x.code.build(0, 0x1000, isa.Mode64, 0, 0, 1)
		var st status
		if th.bits, th.n = 1<<63, 1; protocol == "PT" {
			st = x.returns(th, b)
		} else {
			th.n = 0
			st = x.destination(th, b)
		}
		if st != moved || th.ip != 0x1010 {
			t.Fatalf("%s: status %d at %#x", protocol, st, th.ip)
		}
		x.window.threads = []*thread{th, {on: true, ip: 0x1010}}
		if !x.window.outlives(th, event.Mismatch) {
			t.Errorf("%s: a cut is refuted by where a guess led", protocol)
		}
	}
}
