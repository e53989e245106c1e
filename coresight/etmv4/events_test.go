package etmv4

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// appendEvent renders an event in one line, without where it stands.
func appendEvent(dst []byte, e *event.Event) []byte {
	dst = append(dst, e.Kind.String()...)
	if e.Detail != 0 {
		dst = append(append(dst, ':'), e.Detail.String()...)
	}
	if e.Kind == event.Outcomes {
		dst = append(dst, ' ')
		for n := range e.N {
			dst = append(dst, "ne"[e.Value>>(63-n)&1])
		}
		return append(dst, '\n')
	}
	if e.Kind == event.Async && e.Flags&event.FlagHere == 0 {
		dst = fmt.Appendf(dst, " from %x", e.From)
	}
	if e.HasIP() {
		dst = fmt.Appendf(dst, " to %x", e.IP)
	}
	if e.Flags&event.FlagMode != 0 {
		dst = append(append(dst, ' '), isa.Mode(e.Mode).String()...)
	}
	for _, f := range []struct {
		flag event.Flags
		name string
	}{
		{event.FlagHere, "here"}, {event.FlagAbort, "abort"}, {event.FlagBreak, "break"}, {event.FlagIntr, "intr"},
		{event.FlagRestated, "restated"}, {event.FlagTaken, "taken"}, {event.FlagCount, "count"},
	} {
		if e.Flags&f.flag != 0 {
			dst = append(append(dst, ' '), f.name...)
		}
	}
	if e.Value != 0 {
		dst = fmt.Appendf(dst, " %x", e.Value)
	}
	if e.Value2 != 0 {
		dst = fmt.Appendf(dst, "/%x", e.Value2)
	}
	if e.Reason != 0 {
		dst = append(append(dst, ' '), e.Reason.String()...)
	}
	return append(dst, '\n')
}

// decodeText returns the events of packets in the text form, behind what a
// stream begins with, a line each, without what that makes.
func decodeText(t *testing.T, unit, text string) string {
	t.Helper()
	c := Config{Trace: testUnit(unit)}
	buf, err := Assemble(c.Trace, nil, "async\ninfo 0x0\non\n"+strings.ReplaceAll(text, ";", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	seg := event.Segment{Buf: buf, End: int64(len(buf)), Last: true, Starts: true}
	checkDecoder(t, c, seg)
	s := strings.TrimSuffix(eventsOf(c, []event.Segment{seg}), "end\n")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "sync\noff:no-sync\n"), "off:trace-on\n")
	return strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "; ")
}

// eventsOf returns the events of segments, a line each.
func eventsOf(c Config, segs []event.Segment) string {
	var evs []event.Event
	var e event.Event
	d := NewDecoder(c, event.Segment{})
	for _, g := range segs {
		for d.Reset(g); d.Next(&e); {
			evs = append(evs, e)
		}
	}
	return string(flat(evs))
}

const front64 = "addrctxt.64 0x1000 1 sf ns;"

// TestEvents would catch a packet that means something else, and an event that
// comes too soon, too late or without what stands around it.
func TestEvents(t *testing.T) {
	const enable = "context:pe/10d; enable to 1000 a64; "
	for _, c := range []struct{ name, unit, text, want string }{
		{"atoms side by side are one event", "ete1.3", front64 + "atom.f3 een;atom.f1 e;atom.f6 eeeen",
			enable + "outcomes eeneeeeen"},
		{"a target between them", "ete1.3", front64 + "atom.f1 e;addr.short 1: 0x20;atom.f1 n;addr.match 1;atom.f1 e",
			enable + "outcomes e; target to 1020 a64; outcomes n; target to 1000 a64; outcomes e"},
		{"the last of several holds", "ete1.3", front64 + "atom.f1 e;addr.64 0x2000;addr.short 1: 0x8;event 0x5;atom.f1 e",
			enable + "outcomes e; target to 2008 a64; payload:trace-event 5; outcomes e"},
		{"the context behind the address says the instruction set", "ete1.3", front64 + "atom.f1 e;addr.64 0x2000;context 0;atom.f1 e",
			enable + "outcomes e; target to 2000 a32; context:pe/100; outcomes e"},
		{"the third last one", "ete1.3", front64 + "atom.f1 e;addr.64 0x2000;atom.f1 e;addr.64 0x3000;atom.f1 e;addr.match 2;atom.f1 e;addr.match 2;atom.f1 e",
			enable + "outcomes e; target to 2000 a64; outcomes e; target to 3000 a64; outcomes e; target to 1000 a64; outcomes e; target to 2000 a64; outcomes e"},
		{"the bits that T32's short addresses replace", "etmv4.0", "addrctxt.32 0x18102 is1 1;atom.f1 e;addr.short 1: 0x10 is1;atom.f1 e;addr.short 2: 0x20 is1;atom.f1 e;addr.32 0x40;atom.f1 e",
			"context:pe/101; enable to 18102 t32; outcomes e; target to 18110 t32; outcomes e; target to 10020 t32; outcomes e; target to 40 a32; outcomes e"},
		{"an ID without bytes is none", "etmv4.6", "addrctxt.32 0x1000 is1 0 cid 0: 0x0;atom.f1 e;commit 1", "context:pe/100; enable to 1000 t32; outcomes e"},
		{"T32", "etmv4.0", "addrctxt.32 0x2002 is1 1;atom.f1 e", "context:pe/101; enable to 2002 t32; outcomes e"},
		{"nothing is told without a context", "ete1.3", "addr.64 0x2000;atom.f3 eee;context 1 sf;atom.f1 e;addr.64 0x3000;atom.f1 e",
			"trouble bad-packet; context:pe/105; enable to 3000 a64; outcomes e"},
		{"nor without an address", "ete1.3", "context 1 sf;atom.f1 e;addr.64 0x3000;atom.f1 e",
			"context:pe/105; trouble bad-packet; enable to 3000 a64; outcomes e"},
		{"that is told once", "ete1.3", front64 + "atom.f1 e;on;atom.f1 e;atom.f1 e;src.short 1: 0x20;q 12 count 3;addr.64 0x3000;atom.f1 e",
			enable + "outcomes e; off:trace-on; trouble bad-packet; enable to 3000 a64; outcomes e"},
		{"tracing goes off", "ete1.3", front64 + "atom.f1 e;addr.64 0x2000;on;addr.64 0x3000;atom.f1 n",
			enable + "outcomes e; target to 2000 a64; off:trace-on; enable to 3000 a64; outcomes n"},
		{"an exception waits for where it went", "etmv4.0", front64 + "atom.f1 e;exception 14 e0;addr.64 0x1010;timestamp 1: 0x5;addr.64 0x8000;context 1 sf ns;atom.f1 e;eret;addr.match 1;atom.f1 n",
			enable + "outcomes e; async:exception from 1010 to 8000 a64 intr e; payload:timestamp 5; context:pe/10d; outcomes e; payload:exception-return; target to 1010 a64; outcomes n"},
		{"what says how tracing goes on, and it does not", "etmv4.0", front64 + "atom.f1 e;eret;timestamp 1: 0x5;addr.64 0x2000;on;context 0;timestamp 1: 0x6",
			enable + "outcomes e; payload:timestamp 5; target to 2000 a64; payload:timestamp 6"},
		{"nor behind what is discarded", "etmv4.0", front64 + "atom.f1 e;eret;discard", enable + "outcomes e; off:no-sync"},
		{"and goes without it", "ete1.3", front64 + "exception 6 e0;addr.64 0x1010;atom.f1 e",
			enable + "async:exception from 1010 break 6; outcomes e"},
		{"its address is the branch's target too", "ete1.3", front64 + "atom.f1 e;exception 14 e1;addrctxt.64 0x2000 0 sf;addr.64 0x8000;atom.f1 e",
			enable + "outcomes e; context:pe/104; target to 2000 a64; async:exception from 2000 to 8000 a64 intr e; outcomes e"},
		{"one where nothing was traced", "ete1.3", "context 1 sf;exception 14 e0;addr.64 0x2000;addr.64 0x8000;atom.f1 e",
			"context:pe/105; enable to 2000 a64; async:exception from 2000 to 8000 a64 intr e; outcomes e"},
		{"a PE reset, whose unknown address is the newest", "ete1.3", front64 + "atom.f1 e;exception 0 e0 second 112;addr.short 1: 0x20;atom.f1 n",
			enable + "outcomes e; async:exception to 20 a64 here intr; outcomes n"},
		{"a failed transaction", "ete1.3", front64 + "atom.f1 e;txstart;atom.f1 n;exception 24 e0 second 112;addr.64 0x1004;atom.f1 n",
			enable + "outcomes e; payload:tx-begin; outcomes n; payload:tx-abort; async to 1004 a64 here abort; outcomes n"},
		{"one before anything is traced", "ete1.3", "txstart;" + front64 + "exception 24 e0 second 112;addr.64 0x1004",
			"payload:tx-begin; payload:tx-abort"},
		{"tail chaining", "etmv4.6", "addrctxt.32 0x1000 is1 0;exception 15 e0;addr.32 0xfffffffe is1;addr.32 0x800 is1;atom.f1 e;commit 2",
			"context:pe/100; enable to 1000 t32; async:exception to 800 t32 here intr f; outcomes e"},
		{"Q", "ete1.3", front64 + "q 10 address 0x2000 count 5;atom.f1 e;q 12 count 3;addr.short 1: 0x40;atom.f1 e;q 15;addr.match 0;atom.f1 e",
			enable + "quiet to 2000 a64 count 5; outcomes e; quiet to 2040 a64 count 3; outcomes e; quiet to 2040 a64; outcomes e"},
		{"the context at a Q's address", "ete1.3", front64 + "q 12 count 3;addrctxt.64 0x2000 0;atom.f1 e",
			enable + "quiet to 2000 a32 count 3; context:pe/100; outcomes e"},
		{"source addresses", "ete1.3", front64 + "src.short 1: 0x20;addr.64 0x3000;src.match 0",
			enable + "reach to 1020 taken; target to 3000 a64; reach to 3000 taken"},
		{"software, events, IDs", "ete1.3", "addrctxt.64 0x1000 1 sf vmid 4: 0x2 cid 4: 0x3;atom.f1 e;ite 2 0xabc;event 0x5;context.same",
			"context:pe 200000003/1c5; enable to 1000 a64; outcomes e; payload:instrumentation abc/2; payload:trace-event 5"},
		{"timestamps replace low bits", "ete1.3", front64 + "marker;timestamp 9: 0x1122334455667788;timestamp 2: 0x1;marker;timestamp 1: 0x7f",
			"payload:timestamp-marker; payload:timestamp 1122334455667788; payload:timestamp 1122334455664001; payload:timestamp-marker; payload:timestamp 112233445566407f"},
		{"overflow", "ete1.3", front64 + "atom.f1 e;overflow;atom.f1 e;async;info 0x0;addrctxt.64 0x2000 1 sf;atom.f1 n",
			enable + "outcomes e; overflow; off:no-sync; context:pe/105; enable to 2000 a64; outcomes n"},
		{"bad bytes", "ete1.3", front64 + "atom.f1 e;bad 07;async;info 0x0;addrctxt.64 0x2000 1 sf;atom.f1 n",
			enable + "outcomes e; trouble bad-packet; off:no-sync; context:pe/105; enable to 2000 a64; outcomes n"},
		{"an exception without an address", "ete1.3", front64 + "exception 14 e0;atom.f1 e;async;info 0x0",
			"trouble bad-packet; off:no-sync"},
		{"one whose marker was not seen is only what others count from", "ete1.3", front64 + "timestamp 9: 0x1122334455667788;marker;timestamp 1: 0x7f",
			"payload:timestamp-marker; payload:timestamp 11223344556677ff"},
		{"nor is it behind what was not read", "ete1.3", front64 + "marker;timestamp 1: 0x5;mispredict;async;info 0x0;timestamp 1: 0x6;marker;timestamp 1: 0x7",
			"payload:timestamp-marker; payload:timestamp 5; trouble bad-packet; off:no-sync; payload:timestamp-marker; payload:timestamp 7"},
		{"where the trace unit has no markers each counts", "ete1.0", front64 + "timestamp 1: 0x5", "payload:timestamp 5"},
		{"a Trace Info forgets addresses and timestamps", "ete1.3", front64 + "atom.f1 e;marker;timestamp 9: 0x1122334455667788;info 0x0;addr.short 1: 0x20;timestamp 1: 0x5;atom.f1 n;addr.match 1;atom.f1 e",
			enable + "outcomes e; payload:timestamp-marker; payload:timestamp 1122334455667788; target to 20 a64; payload:timestamp 5; sync to 20 a64 restated; outcomes n; target to 0 a64; outcomes e"},
		{"the return stack that it empties", "ete1.3", front64 + "atom.f1 e;info 0x0;addr.64 0x2000;atom.f1 n;addr.64 0x3000;atom.f1 e",
			enable + "outcomes e; target to 2000 a64; sync to 2000 a64 restated; outcomes n; target to 3000 a64; outcomes e"},
		{"a Trace Info in between", "ete1.3", front64 + "atom.f1 e;async;info 0x8 cyct 16;addrctxt.64 0x2000 1 sf ns;atom.f1 e;cycle.f3 2",
			enable + "outcomes e; context:pe/10d; target to 2000 a64; sync to 2000 a64 restated; outcomes e; payload:cycle-count 12"},
	} {
		if got := decodeText(t, c.unit, c.text); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestSpeculation would catch elements that are told though they were
// cancelled, are not told though they were committed, or that are turned round
// wrongly. DDI0487, "Speculation".
func TestSpeculation(t *testing.T) {
	const enable = "context:pe/10d; enable to 1000 a64; "
	for _, c := range []struct{ name, text, want string }{
		{"nothing without a commit", "atom.f3 eee", ""},
		{"part of a packet", "atom.f3 een;commit 2", enable + "outcomes ee"},
		{"the newest are cancelled", "atom.f3 een;cancel.f1 1;atom.f1 e;commit 3", enable + "outcomes eee"},
		{"with the addresses behind them", "atom.f1 e;addr.64 0x2000;atom.f1 e;addr.64 0x3000;timestamp 1: 0x5;cancel.f1 1;commit 1",
			enable + "outcomes e; target to 2000 a64; payload:timestamp 5"},
		{"a mispredict", "atom.f3 eee;mispredict;commit 3", enable + "outcomes een"},
		{"twice", "atom.f3 eee;mispredict;mispredict;commit 3", enable + "outcomes eee"},
		{"with atoms before it", "mispredict ee;commit 2", enable + "outcomes en"},
		{"its address goes", "atom.f1 e;addr.64 0x2000;mispredict;atom.f1 e;commit 2", enable + "outcomes ne"},
		{"cancel and mispredict", "atom.f3 eee;cancel.f1 1 mispredict;commit 2", enable + "outcomes en"},
		{"cancel.f2", "cancel.f2 ee;commit 1", enable + "outcomes n"},
		{"cancel.f3", "atom.f3 eee;cancel.f3 0 e;commit 2", enable + "outcomes en"},
		{"an exception is cancelled", "atom.f1 e;exception 14 e0;addr.64 0x2000;addr.64 0x8000;atom.f1 e;cancel.f1 2;commit 1",
			enable + "outcomes e"},
		{"beyond the greatest depth they stand", "atom.f6 eeeeeeeeeeeeeeeeeeeeeeee;atom.f6 eeeeeeeeeeeeeeeeeeeeeeee;atom.f6 eeeeeeeeeeeeeeeeeeeeeeee;atom.f6 eeeeeeeeeeeeeeeeeeeeeeee;atom.f6 eeeeeeeeeeeeeeeeeeeeeeee;atom.f3 nen",
			enable + "outcomes eee"},
		{"counts commit", "atom.f3 een;cycle.f1 9 commit 2", enable + "outcomes ee; payload:cycle-count 9"},
		{"counts commit, format 3", "atom.f3 een;cycle.f3 1 commit 1", enable + "outcomes ee; payload:cycle-count 1"},
		{"counts commit, format 2", "atom.f3 een;cycle.f2 3 1", enable + "outcomes ee; payload:cycle-count 3"},
		{"counts commit, near the greatest depth", strings.Repeat("atom.f6 eeeeeeeeeeeeeeeeeeeeeeee;", 4) + "atom.f6 eeeeeeeeeen;cycle.f2 0 1 high",
			enable + "outcomes " + strings.Repeat("e", 106) + "; payload:cycle-count"},
		{"a transaction's start is a P0 element", "txstart;atom.f1 e;commit 1", enable + "payload:tx-begin"},
		{"a Trace Info that knows of as many", "atom.f3 een;commit 2;async;info 0x4 spec 1;addr.64 0x1010;commit 1",
			enable + "outcomes een; target to 1010 a64; sync to 1010 a64 restated"},
		{"of fewer", "atom.f3 een;commit 1;async;info 0x4 spec 1;addrctxt.64 0x1010 1 sf ns;atom.f1 e;commit 2",
			enable + "outcomes e; trouble bad-packet; off:no-sync; context:pe/10d; enable to 1010 a64; outcomes e"},
		{"of more", "atom.f3 een;commit 3;async;info 0x4 spec 1;addrctxt.64 0x1010 1 sf ns;atom.f1 e;commit 2",
			enable + "outcomes een; trouble bad-packet; off:no-sync; context:pe/10d; enable to 1010 a64; outcomes e"},
		{"a discard", "atom.f3 een;event 0x1;commit 1;discard", enable + "outcomes e; payload:trace-event 1; off:no-sync"},
		{"more than there are", "atom.f1 e;commit 2", enable + "outcomes e; trouble bad-packet; off:no-sync"},
		{"none to turn round", "mispredict", "trouble bad-packet; off:no-sync"},
	} {
		if got := decodeText(t, "ete1.0", front64+c.text); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestTimes would catch an upper bound that is a later timestamp's, a lower one
// that is not yet stated, and a marked timestamp taken for what stands behind
// its marker.
func TestTimes(t *testing.T) {
	const sync = "async\ninfo 0x0\non\naddrctxt.64 0x1000 1 sf ns\n"
	for _, c := range []struct{ name, unit, text, want string }{
		{"between timestamps", "ete1.0", "timestamp 2: 0x100\natom.f1 e\ncommit 1\ntimestamp 2: 0x200\natom.f1 n\ncommit 1\ntimestamp 1: 0x7f\natom.f1 e\ncommit 1",
			"1000..2000 2000..27f0 27f0..-"},
		{"marked", "ete1.3", "atom.f1 e\nmarker\natom.f1 n\ntimestamp 2: 0x100\natom.f1 e\nmarker\natom.f1 n\ntimestamp 2: 0x200\natom.f1 e",
			"0..1000 0..2000 1000..2000 1000..- 2000..-"},
		{"marked before the stream begins", "ete1.3", "atom.f1 e\ntimestamp 2: 0x80\natom.f1 n\nmarker\natom.f1 n\ntimestamp 2: 0x100\natom.f1 e",
			"0..1000 800..1000 800..- 1000..-"},
		{"not known", "ete1.0", "timestamp 1: 0x0\natom.f1 e\ncommit 1\ntimestamp 2: 0x100", "0..1000"},
		{"set back", "ete1.0", "timestamp 2: 0x200\natom.f1 e\ncommit 1\ntimestamp 2: 0x100", "1000..1ff0"},
	} {
		cfg := Config{Trace: testUnit(c.unit), Ahead: true, TimeConv: event.TimeConv{Mult: 16, Valid: true}}
		buf, err := Assemble(cfg.Trace, nil, sync+c.text)
		if err != nil {
			t.Fatal(err)
		}
		d := NewDecoder(cfg, event.Segment{Buf: buf, End: int64(len(buf)), Last: true, Starts: true})
		var got []string
		var e event.Event
		for d.Next(&e) {
			if e.Kind == event.Outcomes {
				// The conversion leaves a nanosecond for rounding.
				hi := fmt.Sprintf("%x", e.Time.Hi&^15)
				if e.Time.Hi == event.Always.Hi {
					hi = "-"
				}
				got = append(got, fmt.Sprintf("%x..%s", (e.Time.Lo+1)&^15, hi))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

// TestNoAllocations would catch memory taken per packet or event once a decoder
// is warm.
func TestNoAllocations(t *testing.T) {
	for name, text := range map[string]string{
		"ete1.3": front64 + "atom.f3 een;addr.64 0x2000;atom.f1 e;exception 14 e0;addr.64 0x2010;addr.64 0x8000;atom.f1 e;timestamp 2: 0x100",
		"ete1.0": front64 + "atom.f3 een;addr.64 0x2000;atom.f1 e;cancel.f1 1;exception 14 e0;addr.64 0x2010;commit 3;addr.64 0x8000;atom.f1 e;commit 1",
	} {
		c := Config{Trace: testUnit(name), Ahead: true}
		one, err := Assemble(c.Trace, nil, "async\ninfo 0x0\n"+strings.ReplaceAll(text, ";", "\n"))
		if err != nil {
			t.Fatal(err)
		}
		buf := bytes.Repeat(one, 100)
		seg := event.Segment{Buf: buf, End: int64(len(buf)), Last: true, Starts: true}
		d := NewDecoder(c, seg)
		var q [64]event.Event
		n := testing.AllocsPerRun(10, func() {
			for d.Reset(seg); d.Fill(q[:]) == len(q); {
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestSegments would catch a stream cut where what follows needs what came
// before, and segments that do not say where they begin and how they go on.
func TestSegments(t *testing.T) {
	const first = "async;info 0x0;on;" + front64 + "atom.f1 e;"
	for _, c := range []struct {
		name, unit, text string
		cuts             int
		want             string
	}{
		{"address and context behind a Trace Info", "ete1.3", first + "marker;timestamp 1: 0x5;async;event 0x1;info 0x0;timestamp 1: 0x6;addrctxt.64 0x2000 1 sf;addr.short 1: 0x4;atom.f1 n;addr.64 0x3000;atom.f1 e", 1,
			"sync|off:no-sync|off:trace-on|context:pe/10d|enable to 1000 a64|outcomes e|payload:timestamp-marker|payload:timestamp 5|target to 2004 a64|sync to 2004 a64 restated|" +
				"sync to 2004 a64|payload:trace-event 1|payload:timestamp 6|context:pe/105|target to 2004 a64|outcomes n|target to 3000 a64|outcomes e|end"},
		{"an exception whose destination is behind it", "ete1.3", first + "exception 14 e0;addr.64 0x1008;async;info 0x0;addrctxt.64 0x2000 1 sf;atom.f1 n", 1,
			"sync|off:no-sync|off:trace-on|context:pe/10d|enable to 1000 a64|outcomes e|async:exception from 1008 to 2000 a64 intr e|sync to 2000 a64 restated|" +
				"sync to 2000 a64|context:pe/105|target to 2000 a64|outcomes n|end"},
		{"tracing was off", "ete1.3", first + "async;info 0x0;addr.64 0x1008;on;addrctxt.64 0x2000 1 sf;atom.f1 n", 1,
			"sync|off:no-sync|off:trace-on|context:pe/10d|enable to 1000 a64|outcomes e|end|sync|off:trace-on|context:pe/105|enable to 2000 a64|outcomes n|end"},
		{"a context behind a Trace On, told again", "ete1.3", first + "on;addrctxt.64 0x1008 2 sf;async;info 0x0;addrctxt.64 0x2000 1 sf;atom.f1 n", 1,
			"sync|off:no-sync|off:trace-on|context:pe/10d|enable to 1000 a64|outcomes e|off:trace-on|context:pe/106|end|sync to 2000 a64|context:pe/105|target to 2000 a64|outcomes n|end"},
		{"an atom before the address", "ete1.3", first + "async;info 0x0;atom.f1 e;addrctxt.64 0x2000 1 sf;atom.f1 n", 0, ""},
		{"no context", "ete1.3", first + "async;info 0x0;addr.64 0x2000;atom.f1 n", 0, ""},
		{"no address behind the Trace On", "ete1.3", first + "async;info 0x0;addrctxt.64 0x2000 1 sf;on;atom.f1 n", 0, ""},
		{"something is not committed", "ete1.0", first + "async;info 0x4 spec 1;addrctxt.64 0x2000 1 sf;atom.f1 n;commit 2", 0, ""},
		{"something should not be committed", "ete1.0", first + "commit 1;atom.f3 een;commit 1;async;info 0x0;addrctxt.64 0x2000 1 sf;atom.f1 n;commit 1", 1,
			"sync|off:no-sync|off:trace-on|context:pe/10d|enable to 1000 a64|outcomes ee|trouble bad-packet|end|sync to 2000 a64|context:pe/105|target to 2000 a64|outcomes n|end"},
		{"no Trace Info", "ete1.3", first + "async;addrctxt.64 0x2000 1 sf;atom.f1 n", 0, ""},
	} {
		cfg := Config{Trace: testUnit(c.unit)}
		buf, err := Assemble(cfg.Trace, nil, strings.ReplaceAll(c.text, ";", "\n"))
		if err != nil {
			t.Fatal(err)
		}
		segs, at := Segments(buf, 3, cfg)
		if len(segs) != c.cuts+1 || at != 0 {
			t.Errorf("%s: %d segments from %d on, want %d from 0 on", c.name, len(segs), at, c.cuts+1)
			continue
		}
		for i, g := range segs {
			last := i == len(segs)-1
			if g.Starts != (i == 0) || g.Ends != last || g.Last != last || g.Index != i || g.Stream != 3 || i > 0 && g.Off != segs[i-1].End {
				t.Errorf("%s: segment %d: %+v", c.name, i, g)
			}
			checkDecoder(t, cfg, g)
		}
		if got := strings.TrimSuffix(strings.ReplaceAll(eventsOf(cfg, segs), "\n", "|"), "|"); c.want != "" && got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
