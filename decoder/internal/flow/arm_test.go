package flow

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
)

// liveText is a testText whose pokes stopped nobody.
type liveText struct {
	testText
	begin, end uint64 // of every poke
	unsafe     bool
}

func (t *liveText) Epochs(m event.Time) (lo, hi event.Epoch) {
	for range t.pokes {
		if t.end <= m.Lo {
			lo++
		}
		if t.begin <= m.Hi {
			hi++
		}
	}
	return lo, hi
}

func (t *liveText) Poke(i int) Poke {
	p := t.testText.Poke(i)
	p.Trap, p.Window, p.Guarded = false, false, false
	p.Free, p.Unsafe = !t.unsafe, t.unsafe
	return p
}

func (t *liveText) Floor(int) event.Epoch { return 0 }

func words(ws ...uint32) string {
	var b []byte
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return string(b)
}

// codeA64 places words at offsets from 0x1000, UDF elsewhere.
func codeA64(parts map[int][]uint32) testText {
	b := make([]byte, 0x100)
	for off, ws := range parts {
		copy(b[off:], words(ws...))
	}
	return testText{addr: 0x1000, bytes: b}
}

func syncA64(ip uint64) event.Event {
	e := syncAt(ip)
	e.Mode = uint8(isa.ModeA64)
	return e
}

func walkArm(t *testing.T, text Text, rules isa.Rules, evs ...event.Event) string {
	t.Helper()
	w := NewWalker(text, NewCache(), Config{ISA: a64.Decoder{}, Rules: rules, Mode: isa.ModeA64})
	var p prints
	src := events(evs)
	if err := w.Run(&src, &p); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(p.String())
}

const (
	nopA64  = 0xd503201f
	isbA64  = 0xd5033fdf
	retA64  = 0xd65f03c0
	eretA64 = 0xd69f03e0
	svcA64  = 0xd4000001
	brA64   = 0xd61f0200 // br x16
	blrA64  = 0xd63f0200 // blr x16
)

// TestArm would catch a walk that spends an outcome at the wrong instructions
// of A64, or goes elsewhere than the trace says. Sources: DDI0487, D4.4
// "Instruction and exception classification", K10.5 "Return stack".
func TestArm(t *testing.T) {
	text := codeA64(map[int][]uint32{
		0x00: {0x94000008, 0xb4000060, svcA64, 0x17fffffd}, // bl 0x20; cbz x0, 0x10; svc; b 0
		0x10: {brA64},
		0x20: {isbA64, retA64},
		0x30: {blrA64, nopA64},
		0x40: {nopA64, eretA64},
	})
	byTarget := armRules
	byTarget.Returns = isa.ReturnsByTarget
	for _, c := range []struct {
		name, want string
		rules      isa.Rules
		evs        []event.Event
	}{
		{"predicted return, system call, ERET", "0 20 24 4 8 40 44 c 0 20", armRules, []event.Event{
			syncA64(0x1000), bits("tttn"), async(0x100c, 0x1040), bits("t"), to(0x100c), bits("ttt"), syncA64(0x1024)}},
		{"a return that went elsewhere leaves the stack", "0 20 24 30 20 24 34", armRules, []event.Event{
			syncA64(0x1000), bits("ttt"), to(0x1030), bits("t"), to(0x1020), bits("tt"), syncA64(0x1038)}},
		{"a target stands behind payloads", "10 40", armRules, []event.Event{
			syncA64(0x1010), bits("t"), {Kind: event.Payload}, to(0x1040), syncA64(0x1044)}},
		{"an exception return behind an ERET", "40 44 10 40", armRules, []event.Event{
			syncA64(0x1040), bits("t"), {Kind: event.Payload, Detail: event.DetailExceptionRet}, to(0x1010), bits("t"), to(0x1040), syncA64(0x1044)}},
		{"an exception return behind no ERET", "20? gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1020), bits("t"), {Kind: event.Payload, Detail: event.DetailExceptionRet}, {Kind: event.Off}, {Kind: event.Enable, Flags: event.FlagIP, IP: 0x1040}, syncA64(0x1044)}},
		{"every return has a target", "0 20 24 4 10 40", byTarget, []event.Event{
			syncA64(0x1000), bits("ttt"), to(0x1004), bits("tt"), to(0x1040), syncA64(0x1044)}},
		{"one has none", "0? 20? 24? gap:mismatch 40", byTarget, []event.Event{
			syncA64(0x1000), bits("tttt"), to(0x1040), syncA64(0x1044)}},
		{"a return without a call or a target", "20? 24? gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1020), bits("ttt"), to(0x1040), syncA64(0x1044)}},
		{"a system call that nothing follows", "4? gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1004), bits("nt"), to(0x1040), syncA64(0x1044)}},
		{"an exception from elsewhere", "4? gap:mismatch 44", armRules, []event.Event{
			syncA64(0x1004), bits("n"), async(0x1010, 0x1044), bits("t"), to(0x1040), syncA64(0x1040)}},
		{"a B that is not taken", "gap:mismatch 40", armRules, []event.Event{
			syncA64(0x100c), bits("nt"), to(0x1040), syncA64(0x1044)}},
		{"an ISB without an outcome", "gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1020), to(0x1040), syncA64(0x1044)}},
		{"the target is lost with what follows", "10 gap:overflow 40", armRules, []event.Event{
			syncA64(0x1010), bits("t"), {Kind: event.Overflow, Flags: event.FlagIP, IP: 0x1040}, syncA64(0x1044)}},
	} {
		if got := walkArm(t, &text, c.rules, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestLive would catch a walk that gives code poked under way an order that Arm
// does not promise. It would catch one that does not see what a synchronisation
// settles, or claims anything of an instruction rewritten against the rules.
func TestLive(t *testing.T) {
	// 0: nop <-> b 8; 4: b 8; 8: isb; c: b 0. Either way to 8 is one outcome, so
	// that whether 4 was executed cannot be told: 8 may stand next to 0 or not.
	jump := testPoke{addr: 0x1000, old: words(nopA64), new: words(0x14000002), time: 100}
	mk := func(unsafe bool) *liveText {
		x := &liveText{testText: codeA64(map[int][]uint32{
			0x00: {nopA64, 0x14000001, isbA64, 0x17fffffd}, 0x40: {nopA64, eretA64}}), begin: 90, end: 200, unsafe: unsafe}
		x.pokes = []testPoke{jump}
		return x
	}
	round := at(10, 300, bits("ttt"))
	later := at(100, 300, bits("ttt"))
	for _, c := range []struct {
		name, want string
		unsafe     bool
		evs        []event.Event
	}{
		{"each visit is free", "0? 8 c 0? 8 c 0t", false, []event.Event{
			at(10, 10, syncA64(0x1000)), round, round, at(200, 200, syncA64(0x1004))}},
		{"an ISB before the store is complete settles nothing", "0? 8 c 0? 8 c", false, []event.Event{
			at(10, 10, syncA64(0x1000)), at(99, 300, bits("ttt")), at(99, 300, bits("ttt")), at(200, 200, syncA64(0x1000))}},
		{"the first ISB settles it", "0? 8 c 0t 8 c 0t 8 c", false, []event.Event{
			at(10, 10, syncA64(0x1000)), later, later, later, at(200, 200, syncA64(0x1000))}},
		{"so does an exception", "0t 8 c", false, []event.Event{
			at(10, 10, syncA64(0x1000)), at(100, 190, async(0x1000, 0x1000)), later, at(190, 190, syncA64(0x1000))}},
		{"so does the return from one", "40 44 0t 8 c", false, []event.Event{
			at(10, 10, syncA64(0x1040)), at(100, 190, bits("t")), at(100, 190, to(0x1000)), later, at(190, 190, syncA64(0x1000))}},
		{"against the rules", "0? 8? c? 40 44 c 0? 40", true, []event.Event{
			at(10, 10, syncA64(0x1000)), round, at(10, 300, async(0x1000, 0x1040)), at(10, 300, bits("t")), at(10, 300, to(0x100c)), at(10, 300, bits("tt")),
			at(300, 300, async(0x1008, 0x1040)), at(300, 300, syncA64(0x1044))}},
		{"against the rules, refuted", "0? gap:mismatch 40", true, []event.Event{
			at(10, 10, syncA64(0x1000)), at(10, 300, bits("n")), at(10, 300, async(0x1000, 0x1040)), at(10, 300, syncA64(0x1044))}},
	} {
		if got := walkArm(t, mk(c.unsafe), liveRules, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestTorn would catch a walk that claims that two instructions executed one
// after the other, although another flow that fits has something in between. It
// would catch this also when the second is in the next segment.
func TestTorn(t *testing.T) {
	// Old: 0: nop, 4, 8: branches, c: bl 0x20. New: 0: bl 0x10, 10: bl 0x20, 14: ret.
	// Both end with 20, 24, but for the new one's 14: four outcomes each.
	x := &liveText{testText: codeA64(map[int][]uint32{0x00: {nopA64, 0x14000001, 0x14000001, 0x94000005},
		0x10: {0x94000004, retA64}, 0x20: {nopA64, retA64}, 0x40: {nopA64, brA64}}), begin: 90, end: 200}
	x.pokes = []testPoke{{addr: 0x1000, old: words(nopA64), new: words(0x94000004), time: 100}}
	start := []event.Event{at(10, 10, syncA64(0x1000)), at(10, 100, bits("tttt")), at(10, 100, to(0x1040))}
	got := walkArm(t, x, liveRules, append(start[:3:3], at(200, 200, syncA64(0x1044)))...)
	if want := "0? 4? 8? c? 20t 24t 40?"; got != want {
		t.Errorf("in one segment: got %s, want %s", got, want)
	}
	got = walkArm(t, x, liveRules, append(start, at(200, 200, syncA64(0x1040)))...)
	if want := "0? 4? 8? c? 20? 24?"; got != want {
		t.Errorf("at a segment's end: got %s, want %s", got, want)
	}
}

// TestGivenUp would catch a walk that gives up a window as it opens, and from
// there on claims the likeliest flow or takes it as evidence. The ISB that this
// flow passes may not have been executed.
func TestGivenUp(t *testing.T) {
	x := &liveText{testText: codeA64(map[int][]uint32{0x00: {nopA64, 0x14000001, isbA64, 0x17fffffd}}), begin: 90, end: 200}
	x.pokes = []testPoke{{addr: 0x1000, old: words(nopA64), new: words(0x14000002), time: 100}}
	w := NewWalker(x, NewCache(), Config{ISA: a64.Decoder{}, Rules: liveRules, Mode: isa.ModeA64, MaxThreads: 1})
	var p prints
	src := events{at(10, 10, syncA64(0x1000)), at(100, 190, bits("tt")), at(100, 190, syncA64(0x100c)), at(100, 190, bits("tt")), at(200, 200, syncA64(0x1008))}
	if err := w.Run(&src, &p); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(p.String()), "0? 8? c 0?"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// liveRules are armRules with what synchronises.
var liveRules = func() isa.Rules {
	r := armRules
	r.Syncs = isa.Set(isa.Barrier, isa.FarReturn)
	return r
}()

// stagedText is a liveText whose pokes are each under way for the 10 ns before
// their time.
type stagedText struct{ liveText }

func (t *stagedText) Epochs(m event.Time) (lo, hi event.Epoch) {
	for _, p := range t.pokes {
		if p.time <= m.Lo {
			lo++
		}
		if p.time-10 <= m.Hi {
			hi++
		}
	}
	return lo, hi
}

func (t *stagedText) Poke(i int) Poke {
	p := t.liveText.Poke(i)
	p.Begin = p.Time - 10
	return p
}

// TestFreeDated would catch a walk that lets a CPU execute old code too late.
// That code was replaced for all CPUs before another poke began, and the CPU
// has executed that poke's new code. No poke stops any CPU here, so the clock
// alone allows it.
func TestFreeDated(t *testing.T) {
	// 0: nop -> b 8; 4: b 8; 8: b 40; 40: nop -> b 48; 44: b 48; 48: b 0.
	x := &stagedText{liveText{testText: codeA64(map[int][]uint32{
		0x00: {nopA64, 0x14000001, 0x1400000e}, 0x40: {nopA64, 0x14000001, 0x17ffffee}, 0x80: {nopA64}})}}
	x.pokes = []testPoke{
		{addr: 0x1000, old: words(nopA64), new: words(0x14000002), time: 100},
		{addr: 0x1040, old: words(nopA64), new: words(0x14000002), time: 200}}
	// That 4 is reached shows the old text at 0: nothing had begun at 40.
	want := "40t 44t 48t 0t 80"
	if got := walkArm(t, x, liveRules, at(10, 10, syncA64(0x1040)), at(10, 300, bits("tt")),
		at(10, 300, async(0x1004, 0x1080)), at(300, 300, syncA64(0x1084))); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestBreakBehind would catch a flow that is held possible although the trace
// then states a breakpoint that lies behind it.
func TestBreakBehind(t *testing.T) {
	// 0: b 8 -> b 40; 8: nop; c: brk; 40: nop.
	x := &liveText{testText: codeA64(map[int][]uint32{
		0x00: {0x14000002, nopA64, nopA64, 0xd4200000}, 0x40: {nopA64}, 0x80: {nopA64}}), begin: 90, end: 200}
	x.pokes = []testPoke{{addr: 0x1000, old: words(0x14000002), new: words(0x14000010), time: 100}}
	brk := async(0x100c, 0x1080)
	brk.Flags |= event.FlagBreak
	rules := liveRules
	rules.SilentBranches = true
	if got, want := walkArm(t, x, rules, at(10, 10, syncA64(0x1000)), at(10, 300, bits("t")), at(10, 300, brk),
		at(300, 300, syncA64(0x1084))), "0t 8 trap:c/-1 80"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
