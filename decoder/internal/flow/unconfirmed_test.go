package flow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// confirmText is code for the tests of what confirms a flow.
func confirmText() *testText {
	b := []byte(strings.Repeat("\x90", 0x70))
	for at, code := range map[int]string{
		0x00: "\x75\x02",             // jne 4
		0x04: "\x75\x02",             // jne 8
		0x08: "\xeb\x06",             // jmp 10
		0x10: "\xff\xe0",             // jmp *%rax
		0x20: "\x06",                 // no instruction
		0x28: "\xeb\xfe",             // jmp 28
		0x30: "\x75\x02",             // jne 34
		0x38: "\x75\x26",             // jne 60
		0x40: "\xff\xd0",             // call *%rax
		0x50: "\xc3",                 // ret
		0x60: "\x48\xcf",             // iretq
		0x68: "\xe8\xe3\xff\xff\xff", // call 50
	} {
		copy(b[at:], code)
	}
	return &testText{addr: 0x1000, bytes: b}
}

// impossible is an event that contradicts any flow that is on: tracing starts, at ip.
func impossible(ip uint64) event.Event {
	return event.Event{Kind: event.Enable, Flags: event.FlagIP, IP: ip}
}

// off is the end of tracing; ip 0: it states no address.
func off(ip uint64) event.Event {
	e := event.Event{Kind: event.Disable, IP: ip}
	if ip != 0 {
		e.Flags = event.FlagIP
	}
	return e
}

// TestConfirms would catch an event that confirms a flow and is not taken for one, and
// one that says nothing of what lay before it and is. It would also catch a reason of a
// gap that is taken for a contradiction, or is not. Each flow ends in a gap, before which
// a ? marks what is in doubt.
func TestConfirms(t *testing.T) {
	restated := syncAt(0x1003)
	restated.Flags |= event.FlagRestated
	status := event.Event{Kind: event.Status, Flags: event.FlagIP, IP: 0x1003}
	left := event.Event{Kind: event.AsyncDisable, From: 0x1003}
	here := async(0, 0x1030)
	here.Flags |= event.FlagHere
	trouble := event.Event{Kind: event.Trouble, Reason: event.BadPacket}
	cut := event.Event{Kind: event.Trouble, Reason: event.Truncated}
	overflow := event.Event{Kind: event.Overflow, Flags: event.FlagIP, IP: 0x1070 - 1}
	stop := impossible(0x1072 - 3) // lands before the code ends
	for _, c := range []struct {
		what string
		want string
		evs  []event.Event
	}{
		{"nothing", "0? 2? 3? 4? gap:mismatch", []event.Event{syncAt(0x1000), bits("nn"), stop}},
		{"an interrupt", "0 2 30? gap:mismatch", []event.Event{syncAt(0x1000), bits("n"), async(0x1003, 0x1030), bits("n"), stop}},
		{"an interrupt from nowhere", "0? 30? gap:mismatch", []event.Event{syncAt(0x1000), bits("n"), here, bits("n"), stop}},
		{"an interrupt straight on from a target", "0? 4? 8? 10? 21? 30? gap:mismatch",
			[]event.Event{syncAt(0x1000), bits("tt"), to(0x1021), async(0x1022, 0x1030), bits("n"), stop}},
		{"an interrupt straight on from a target, on the way to a condition", "0? 4? 8? 10? 2? 30? gap:mismatch",
			[]event.Event{syncAt(0x1000), bits("tt"), to(0x1002), async(0x1003, 0x1030), bits("n"), stop}},
		{"a sync point", "0 2 3? 4? gap:mismatch", []event.Event{syncAt(0x1000), bits("n"), restated, bits("n"), stop}},
		{"a payload's place", "0 2 3? 4? gap:mismatch", []event.Event{syncAt(0x1000), bits("n"), status, bits("n"), stop}},
		{"tracing ends at an interrupt", "0 2 30? gap:mismatch", []event.Event{syncAt(0x1000), bits("n"), left, impossible(0x1030), bits("n"), stop}},
		{"tracing ends at a direct branch", "0 2 3 4 30? gap:mismatch", []event.Event{syncAt(0x1000), bits("n"), off(0x1008), impossible(0x1030), bits("n"), stop}},
		{"tracing ends at an indirect branch", "0? 4? 8? 10? 30? gap:mismatch", []event.Event{syncAt(0x1000), bits("tt"), off(0x1ff8), impossible(0x1030), bits("n"), stop}},
		{"and comes back behind a call", "40 42? 30? gap:mismatch", []event.Event{syncAt(0x1040), off(0), impossible(0x1042), async(0x1043, 0x1030), bits("n"), stop}},
		{"and comes back elsewhere", "40? 30? gap:mismatch", []event.Event{syncAt(0x1040), off(0), impossible(0x1030), bits("n"), stop}},
		{"a return from an exception", "0 2 38 60 3? 4? gap:mismatch",
			[]event.Event{syncAt(0x1000), bits("n"), async(0x1003, 0x1038), bits("t"), to(0x1003), bits("n"), stop}},
		{"a return from an exception, to elsewhere", "0 2 38? 60? 30? gap:mismatch",
			[]event.Event{syncAt(0x1000), bits("n"), async(0x1003, 0x1038), bits("t"), to(0x1030), bits("n"), stop}},
		{"a return from an exception of before the sync point", "38? 60? 30? gap:mismatch", []event.Event{syncAt(0x1038), bits("t"), to(0x1030), bits("n"), stop}},
		{"a return from an exception, straight on from a target", "0? 4? 8? 10? 60? 30? gap:mismatch",
			[]event.Event{syncAt(0x1000), bits("tt"), to(0x1060), to(0x1030), bits("n"), stop}},
		{"a return", "50? 30? gap:mismatch", []event.Event{syncAt(0x1050), to(0x1030), bits("n"), stop}},

		{"no instruction", "0? 4? 8? 10? gap:bad-insn", []event.Event{syncAt(0x1000), bits("tt"), to(0x1020), to(0x106f)}},
		{"round and round", "0? 4? 8? 10? gap:loop", []event.Event{syncAt(0x1000), bits("tt"), to(0x1028), to(0x106f)}},
		{"no code, that the flow came to", "0? 4? 8? 10? 6f? gap:no-text", []event.Event{syncAt(0x1000), bits("tt"), to(0x106f), to(0x1000)}},
		{"no code, that the trace states", "0 4 8 10 gap:no-text", []event.Event{syncAt(0x1000), bits("tt"), to(0x1070), to(0x1000)}},
		{"no code, that the trace states later", "0 4 8 10 gap:no-text", []event.Event{syncAt(0x1000), bits("tt"), to(0x1070), {Kind: event.Payload}, to(0x1000)}},
		{"the unit dropped packets", "0 2 3 4 gap:overflow", []event.Event{syncAt(0x1000), bits("nn"), overflow}},
		{"a packet out of place", "0? 2? 3? 4? gap:bad-packet", []event.Event{syncAt(0x1000), bits("nn"), trouble}},
		{"a packet out of place, behind an interrupt", "0 2 30? gap:bad-packet", []event.Event{syncAt(0x1000), bits("n"), async(0x1003, 0x1030), bits("n"), trouble}},
		{"a packet out of place, where tracing was said to end", "0? 4? 8? 10? gap:bad-packet", []event.Event{syncAt(0x1000), bits("tt"), off(0), trouble}},
		{"a packet out of place, where the flow is lost", "0? 4? 8? 10? gap:no-text", []event.Event{syncAt(0x1000), bits("tt"), to(0x1070), bits("t"), trouble}},
		{"a packet cut short by the end", "0 2 3 4 gap:truncated", []event.Event{syncAt(0x1000), bits("nn"), cut}},
		{"the end", "0 2 3 4", []event.Event{syncAt(0x1000), bits("nn"), {Kind: event.End}}},
	} {
		got := walk(t, confirmText(), c.evs...)
		if c.what == "round and round" { // so many rounds that nobody counts them
			got = strings.ReplaceAll(got, "28? ", "")
		}
		if i := strings.Index(got, "gap:"); i >= 0 {
			got = got[:i+strings.IndexByte(got[i:]+" ", ' ')]
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

// TestConfirmsEach would catch an interrupt that confirms a flow because of an outcome that can be but one, where each
// branch spends one.
func TestConfirmsEach(t *testing.T) {
	for _, c := range []struct {
		what, want string
		from       uint64
		outcomes   string
	}{
		{"a jump", "8? 30? gap:mismatch", 0x1008, "t"},
		{"a branch, and a jump", "4 8 30? gap:mismatch", 0x1004, "tt"},
	} {
		var p prints
		w := NewWalker(confirmText(), NewCache(), Config{ISA: x86.Decoder{}, Rules: armRules, Mode: isa.Mode64})
		evs := events{syncAt(c.from), bits(c.outcomes), async(0x1010, 0x1030), bits("n"), impossible(0x106f)}
		if err := w.Run(&evs, &p); err != nil {
			t.Fatal(err)
		}
		if got := p.String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

// TestDoubtGoesBack would catch doubt that goes back over more stated targets than it
// says, or over fewer. A return that an outcome tells of is none.
func TestDoubtGoesBack(t *testing.T) {
	stop := impossible(0x106f)
	six := []event.Event{to(0x1010), to(0x1010), to(0x1010), to(0x1010), to(0x1010), to(0x1010)}
	for _, c := range []struct {
		what, want string
		evs        []event.Event
	}{
		{"over stated targets, of which the last does not count", "10 10 10? 10? 10? 10? gap:mismatch", append(append([]event.Event{syncAt(0x1010)}, six...), stop)},
		{"over a return, which may not have been stated", "40 10 10 10 10? 10? 10? 50? 42? 43? gap:mismatch",
			append(append([]event.Event{syncAt(0x1040)}, six...), to(0x1050), bits("t"), event.Event{Kind: event.Status, Flags: event.FlagIP, IP: 0x1044}, stop)},
		{"over stated targets, of which the one that came late is none", "10 10 10 10? 10? 10? 10? 30? 32? 33? gap:mismatch",
			append(append([]event.Event{syncAt(0x1010)}, six...), bits("n"), to(0x1030), event.Event{Kind: event.Status, Flags: event.FlagIP, IP: 0x1034}, stop)},
		{"a call that did not return", "40 10 10 10? 10? 10? 10? gap:mismatch", append(append([]event.Event{syncAt(0x1040)}, six...), to(0x1010), stop)},
	} {
		got := walk(t, confirmText(), c.evs...)
		if i := strings.Index(got, "gap:"); i >= 0 {
			got = got[:i+strings.IndexByte(got[i:]+" ", ' ')]
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

// TestReturnUnseen would catch a return from an exception that confirms a flow which is contradicted at once behind
// it. The flow had not come by itself to where the exception came from. It would also catch one that is left in
// doubt where the flow went on.
func TestReturnUnseen(t *testing.T) {
	stop := impossible(0x106f)
	for _, c := range []struct {
		what, want string
		evs        []event.Event
	}{
		{"it came while the flow was lost", "gap:mismatch 38? 60? gap:mismatch", []event.Event{async(0x1010, 0x1038), bits("t"), to(0x1010), stop}},
		{"and no target counts behind it", "gap:mismatch 38? 60? 10? gap:mismatch", []event.Event{async(0x1010, 0x1038), bits("t"), to(0x1010), to(0x1010), stop}},
		{"and the flow went on", "gap:mismatch 38 60 10? 10? gap:mismatch", []event.Event{async(0x1010, 0x1038), bits("t"), to(0x1010), to(0x1010), to(0x1010), stop}},
		{"it came straight on from where the flow was taken up", "gap:mismatch 21? 38? 60? gap:mismatch",
			[]event.Event{to(0x1021), async(0x1022, 0x1038), bits("t"), to(0x1022), stop}},
		{"and much lies between", "gap:mismatch 38 30 38 60 gap:mismatch",
			[]event.Event{async(0x1010, 0x1038), bits("t"), async(0x1060, 0x1030), bits("n"), async(0x1032, 0x1038), bits("t"), to(0x1010), stop}},
		{"the flow had come there by itself", "gap:mismatch 30 32 38 60 gap:mismatch",
			[]event.Event{to(0x1030), bits("n"), async(0x1033, 0x1038), bits("t"), to(0x1033), stop}},
	} {
		got := walk(t, confirmText(), append([]event.Event{syncAt(0x1000)}, c.evs...)...)
		if i := strings.LastIndex(got, "gap:"); i >= 0 {
			got = got[:i+strings.IndexByte(got[i:]+" ", ' ')]
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
	var p prints
	w := NewWalker(confirmText(), NewCache(), Config{ISA: x86.Decoder{}, Rules: armRules, Mode: isa.Mode64})
	evs := events{syncAt(0x1000), async(0x1010, 0x1038), bits("tt"), to(0x1010), stop}
	if err := w.Run(&evs, &p); err != nil {
		t.Fatal(err)
	}
	if got, want := p.String(), "gap:mismatch 38? 60? gap:mismatch"; !strings.HasPrefix(got, want) {
		t.Errorf("each branch spends an outcome:\n got %s\nwant %s", got, want)
	}
}

// TestDoubtBeforeWindow would catch flow that stays certain though it led to cuts which were all refuted,
// because these came to stated targets on their way. It would also catch doubt that goes as far where each
// branch spends an outcome.
func TestDoubtBeforeWindow(t *testing.T) {
	text := confirmText()
	text.pokes = []testPoke{{addr: 0x1008, old: "\xeb\x06", new: "\xeb\x26", time: 100}} // jmp 10; jmp 30
	copy(text.bytes[0x30:], "\xff\xe0")                                                  // jmp *%rax
	for name, c := range map[string]struct {
		rules isa.Rules
		want  string
	}{
		"some branches": {testWalker(text).exec.cfg.Rules, "0? 4? 8? 10? 10? 10? 10? 10? 10? gap:mismatch"},
		"each branch":   {armRules, "0 4 8? 10? 10? 10? 10? 10? 10? gap:mismatch"},
	} {
		each := c.rules.Waypoints.Has(isa.JumpInd)
		evs := events{at(10, 10, syncAt(0x1000)), at(10, 200, bits("tt"))}
		if each {
			evs = append(evs, at(10, 200, bits("t")))
		}
		for range 6 {
			if each {
				evs = append(evs, at(10, 200, bits("t")))
			}
			evs = append(evs, at(10, 200, to(0x1010)))
		}
		evs = append(evs, at(10, 200, impossible(0x106f)))
		var p prints
		w := NewWalker(text, NewCache(), Config{ISA: x86.Decoder{}, Rules: c.rules, Mode: isa.Mode64})
		if err := w.Run(&evs, &p); err != nil {
			t.Fatal(err)
		}
		if got := p.String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s spends an outcome:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestDoubtOverStack would catch indirect branches that count as stated targets, over which doubt does not go back,
// though the return stack said where they led. The walk is fast there and careful.
func TestDoubtOverStack(t *testing.T) {
	rules := armRules
	rules.Returns = isa.ReturnsByOutcome
	for name, c := range map[string]struct{ text, round string }{
		"a call": {"\xff\xd0\xeb\xfc", "0 2"},                                                         // call *%rax; jmp 0
		"a jump": {"\xe8\x0b\x00\x00\x00\xeb\xf9" + strings.Repeat("\xcc", 9) + "\xff\xe0", "0 10 5"}, // call 10; jmp 0; ...; jmp *%rax
	} {
		n := len(strings.Fields(c.round))
		for _, stated := range []bool{false, true} {
			for _, careful := range []bool{false, true} {
				evs := events{syncAt(0x1000)}
				for range 8 {
					evs = append(evs, bits(strings.Repeat("t", n)))
					if stated {
						evs[len(evs)-1] = bits(strings.Repeat("t", n-1))
						evs = append(evs, to(0x1000+uint64(3*n-4)), bits("t"))
					}
				}
				evs = append(evs, impossible(0x1003))
				w := NewWalker(code(map[int]string{0: c.text}), NewCache(), Config{ISA: x86.Decoder{}, Rules: rules, Mode: isa.Mode64})
				w.careful = careful
				var p prints
				if err := w.Run(&evs, &p); err != nil {
					t.Fatal(err)
				}
				sure := 0
				if stated { // up to the fourth of the last targets
					sure = 5*n - 1
				}
				want := ""
				for i, ip := range strings.Fields(strings.Repeat(c.round+" ", 8)) {
					if want += ip; i >= sure {
						want += "?"
					}
					want += " "
				}
				if got := p.String(); !strings.HasPrefix(got, want+"gap") {
					t.Errorf("%s, stated %v, careful %v:\n got %s\nwant %sgap", name, stated, careful, got, want)
				}
			}
		}
	}
}

// TestDoubtOverBytes would catch flow that is sure where packets directly before damaged bytes led
// it, or doubt that goes back over packets far before them.
func TestDoubtOverBytes(t *testing.T) {
	at := func(off int64, e event.Event) event.Event {
		e.Off = off
		return e
	}
	const far = 1000
	for _, c := range []struct {
		what, want string
		evs        []event.Event
	}{
		{"near packets", "0? 4? 8? 10? gap:bad-packet",
			[]event.Event{at(0, syncAt(0x1000)), at(far-1, bits("t")), at(far, bits("t")), at(far+1, to(0x1030)), at(far+damaged, event.Event{Kind: event.Trouble})}},
		{"a near packet, and what the one before it led to", "0 4? 8? 10? 30? gap:bad-packet",
			[]event.Event{at(0, syncAt(0x1000)), at(8, bits("t")), at(16, bits("t")), at(far, to(0x1030)), at(far+1, bits("n")), at(far+damaged, event.Event{Kind: event.Trouble})}},
		{"only far ones, of which the last led on", "0 4 8 10 30? gap:bad-packet",
			[]event.Event{at(0, syncAt(0x1000)), at(8, bits("t")), at(16, bits("t")), at(far, to(0x1030)), at(far+1, bits("n")), at(far+damaged+2, event.Event{Kind: event.Trouble})}},
		{"near packets, where a segment ends", "0? 4? 8? 10?",
			[]event.Event{at(0, syncAt(0x1000)), at(far-1, bits("t")), at(far, bits("t")), at(far+1, to(0x1030)), at(far+damaged, end())}},
		{"only far ones, of which the last led on, where a segment ends", "0 4? 8? 10?",
			[]event.Event{at(0, syncAt(0x1000)), at(8, bits("t")), at(16, bits("t")), at(24, to(0x1030)), at(far, end())}},
		{"near packets, behind which tracing is off, where a segment ends", "0? 4? 8? 10?",
			[]event.Event{at(0, syncAt(0x1000)), at(far-1, bits("t")), at(far, bits("t")), at(far+1, off(0)), at(far+damaged, end())}},
		{"near packets, behind which the flow is lost", "0? 4? 8? 10? gap:no-text",
			[]event.Event{at(0, syncAt(0x1000)), at(far-1, bits("t")), at(far, bits("t")), at(far+1, to(0x9000)), at(far+2, bits("t")), at(far+damaged, event.Event{Kind: event.Trouble})}},
		{"only far ones, behind which the flow is lost", "0 4? 8? 10? gap:no-text",
			[]event.Event{at(0, syncAt(0x1000)), at(8, bits("t")), at(16, bits("t")), at(24, to(0x9000)), at(far-1, bits("t")), at(far, event.Event{Kind: event.Trouble})}},
		{"near packets, behind which the flow is lost, where a segment ends", "0? 4? 8? 10? gap:no-text",
			[]event.Event{at(0, syncAt(0x1000)), at(far-1, bits("t")), at(far, bits("t")), at(far+1, to(0x9000)), at(far+2, bits("t")), at(far+damaged, end())}},
		{"an interrupt between", "0 2 30? gap:bad-packet",
			[]event.Event{at(far, syncAt(0x1000)), at(far+1, bits("n")), at(far+2, async(0x1003, 0x1030)), at(far+3, bits("n")), at(far+4, event.Event{Kind: event.Trouble})}},
		{"more near packets than stated targets count", "10 10 10? 10? 10? 10? gap:bad-packet",
			[]event.Event{at(0, syncAt(0x1010)), at(8, to(0x1010)), at(16, to(0x1010)), at(far+3, to(0x1010)), at(far+4, to(0x1010)), at(far+5, to(0x1010)), at(far+6, to(0x1010)), at(far+7, event.Event{Kind: event.Trouble})}},
	} {
		evs := append([]event.Event(nil), c.evs...)
		last := &evs[len(evs)-1]
		last.Reason, last.Flags = event.BadPacket, event.FlagNoPacket
		got := walk(t, confirmText(), evs...)
		if i := strings.Index(got, "gap:"); i >= 0 {
			got = got[:i+strings.IndexByte(got[i:]+" ", ' ')]
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

// TestUnconfirmedBound would catch flow that is held without a bound, that is handed on as
// if it were confirmed, or that is cut otherwise where batches are.
func TestUnconfirmedBound(t *testing.T) {
	text := &testText{addr: 0x1000, bytes: []byte("\x75\xfe\x90\x90\x75\xfe\x90\x90\x90")} // jne 0; nop; nop; jne 4
	const rounds, most = 40 * 64, 1000
	for _, c := range []struct {
		what string
		last event.Event
		want string
	}{
		{"confirmed", async(0x1003, 0x1006), fmt.Sprintf("%d certain, %d unconfirmed", most-noteSize+2, rounds+2-most+noteSize)},
		{"contradicted", impossible(0x1006), fmt.Sprintf("2 certain, %d unconfirmed, %d ambiguous", rounds+1-most, most)},
		{"over", event.Event{Kind: event.End}, fmt.Sprintf("%d certain, %d unconfirmed", most, rounds+1-most)},
	} {
		w := testWalker(text)
		w.exec.out.wait.most = most
		for range 4 { // paths cut batches otherwise each time
			src := events{syncAt(0x1000)}
			for range rounds / 64 {
				src = append(src, bits(strings.Repeat("t", 64)))
			}
			if src = append(src, bits("n"), c.last); c.last.Kind != event.End {
				src = append(src, async(0x1008, 0x1008), end())
			}
			var n verdicts
			held := 0
			err := w.Run(&src, sinkFunc(func(b *Batch) error {
				for _, r := range b.Ranges {
					n[r.Verdict] += int(r.N)
				}
				sum := 0
				for _, h := range w.exec.out.wait.held {
					if h.Batch != nil {
						sum += len(h.Ranges)
					}
				}
				held = max(held, sum)
				return nil
			}))
			var got []string
			for v, k := range n {
				if k > 0 { // the surest first
					got = append(got, fmt.Sprintf("%d %s", k, Verdict(v)))
				}
			}
			if s := strings.Join(got, ", "); err != nil || held > most+2*batchRanges {
				t.Errorf("%s: %v, %d ranges held", c.what, err, held)
			} else if s != c.want {
				t.Errorf("%s: %s, want %s", c.what, s, c.want)
			}
		}
	}
}

// TestContradicted would catch a stretch that is told twice, or as confirmed though it is
// in doubt, and doubt that does not say where it begins. It would also catch a walk
// that goes on though who asks wants no more. Damage of the trace is not to be told as if the
// code were wrong, and each gap is to be told.
func TestContradicted(t *testing.T) {
	var told []string
	cfg := testWalker(nil).exec.cfg
	addrs := func(rs []Range) (s string) {
		for _, r := range rs {
			s += fmt.Sprintf(" %x", r.Block.Addr-0x1000)
		}
		return s
	}
	stop := errors.New("enough is known")
	var ends error // the walk, at a contradiction
	cfg.Confirmed = func(rs []Range, _ []Stamp) error {
		if told = append(told, "confirmed"+addrs(rs)); len(rs) == 0 {
			told[len(told)-1] = "gap"
		}
		return nil
	}
	cfg.Contradicted = func(c *Contradiction) error {
		s := fmt.Sprintf("%s at %x:", c.Gap.Reason, c.Gap.IP-0x1000)
		for _, p := range c.Stretch {
			s += addrs(p.Ranges)
		}
		told = append(told, s)
		return ends
	}
	w := NewWalker(confirmText(), NewCache(), cfg)
	list := events{syncAt(0x1000), bits("n"), async(0x1003, 0x1010), to(0x1010), to(0x1010), to(0x1010), to(0x1010), to(0x1010), impossible(0x1000), bits("n"), to(0x1010), impossible(0x1000), bits("n"),
		{Kind: event.Trouble, Reason: event.BadPacket, Flags: event.FlagNoPacket}, end()}
	for _, ends = range []error{nil, stop} {
		src := slices.Clone(list)
		told = nil
		if err := w.Run(&src, &prints{}); err != ends {
			t.Errorf("the walk ends with %v, want %v", err, ends)
		}
		want := "confirmed 0 2; confirmed 10; gap; mismatch at 10: 10 10 10 10"
		if ends == nil {
			want += "; gap; mismatch at 2: 0; gap; mismatch at 10:; gap"
		}
		if got := strings.Join(told, "; "); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
}

// TestToldAtEnd would catch a walk that tells less of what is confirmed where its segment ends, because
// more of it lies in one batch. All but what follows the last few stated targets is to be told.
func TestToldAtEnd(t *testing.T) {
	for _, n := range []int{10, batchRanges - 1, batchRanges + 1, 3 * batchRanges} {
		told := 0
		cfg := testWalker(nil).exec.cfg
		cfg.Confirmed = func(rs []Range, _ []Stamp) error {
			told += len(rs)
			return nil
		}
		list := events{syncAt(0x1010)}
		for range n {
			list = append(list, to(0x1010))
		}
		list = append(list, end())
		if err := NewWalker(confirmText(), NewCache(), cfg).Run(&list, &prints{}); err != nil || told != n-heldBack+1 {
			t.Errorf("%d targets: %d ranges told, %v", n, told, err)
		}
	}
}
