package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestGuest would catch the host's code taken for that of a virtual machine
// with the same addresses. It would catch a flow of the host that is not found
// again. It would also catch a walk that does not follow a trace made wholly
// inside a virtual machine. Intel SDM, volume 3C, section "VMX-Specific Packets
// and VMCS Controls".
func TestGuest(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x90\x0f\x01\xc2",     // nop; vmlaunch
		0x10: "\x90\xff\xe0",         // nop; jmp *rax
		0x20: "\x90\x74\x02\xff\xe0", // nop; je 0x25; jmp *rax
		0x30: "\x90\x90\xff\xe0",
		0x40: "\x90\x90\xff\xe0",
	})
	in := func(nr uint64, e event.Event) event.Event {
		e.Flags |= event.FlagCR3
		e.Value, e.Value2 = 0x5000, nr
		return e
	}
	pip := event.Event{Kind: event.Context, Detail: event.DetailCR3, Value: 0x5000, Value2: 1}
	host := Config{Rules: isa.Rules{Returns: isa.ReturnsCompressed}, Guests: true}
	for _, c := range []struct {
		name, want string
		cfg        Config
		evs        []event.Event
	}{
		{"entry, a stay, exit", "0 1 gap:no-text 10 11 20", host, []event.Event{
			in(0, syncAt(0x1000)), pip, in(1, to(0x1020)), bits("n"), to(0x1030), async(0x1031, 0x1040),
			in(1, syncAt(0x1041)), disable(0), enableAt(0x1040), in(0, async(0x1042, 0x1010)), to(0x1020), syncAt(0x1021)}},
		{"begins inside", "gap:no-text 10", host, []event.Event{in(1, syncAt(0x1020)), bits("n"), in(0, async(0x1030, 0x1010)), syncAt(0x1011)}},
		{"ends inside", "0 1 gap:no-text", host, []event.Event{in(0, syncAt(0x1000)), in(1, to(0x1020)), bits("n"), in(1, syncAt(0x1030))}},
		{"all of the trace is of one", "20 21 23 30", Config{Rules: host.Rules}, []event.Event{
			in(1, syncAt(0x1020)), bits("n"), in(1, to(0x1030)), in(1, syncAt(0x1031))}},
	} {
		if got := walkAs(t, text, c.cfg, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
