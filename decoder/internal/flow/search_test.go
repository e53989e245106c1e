package flow

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// ring places a loop of n jumps at 0x1000, which spends no outcome; behind it
// lies an indirect jump.
func ring(n int) *testText {
	return code(map[int]string{0: strings.Repeat("\xeb\x00", n-1) + "\xeb" + string([]byte{byte(-2 * n)}) + "\xff\xe0"})
}

// TestLoop would catch a loop without an outcome that is told only after its
// rounds are printed. It would also catch one that is taken for endless
// although an event stops the flow in it.
func TestLoop(t *testing.T) {
	const blocks = 60
	text := ring(blocks)
	for name, next := range map[string]event.Event{"a target": to(0x1000 + 2*blocks), "outcomes": bits("t"), "a sync point outside": syncAt(0x1000 + 2*blocks)} {
		got := strings.Fields(walk(t, text, syncAt(0x1000), next, syncAt(0x1000+2*blocks), end()))
		at := slices.Index(got, "gap:loop")
		if at < 0 || at > 2*loopBlocks+2 {
			t.Errorf("before %s: told behind %d instructions: %s", name, at, got)
		}
	}
	for name, next := range map[string]event.Event{"a sync point": syncAt(0x1000 + 2*55), "an interrupt": async(0x1000+2*55, 0x1000+2*blocks)} {
		got := strings.Fields(walk(t, text, syncAt(0x1000), next, end()))
		if len(got) != 55 || got[54] != "6c" {
			t.Errorf("to %s in the loop: %s", name, got)
		}
	}
}

// TestTrapAhead would catch two cuts that become one although a breakpoint
// ahead tells which of them it was. A CPU that has run a poke's new code cannot
// meet its breakpoint any more. A breakpoint elsewhere tells nothing.
func TestTrapAhead(t *testing.T) {
	const nop, jmp, longNop = "\x0f\x1f\x44\x00\x00", "\xe9\x0c\x00\x00\x00", "\x66\x66\x66\x66\x90"
	mk := func(new string) *testText {
		text := code(map[int]string{
			0x00: nop, 0x05: "\x74\xf9\xff\xe0", // nop; je 0; jmp *rax
			0x11: "\x75\xed\xff\xe0", // jne 0; jmp *rax
			0x30: "\x90\xff\xe0", 0x80: "\x48\xcf",
		})
		text.pokes = []testPoke{{addr: 0x1000, old: nop, new: new, time: 100}}
		return text
	}
	// Both texts explain what is stated up to 0x1030, where the clock says that
	// the poke is made.
	start := []event.Event{at(10, 10, syncAt(0x1000)), at(10, 200, bits("n")), at(110, 200, to(0x1030))}
	for _, c := range []struct {
		name, new, want string
		evs             []event.Event
	}{
		{"a trap at the poke's site: the old text ran", jmp, "0t 5t 7t 30t 31t trap:0/0 80 0 11 13 30", []event.Event{
			at(110, 200, to(0x1000)), at(115, 200, async(0x1000, 0x1080)), at(120, 200, to(0x1000)), at(120, 200, bits("n")), at(120, 200, to(0x1030)), at(200, 200, syncAt(0x1031))}},
		{"the same where both texts do nothing", longNop, "0t 5t 7t 30t 31t trap:0/0 80 5 7 30", []event.Event{
			at(110, 200, to(0x1000)), at(115, 200, async(0x1000, 0x1080)), at(120, 200, to(0x1005)), at(120, 200, bits("n")), at(120, 200, to(0x1030)), at(200, 200, syncAt(0x1031))}},
		{"one elsewhere", jmp, "0? 11? 13? 30 trap:31/-1 80 0", []event.Event{
			at(115, 200, async(0x1031, 0x1080)), at(120, 200, to(0x1000)), at(200, 200, syncAt(0x1011))}},
	} {
		if got := walk(t, mk(c.new), append(start[:3:3], c.evs...)...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
