package flow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// walkAs walks evs over text as c says.
func walkAs(t *testing.T, text *testText, c Config, evs ...event.Event) string {
	t.Helper()
	c.ISA, c.Mode, c.Rules.Waypoints = x86.Decoder{}, isa.Mode64, isa.Set(isa.Cond)
	var p prints
	src := events(evs)
	if err := NewWalker(text, NewCache(), c).Run(&src, &p); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(p.String())
}

func disable(ip uint64) event.Event {
	e := event.Event{Kind: event.Disable, IP: ip}
	if ip != 0 {
		e.Flags = event.FlagIP
	}
	return e
}

func enableAt(ip uint64) event.Event {
	return event.Event{Kind: event.Enable, Flags: event.FlagIP, IP: ip}
}

// flagged is e with flags more.
func flagged(f event.Flags, e event.Event) event.Event {
	e.Flags |= f
	return e
}

// TestFilter would catch a walk that does not see where a branch leaves the
// code that is traced, or sees it where the branch stays. A conditional branch
// and a compressed return end tracing without an address, behind their outcome
// if others wait with it. A direct jump states its target, but for erratum
// SKL014. Source: Intel SDM, volume 3C, "Packet Generation Disable (TIP.PGD)".
func TestFilter(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x90\x74\x5d\x75\xfb",         // nop; je 0x60; jne 0
		0x05: "\x90\xeb\x58",                 // nop; jmp 0x60
		0x10: "\x90\xe8\x4a\x00\x00\x00",     // nop; call 0x60
		0x20: "\xe8\x0b\x00\x00\x00\xff\xe0", // call 0x30; jmp *rax
		0x30: "\x90\xc3",                     // nop; ret
		0x40: "\xeb\x01\x90\xeb\x1b",         // jmp 0x43; nop; jmp 0x60
		0x60: "\x90\xc3",                     // not traced
	})
	only := Config{Traced: func(_ uint32, ip uint64) bool { return ip < 0x1060 }}
	for _, c := range []struct {
		name, want string
		cfg        Config
		evs        []event.Event
	}{
		{"conditional, alone", "0 1 5 6", only, []event.Event{syncAt(0x1000), disable(0), enableAt(0x1005), disable(0x1060), end()}},
		{"conditional, its outcome behind another", "0 1 3 0 1 5", only,
			[]event.Event{syncAt(0x1000), bits("ntt"), disable(0), enableAt(0x1005), syncAt(0x1006)}},
		{"the branch that stays is not it", "0? 1? gap:mismatch 10 11", only,
			[]event.Event{syncAt(0x1000), bits("n"), disable(0), enableAt(0x1010), disable(0x1060), end()}},
		{"direct jump behind another, without an address", "40 43 10", only,
			[]event.Event{syncAt(0x1040), disable(0), enableAt(0x1010), syncAt(0x1011)}},
		{"call", "10 11 5", only, []event.Event{syncAt(0x1010), disable(0x1060), enableAt(0x1005), syncAt(0x1006)}},
		{"abort, from nowhere that is stated", "0 1 3 5", Config{},
			[]event.Event{syncAt(0x1000), bits("nn"), flagged(event.FlagAbort, disable(0x1010)), enableAt(0x1005), syncAt(0x1006)}},
		{"no filter is known", "gap:mismatch 5", Config{}, []event.Event{syncAt(0x1001), disable(0), enableAt(0x1005), syncAt(0x1006)}},
	} {
		if got := walkAs(t, text, c.cfg, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestErrata would catch a walk that takes what an erratum makes of a packet
// for what it says. Errata: BDM64, SKD022, and the next address in a FUP.
func TestErrata(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x90\x74\x1d\x90\xff\xe0", // nop; je 0x20; nop; jmp *rax
		0x10: "\x90\x0f\x01\xc2\x90",     // nop; vmlaunch; nop
		0x20: "\x90\x90\xff\xe0",         // nop; nop; jmp *rax
		0x30: "\x90\xcc\x90\xff\xe0",     // nop; int3; nop; jmp *rax
		0x40: "\x90\xff\xe0",
	})
	abort := func(from uint64) event.Event { return flagged(event.FlagAbort, async(from, 0x1040)) }
	next := func(from uint64) event.Event { return flagged(event.FlagNextIP, async(from, 0x1040)) }
	for _, c := range []struct {
		name, want string
		rules      isa.Rules
		evs        []event.Event
	}{
		{"abort behind a wrong target", "0 1 40", isa.Rules{AbortElsewhere: true},
			[]event.Event{syncAt(0x1000), bits("t"), abort(0x1004), syncAt(0x1041)}},
		{"abort behind a right one", "0 1 20 21 40", isa.Rules{AbortElsewhere: true},
			[]event.Event{syncAt(0x1000), bits("t"), abort(0x1022), syncAt(0x1041)}},
		{"abort behind a wrong target on another processor", "0? 1? gap:mismatch 40", isa.Rules{},
			[]event.Event{syncAt(0x1000), bits("t"), abort(0x1004), syncAt(0x1041)}},
		{"VM entry that ends tracing", "10 11 40", isa.Rules{EntrySource: true},
			[]event.Event{syncAt(0x1010), {Kind: event.AsyncDisable, From: 0x1011}, enableAt(0x1040), syncAt(0x1041)}},
		{"interrupt before a VM entry", "10 40", isa.Rules{},
			[]event.Event{syncAt(0x1010), {Kind: event.AsyncDisable, From: 0x1011}, enableAt(0x1040), syncAt(0x1041)}},
		{"fault stated behind the branch", "20 21 40", isa.Rules{},
			[]event.Event{syncAt(0x1020), next(0x1024), syncAt(0x1041)}},
		{"breakpoint stated behind itself", "30 40", isa.Rules{},
			[]event.Event{syncAt(0x1030), next(0x1032), syncAt(0x1041)}},
		{"interrupt stated where it was", "20 40", isa.Rules{},
			[]event.Event{syncAt(0x1020), next(0x1021), syncAt(0x1041)}},
	} {
		if got := walkAs(t, text, Config{Rules: c.rules}, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestNoOutcomes would catch a contradiction reported where the trace was told
// to leave the outcomes out, and a target taken for that of a return which may
// have been compressed.
func TestNoOutcomes(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x90\x74\x1d\x90\xff\xe0",         // nop; je 0x20; nop; jmp *rax
		0x10: "\xe8\x0b\x00\x00\x00\x90\xff\xe0", // call 0x20; nop; jmp *rax
		0x20: "\x90\xc3",                         // nop; ret
		0x40: "\x90\xff\xe0",
	})
	compressed := isa.Rules{NoOutcomes: true, Returns: isa.ReturnsCompressed}
	for _, c := range []struct {
		name, want string
		rules      isa.Rules
		evs        []event.Event
	}{
		{"conditional", "gap:no-outcomes 40 41 3 4 40", isa.Rules{NoOutcomes: true},
			[]event.Event{syncAt(0x1000), to(0x1040), to(0x1003), to(0x1040), syncAt(0x1041)}},
		{"return with a target", "10 20 21 15 16 40", isa.Rules{NoOutcomes: true},
			[]event.Event{syncAt(0x1010), to(0x1015), to(0x1040), syncAt(0x1041)}},
		{"return that may be compressed", "10 gap:no-outcomes 40", compressed,
			[]event.Event{syncAt(0x1010), to(0x1040), syncAt(0x1041)}},
		{"return without its call", "20 21 40", compressed,
			[]event.Event{syncAt(0x1020), to(0x1040), syncAt(0x1041)}},
	} {
		if got := walkAs(t, text, Config{Rules: c.rules}, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// told is a Sink that writes where Status and Payload notes stand, and the flow.
type told struct{ prints }

func (p *told) Flow(b *Batch) error {
	for i := range b.Notes {
		if n := &b.Notes[i]; n.Kind == NoteEvent {
			fmt.Fprintf(&p.prints, "%v@%x/%d ", n.Event.Detail, n.Event.IP, n.At)
		}
	}
	return p.prints.Flow(b)
}

// TestPTWrite would catch a value that is not told at the PTWRITE that wrote
// it, or told at one that is not known to be it. Without a FUP the packet is
// that of the next PTWRITE executed (Intel SDM, volume 3C, "PTWRITE (PTW)
// Packet").
func TestPTWrite(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x90\xf3\x0f\xae\xe0\x90\xeb\x08", // nop; ptwrite eax; nop; jmp 0x10
		0x10: "\x90\xf3\x48\x0f\xae\xe1\x74\xe8", // nop; ptwrite rcx; je 0
		0x18: "\xff\xe0",
	})
	write := event.Event{Kind: event.Payload, Detail: event.DetailPTWrite, Value: 7, Value2: 4}
	for _, c := range []struct {
		name, want string
		evs        []event.Event
	}{
		{"both", "ptwrite@1001/1 ptwrite@1011/3 0 1 5 6 10 11 16 18 10", []event.Event{syncAt(0x1000), write, write, bits("n"), to(0x1010), syncAt(0x1011)}},
		{"behind an outcome that has not come", "ptwrite@0/0 18 10", []event.Event{syncAt(0x1018), write, to(0x1010), syncAt(0x1011)}},
	} {
		var p told
		src := events(c.evs)
		cfg := Config{ISA: x86.Decoder{}, Mode: isa.Mode64, Rules: ptRules}
		if err := NewWalker(text, NewCache(), cfg).Run(&src, &p); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(p.String()); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
