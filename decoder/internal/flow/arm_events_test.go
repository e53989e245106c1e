package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestReach would catch a walk that misreads what Arm's protocols say besides
// outcomes and targets. They say where tracing was off, and give exceptions
// without a source or a destination, source addresses, and instructions counted
// without outcomes (DDI0487, K10.5; the PFT architecture, "Waypoint update").
func TestReach(t *testing.T) {
	text := codeA64(map[int][]uint32{
		0x00: {nopA64, 0xb4000060, nopA64, 0x54000040, 0x17fffffd}, // nop; cbz 0x10; nop; b.eq 0x14; b 4
		0x14: {nopA64, brA64},
		0x30: {blrA64, nopA64, retA64},
		0x40: {nopA64, nopA64, nopA64, retA64},
		0x60: {nopA64, svcA64, nopA64, nopA64},
		0x80: {0xb4000040, nopA64, nopA64, retA64},                                 // cbz 0x88; nop; nop; ret
		0x90: {0xb4000060, nopA64, 0x14000003, nopA64, nopA64, nopA64, 0x54fffcc0}, // cbz 0x9c; nop; b 0xa4; nop; nop; nop; b.eq 0x40
	})
	silent := armRules
	silent.SilentBranches = true
	first := silent
	first.PopsFirst = true
	here := event.Event{Kind: event.Async, Flags: event.FlagIP | event.FlagHere, IP: 0x1040, Detail: event.DetailException}
	nowhere := event.Event{Kind: event.Async, From: 0x1004, Detail: event.DetailException}
	reach := func(ip uint64, f event.Flags) event.Event {
		return event.Event{Kind: event.Reach, Flags: event.FlagIP | f, IP: ip}
	}
	quiet := func(n, ip uint64) event.Event {
		return event.Event{Kind: event.Quiet, Flags: event.FlagIP | event.FlagCount, Value: n, IP: ip}
	}
	off := event.Event{Kind: event.Off, Detail: event.DetailTraceOn}
	on := func(ip uint64) event.Event {
		return event.Event{Kind: event.Enable, Flags: event.FlagIP | event.FlagMode, Mode: uint8(isa.ModeA64), IP: ip}
	}
	for _, c := range []struct {
		name, want string
		rules      isa.Rules
		evs        []event.Event
	}{
		{"off and on again: nothing ran behind the last outcome", "0 4 40 44", silent, []event.Event{
			syncA64(0x1000), bits("n"), off, on(0x1040), syncA64(0x1048)}},
		{"off where the target would stand", "14 18 40", silent, []event.Event{
			syncA64(0x1014), bits("t"), off, on(0x1040), syncA64(0x1044)}},
		{"off twice, and first of all", "40", silent, []event.Event{off, off, on(0x1040), syncA64(0x1044)}},
		{"an exception where the flow stands", "0 4 40", silent, []event.Event{
			syncA64(0x1000), bits("n"), here, syncA64(0x1044)}},
		{"an exception whose destination comes later", "0 40", silent, []event.Event{
			syncA64(0x1000), nowhere, {Kind: event.Context, Detail: event.DetailPE}, to(0x1040), syncA64(0x1044)}},
		{"or not at all", "0 40", silent, []event.Event{syncA64(0x1000), nowhere, off, on(0x1040), syncA64(0x1044)}},
		{"bytes that are no packet in its place", "0? gap:bad-packet 40", silent, []event.Event{
			syncA64(0x1000), nowhere, {Kind: event.Payload}, {Kind: event.Trouble, Reason: event.BadPacket}, off, on(0x1040), syncA64(0x1044)}},
		{"outcomes of code that no address was stated for", "0 gap:no-address 40", silent, []event.Event{
			syncA64(0x1000), nowhere, bits("n"), to(0x1040), syncA64(0x1044)}},
		{"branches before an exception's source spend no outcome", "0 4 8 c 40", silent, []event.Event{
			syncA64(0x1000), async(0x1010, 0x1040), syncA64(0x1044)}},
		{"unless every one does", "gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1000), async(0x1010, 0x1040), syncA64(0x1044)}},
		{"a source that is the last instruction", "0 4 40", silent, []event.Event{
			syncA64(0x1000), bits("n"), async(0x1004, 0x1040), syncA64(0x1044)}},
		{"a source behind the flow", "0? 4? 40", silent, []event.Event{
			syncA64(0x1000), bits("n"), async(0x1000, 0x1040), syncA64(0x1044)}},
		{"a source inside an instruction", "0 40", silent, []event.Event{
			syncA64(0x1000), async(0x1002, 0x1040), syncA64(0x1044)}},
		{"straight on, up to a branch that was taken", "0 4 8 c 14", silent, []event.Event{
			syncA64(0x1000), reach(0x100c, event.FlagTaken), syncA64(0x1018)}},
		{"up to a branch, taken or not: it is not said", "0 4 8 c 10 4", silent, []event.Event{
			syncA64(0x1000), reach(0x100c, 0), bits("tn"), syncA64(0x1008)}},
		{"over a branch, where each has an outcome", "gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1000), reach(0x1008, 0), to(0x1040), syncA64(0x1044)}},
		{"up to a branch, where each has an outcome", "gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1000), reach(0x1004, 0), to(0x1040), syncA64(0x1044)}},
		{"up to an instruction inside a block", "0 4", silent, []event.Event{
			syncA64(0x1000), reach(0x1000, 0), bits("n"), syncA64(0x1008)}},
		{"a taken branch that is none", "0? 4? gap:mismatch 40", silent, []event.Event{
			syncA64(0x1000), reach(0x1008, event.FlagTaken), to(0x1040), syncA64(0x1044)}},
		{"a taken branch that is a system call", "gap:mismatch 6c", silent, []event.Event{
			syncA64(0x1060), reach(0x1064, event.FlagTaken), syncA64(0x106c), syncA64(0x1070)}},
		{"straight on through a branch that has no condition", "0? 4? 8? c? gap:mismatch 40", silent, []event.Event{
			syncA64(0x1000), reach(0x1014, 0), to(0x1040), syncA64(0x1044)}},
		{"the same before an exception's source", "0? 4? 8? c? gap:mismatch 40", silent, []event.Event{
			syncA64(0x1000), async(0x1014, 0x1040), syncA64(0x1044)}},
		{"an address behind the flow", "gap:mismatch 40", silent, []event.Event{
			syncA64(0x1004), reach(0x1000, 0), to(0x1040), syncA64(0x1044)}},
		{"an indirect branch, to its target", "14 18 40", silent, []event.Event{
			syncA64(0x1014), reach(0x1018, event.FlagTaken), to(0x1040), syncA64(0x1044)}},
		{"so many instructions in a row", "40 44 48", silent, []event.Event{
			syncA64(0x1040), quiet(2, 0x1048), syncA64(0x104c)}},
		{"which do not lead to where it goes on", "gap:no-path 14", silent, []event.Event{
			syncA64(0x1040), quiet(2, 0x1014), syncA64(0x1018)}},
		{"the last of them a branch", "40 44 48 4c 14", silent, []event.Event{
			syncA64(0x1040), quiet(4, 0x1014), syncA64(0x1018)}},
		{"over branches, one way only", "0 4 8 c 14", silent, []event.Event{
			syncA64(0x1000), quiet(4, 0x1014), syncA64(0x1018)}},
		{"over branches, two ways as long", "80 gap:no-path 40", silent, []event.Event{
			syncA64(0x1080), quiet(3, 0x108c), async(0x108c, 0x1040), syncA64(0x1044)}},
		{"over branches, two ways that meet again", "90 gap:no-path a4 a8 40", silent, []event.Event{
			syncA64(0x1090), quiet(5, 0x1040), syncA64(0x1044)}},
		{"one of which leads elsewhere", "90 94 40", silent, []event.Event{
			syncA64(0x1090), quiet(2, 0x1098), async(0x1098, 0x1040), syncA64(0x1044)}},
		{"over a branch that leads anywhere", "40 44 48 4c gap:no-path 14", silent, []event.Event{
			syncA64(0x1040), quiet(6, 0x1014), syncA64(0x1018)}},
		{"over more ways than are looked at", "0 4 gap:no-path 14", silent, []event.Event{
			syncA64(0x1000), quiet(1<<40, 0x1014), syncA64(0x1018)}},
		{"and on from there", "40? 44? 48? 4c? gap:mismatch 14", silent, []event.Event{
			syncA64(0x1040), {Kind: event.Quiet, Flags: event.FlagCount, Value: 2}, bits("t"), syncA64(0x1014), syncA64(0x1018)}},
		{"not so many", "gap:no-path 14", silent, []event.Event{
			syncA64(0x1040), {Kind: event.Quiet, Flags: event.FlagIP, IP: 0x1014}, syncA64(0x1018)}},
		{"a target that says where the flow is", "0 4 8", silent, []event.Event{
			syncA64(0x1000), bits("n"), to(0x1008), syncA64(0x100c)}},
		{"and one that says it is elsewhere", "0? 4? gap:mismatch 40", silent, []event.Event{
			syncA64(0x1000), bits("n"), to(0x1040), syncA64(0x1044)}},
		{"a call's own return address foretells its target", "30 34 38 34", silent, []event.Event{
			syncA64(0x1030), bits("tt"), to(0x1034), syncA64(0x1038)}},
		{"or it does not", "30 40 44 48 4c 34", first, []event.Event{
			syncA64(0x1030), bits("t"), to(0x1040), bits("t"), syncA64(0x1034), syncA64(0x1038)}},
		{"where it takes the one below", "30? gap:mismatch 34", first, []event.Event{
			syncA64(0x1030), bits("tt"), to(0x1034), syncA64(0x1038)}},
	} {
		if got := walkArm(t, &text, c.rules, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestReachRewritten would catch a walk that lets a source address refute its
// own branch while that branch is being written. It would also catch a walk
// that has the flow go straight on over a branch without a condition.
func TestReachRewritten(t *testing.T) {
	reach := func(ip uint64, f event.Flags) event.Event {
		return at(10, 300, event.Event{Kind: event.Reach, Flags: event.FlagIP | f, IP: ip})
	}
	for _, c := range []struct {
		name, want string
		jump       uint32
		evs        []event.Event
	}{
		{"up to the branch, taken", "0 4t", 0x14000003, []event.Event{reach(0x1004, event.FlagTaken), at(300, 300, syncA64(0x1010))}},
		{"straight on, up to one behind it", "0 4t 8", 0x14000003, []event.Event{reach(0x1008, event.FlagTaken), at(300, 300, syncA64(0x1000))}},
		{"straight on over what may be a conditional one", "0 4? 8t", 0x54000060, []event.Event{reach(0x1008, event.FlagTaken), at(300, 300, syncA64(0x1000))}},
	} {
		x := &liveText{testText: codeA64(map[int][]uint32{0x00: {nopA64, nopA64, 0x17fffffe}, 0x10: {nopA64, retA64}}), begin: 90, end: 200} // nop; nop; b 0
		x.pokes = []testPoke{{addr: 0x1004, old: words(nopA64), new: words(c.jump), time: 100}}
		rules := liveRules
		rules.SilentBranches = true
		if got := walkArm(t, x, rules, append([]event.Event{at(10, 10, syncA64(0x1000))}, c.evs...)...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestEveryInsn would catch a walk that spends outcomes as ETMv3 does not: there
// each instruction has one, and one that fails its condition is passed over. The outcome
// of one that traps comes before its exception, and that is none of an interrupt.
// ETMv3 (IHI0014), "Instruction tracing".
func TestEveryInsn(t *testing.T) {
	text := codeA64(map[int][]uint32{0x00: {nopA64, 0xb4000060, nopA64, svcA64, 0x94000004}, 0x20: {nopA64, retA64}, 0x40: {nopA64, nopA64}, 0x60: {nopA64, 0xd4200000}})
	rules := isa.Rules{Waypoints: ^isa.ClassSet(0), AlwaysConditional: 1 << isa.ModeA64}
	here := event.Event{Kind: event.Async, Flags: event.FlagIP | event.FlagHere, IP: 0x1040, Detail: event.DetailException}
	got := walkArm(t, &text, rules, syncA64(0x1000), bits("tnntttt"), to(0x1040), bits("t"), here, bits("nt"), syncA64(0x1048))
	if want := "0 4 8 c 10 20 24 40 40 44"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for flag, want := range map[event.Flags]string{0: "60 64 40", event.FlagBreak: "60 64 trap:68/-1 40", event.FlagIntr: "60? gap:mismatch 40"} {
		e := here
		e.Flags |= flag
		if got := walkArm(t, &text, rules, syncA64(0x1060), bits("tt"), e, bits("t"), syncA64(0x1044)); got != want {
			t.Errorf("a breakpoint, the exception's flags %b: got %s, want %s", flag, got, want)
		}
	}
}

// TestGoesOn would catch a walk that goes on over code that cannot be what ran,
// and takes what it finds as certain. It would catch one that gives up there,
// tells of it more than once, or trusts a return address from meanwhile. It
// would also catch one that goes on although the rules do not say so.
func TestGoesOn(t *testing.T) {
	text := codeA64(map[int][]uint32{
		0x00: {nopA64, 0x17ffffff, 0x94000006, nopA64, nopA64}, // nop; b 0; bl 0x20; nop; nop
		0x20: {nopA64, retA64, nopA64, 0, retA64},
		0x40: {nopA64, retA64},
	})
	rules := armRules
	rules.SilentBranches, rules.StraightOnReserved = true, 1<<isa.ModeA64
	for _, c := range []struct {
		name, want string
		rules      isa.Rules
		evs        []event.Event
	}{
		{"a branch without a condition that was not taken", "gap:reserved-outcome 0? 4? 8? 20? 24? 40", rules, []event.Event{
			syncA64(0x1000), bits("ntt"), to(0x1040), syncA64(0x1044)}},
		{"a return address from behind it", "gap:reserved-outcome 0? 4? 8? 20? 24? 8 20 24 c 10", rules, []event.Event{
			syncA64(0x1000), bits("ntt"), to(0x1008), bits("tt"), syncA64(0x1010), syncA64(0x1014)}},
		{"one from meanwhile", "gap:reserved-outcome 0? 4? 8? 20? 24? 40 44 c? 10?", rules, []event.Event{
			syncA64(0x1000), bits("ntt"), to(0x1040), bits("t"), syncA64(0x1014), syncA64(0x1014)}},
		{"one from meanwhile that is left", "gap:reserved-outcome 0? 4? 8? 20? 40 44 c?", rules, []event.Event{
			syncA64(0x1000), bits("nt"), async(0x1024, 0x1040), bits("t"), syncA64(0x1010)}},
		{"an instruction that always traps and did not", "gap:reserved-outcome 28? 2c? 30? 40", rules, []event.Event{
			syncA64(0x1028), bits("t"), to(0x1040), syncA64(0x1044)}},
		{"not where the rules do not say so", "gap:mismatch 40", armRules, []event.Event{
			syncA64(0x1000), bits("ntt"), to(0x1040), syncA64(0x1044)}},
	} {
		if got := walkArm(t, &text, c.rules, c.evs...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
