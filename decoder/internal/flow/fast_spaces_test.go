package flow

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// twoTexts is the code of two programs, which lies at the same addresses.
type twoTexts struct {
	*testText           // of address space 1
	second    *testText // of 2
}

func (t twoTexts) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	if space == 2 {
		return t.second.Fetch(dst, 0, addr, at)
	}
	return t.testText.Fetch(dst, 0, addr, at)
}

// TestFastSpaces would catch a fast way that goes on in another program's code. One program
// calls, and the other returns to the same address, by the trace unit's stack. What lies there has
// one instruction in one program and two in the other. The careful way is the twin.
func TestFastSpaces(t *testing.T) {
	lines := func(behind string) *testText { // call 8; behind the call; 8: jne to what follows; ret
		return code(map[int]string{0: "\xe8\x03\x00\x00\x00" + behind, 8: "\x75\x00\xc3"})
	}
	text := twoTexts{lines("\xff\xe0"), lines("\x90\xc3")} // jmp *rax; or nop, ret
	for name, c := range map[string]struct {
		rules isa.Rules
		once  string // outcomes of a round in the first program: jne, ret, and of Arm call and jmp
		cut   string // up to the return
		other string // of a round in the second: jne, ret, and of Arm ret
		last  string
	}{
		"compressed": {isa.Rules{Waypoints: isa.Set(isa.Cond), Returns: isa.ReturnsCompressed}, "nt", "n", "nt", "n"},
		"by outcome": {armRules, "tntt", "tn", "ntt", "nt"},
	} {
		into := func(space uint64) event.Event {
			return event.Event{Kind: event.Payload, Detail: event.DetailCR3, Value: space}
		}
		evs := events{into(1), syncAt(0x1000), bits(c.once), to(0x1000), bits(c.once), to(0x1000), bits(c.cut),
			{Kind: event.AsyncDisable, From: 0x100a}, into(2), {Kind: event.Enable, Flags: event.FlagIP, IP: 0x1008},
			bits(c.other), to(0x1008), bits(c.last), to(0x1000), end()}
		for i := range evs {
			evs[i].Off = int64(i)
		}
		var got [2]allTold
		for i := range got {
			w := NewWalker(text, NewCache(), Config{ISA: x86.Decoder{}, Rules: c.rules, Mode: isa.Mode64,
				Space: func(_ event.Time, whose uint64) (uint32, bool) { return uint32(whose), true }})
			w.careful = i == 1
			src := slices.Clone(evs)
			if err := w.Run(&src, &got[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got[0], got[1]) || !slices.ContainsFunc(got[1], func(s string) bool { return s[:5] == "1006 " }) {
			t.Errorf("%s:\nfast    %q\ncareful %q", name, got[0], got[1])
		}
	}
}
