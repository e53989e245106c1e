package flow

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestSilentCode would catch a loop without a decision that is not found, or one
// found where an event or an outcome ends it. It would also catch code taken to
// reach an address behind a decision, or not to reach one on a silent way.
func TestSilentCode(t *testing.T) {
	c := testReader(code(map[int]string{
		0x00: "\x90\xeb\x0d",             // nop; jmp 0x10
		0x10: "\x90\xe9\xea\xff\xff\xff", // nop; jmp 0
		0x20: "\xeb\x0e",                 // jmp 0x30
		0x30: "\x74\xce\x90",             // je 0
	}), NewCache())
	for _, x := range []struct {
		from, stop uint64
		stops      bool
		circles    bool
		reaches    bool // stop
	}{
		{0x00, 0x30, false, true, false},
		{0x00, 0x30, true, true, false},
		{0x00, 0x10, true, false, true},
		{0x00, 0x11, true, false, true},
		{0x00, 0x12, true, true, false}, // inside an instruction
		{0x20, 0x30, false, false, true},
		{0x20, 0x00, false, false, false}, // behind a decision
		{0x20, 0x32, false, false, false},
		{0x40, 0x41, false, false, false}, // a breakpoint
	} {
		th := &thread{ip: 0x1000 + x.from, mode: isa.Mode64}
		if got := c.circles(th, 0x1000+x.stop, x.stops); got != x.circles {
			t.Errorf("from %#x to %#x: goes round: %v", x.from, x.stop, got)
		}
		if got := c.reaches(th, 0x1000+x.stop); got != x.reaches {
			t.Errorf("from %#x to %#x: reaches: %v", x.from, x.stop, got)
		}
	}
	contested := testReader(toggles(2), NewCache())
	th := &thread{ip: 0x1000, mode: isa.Mode64, evidence: evidence{hi: 1}}
	if contested.circles(th, 0, false) || !contested.reaches(th, 0x1011) {
		t.Error("contested code is judged without being executed")
	}
}

// TestBind would catch a value bound to another PTWRITE than the next one that is
// executed, or to one behind a decision.
func TestBind(t *testing.T) {
	const ptwrite = "\xf3\x0f\xae\xe0" // ptwrite eax
	c := testReader(code(map[int]string{
		0x00: ptwrite + "\xeb\x0a", 0x10: ptwrite + "\x90\x74\x00" + ptwrite + strings.Repeat("\x90", 8),
	}), NewCache())
	for _, x := range []struct{ from, wrote, want uint64 }{
		{0x1000, 0, 0x1000},
		{0x1000, 0x1000, 0x1010}, // the first has had its packet
		{0x1004, 0, 0x1010},
		{0x1014, 0, 0},
	} {
		e := event.Event{Kind: event.Payload, Detail: event.DetailPTWrite}
		c.bind(&thread{ip: x.from, mode: isa.Mode64, wrote: x.wrote}, &e)
		if e.IP != x.want || (e.Kind == event.Status) != (x.want != 0) {
			t.Errorf("from %#x: %v at %#x, want %#x", x.from, e.Kind, e.IP, x.want)
		}
	}
}
