package ptm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// whole is the segment that is all of buf.
func whole(buf []byte) event.Segment {
	return event.Segment{End: int64(len(buf)), Buf: buf, Time: event.Always, Last: true, Starts: true}
}

// config returns a Config with the bits of ETMCR and ETMCCER given, of PFT 1.1.
func config(cr, ccer uint32) Config {
	return Config{Trace: coresight.Config{
		Protocol: coresight.PTM, V3: coresight.ETMv3Registers{CR: cr, CCER: ccer, IDR: 0x411cf312}}, Ahead: true}
}

// Bits of ETMCR and ETMCCER.
const (
	crCycles     = 1 << 12
	crContext4   = 3 << 14
	crTimestamps = 1 << 28
	ccerNatural  = 1 << 28
	ccerWide     = 1 << 29
)

// decode returns all events of a segment.
func decode(t testing.TB, c Config, seg event.Segment) []event.Event {
	t.Helper()
	return tracetest.Events(t, NewDecoder(c, seg), seg)
}

// TestEvents would catch packets that together mean something else, each case a
// situation: a wrong address, outcome, order, time or place in the stream.
func TestEvents(t *testing.T) {
	const start = "sync\noff no-sync\noff trace-on 1\ncontext pe\nenable ip 1000 a32\n"
	const begin = "async 5\nisync 0x1000 0x21\n"
	for _, c := range []struct {
		name          string
		cr, ccer      uint32
		packets, want string
	}{
		{"atoms-gather", 0, 0, begin + "atom enee\natom nnnnn\natom e", start + "outcomes eneennnnne\nend"},
		{"atoms-fill-a-word", 0, 0, begin + strings.Repeat("atom enene\n", 13),
			start + "outcomes " + strings.Repeat("enene", 12) + "\noutcomes enene\nend"},
		{"atoms-end-with-the-word", 0, 0, begin + strings.Repeat("atom enene\n", 12) + "atom nnnn", start + "outcomes " + strings.Repeat("enene", 12) + "nnnn\nend"},
		{"jazelle", 0, 0, begin + "branch 5: 0x3000000fe\nbranch 1: 0x2", start + "outcomes e\ntarget ip 8000007f ?\noutcomes e\ntarget ip 80000041 ?\nend"},
		{"branch-is-an-outcome", 0, 0, begin + "atom n\nbranch 1: 0x10\natom e",
			start + "outcomes ne\ntarget ip 1020 a32\noutcomes e\nend"},
		{"branch-to-thumb", 0, 0, begin + "branch 5: 0x180000010\nbranch 1: 0x12",
			start + "outcomes e\ntarget ip 80000010 t32\noutcomes e\ntarget ip 80000012 t32\nend"},
		{"branch-before-sync-point", 0, 0, "async 5\natom e\nbranch 1: 0x10\ntimestamp 1: 0x1\nisync 0x1000 0x21\nbranch 1: 0x10",
			start + "outcomes e\ntarget ip 1020 a32\nend"},
		{"interrupt", 0, 0, begin + "atom e\nwaypoint 1: 0x10\nbranch 5: 0x4f800000c exception 1: 0x1d\natom n",
			start + "outcomes e\nreach ip 1020 a32\nasync exception e ip f0000018 a32 here intr\ncontext pe 0 8\noutcomes n\nend"},
		{"breakpoint-or-abort", 0, 0, begin + "branch 2: 0x2806 exception 1: 0x16", start + "async exception b ip 100c a32 here\nend"},
		{"undefined-or-probe", 0, 0, begin + "branch 2: 0x2802 exception 1: 0x12", start + "async exception 9 ip 1004 a32 here\nend"},
		{"halt", 0, 0, begin + "branch 5: 0x480000000 exception 1: 0x2\nisync 0x2000 0x61",
			start + "async-disable exception 1 here\noff trace-on 3\nenable ip 2000 a32\nend"},
		{"no-exception-but-another-state", 0, 0, begin + "branch 2: 0x2810 exception 2: 0x2081",
			start + "outcomes e\ntarget ip 1020 a32\ncontext pe 0 28\nend"},
		{"thumbee", 0, 0, begin + "branch 5: 0x580000010 exception 1: 0x40\nbranch 2: 0x2010 exception 1: 0x0",
			start + "outcomes e\ntarget ip 80000010 ?\ncontext pe 0 200\noutcomes e\ntarget ip 80000010 t32\ncontext pe\nend"},
		{"periodic", 0, 0, begin + "atom e\nisync 0x2000 thumb 0x1\natom e\nisync 0x2000 thumb 0x9",
			start + "outcomes e\nsync ip 2000 t32 restated\noutcomes e\nsync ip 2000 t32 restated\ncontext pe 0 8\nend"},
		{"first-is-periodic", 0, 0, "async 5\nisync 0x2000 thumb 0xb\natom e",
			"sync\noff no-sync\noff trace-on\ncontext pe 0 28\nenable ip 2000 t32\noutcomes e\nend"},
		{"tracing-goes-on", 0, 0, begin + "atom e\nisync 0x1000 0x21\natom n\nisync 0x2000 thumb 0x21",
			start + "outcomes e\noff trace-on 1\nenable ip 1000 a32\noutcomes n\noff trace-on 1\ncontext pe\nenable ip 2000 t32\nend"},
		{"overflow", 0, 0, begin + "atom e\nisync 0x2000 0x41", start + "outcomes e\noverflow\noff trace-on 2\nenable ip 2000 a32\nend"},
		{"context-ids", crContext4, 0, "async 5\nisync 0x1000 0x21 context 4: 0x5\natom e\ncontextid context 4: 0x5\natom e\ncontextid context 4: 0x6\nvmid 0x7\nvmid 0x7",
			strings.Replace(start, "pe", "pe 5 40", 1) + "outcomes ee\ncontext pe 6 40\ncontext pe 700000006 c0\nend"},
		{"payloads", 0, 0, begin + "atom e\ntrigger\nignore\neret\natom e",
			start + "outcomes e\npayload trigger\npayload exception-return\noutcomes e\nend"},
		{"times", crTimestamps, ccerNatural, begin + "timestamp 7: 0x64\natom e\ntimestamp 1: 0x6e\natom n\ntimestamp 2: 0x80 rate\natom e",
			strings.ReplaceAll(start, "\n", " @0 -100\n") + "payload timestamp 64 @100 -110\noutcomes e @100 -110\n" +
				"payload timestamp 6e @110 -128\noutcomes n @110 -128\npayload timestamp 80 1 @128\noutcomes e @128\nend @128"},
		{"time-set-back", crTimestamps, ccerNatural, begin + "timestamp 7: 0x64\natom e\ntimestamp 1: 0xa",
			strings.ReplaceAll(start, "\n", " @0 -100\n") + "payload timestamp 64 @10 -100\noutcomes e @10 -100\npayload timestamp a @10\nend @10"},
		{"time-not-whole", crTimestamps, ccerNatural, begin + "timestamp 1: 0x5\natom e", start + "payload timestamp 5\noutcomes e\nend"},
		{"time-as-gray-code", crTimestamps, 0, begin + "timestamp 7: 0xc", strings.ReplaceAll(start, "\n", " @0 -8\n") + "payload timestamp 8 @8\nend @8"},
		{"time-of-64-bits", crTimestamps, ccerNatural | ccerWide, begin + "timestamp 9: 0x8000000000000001\ntimestamp 1: 0x2",
			strings.ReplaceAll(start, "\n", " @0 -9223372036854775809\n") +
				"payload timestamp 8000000000000001 @9223372036854775809 -9223372036854775810\npayload timestamp 8000000000000002 @9223372036854775810\nend @9223372036854775810"},
		{"cycles", crCycles, 0, "async 5\nisync 0x1000 0x21 cycles 1: 5\natom e cycles 1: 3\natom n cycles 2: 300\nbranch 1: 0x10 cycles 1: 1",
			start + "outcomes ene\ntarget ip 1020 a32\nend"},
		{"bad", 0, 0, begin + "atom e\nbad 10\nasync 5\natom e\nisync 0x2000 0x1",
			start + "outcomes e\ntrouble bad-packet\noff no-sync\noff trace-on\ncontext pe\nenable ip 2000 a32\nend"},
		{"cut", 0, 0, begin + "atom e\nbad 08", start + "outcomes e\ntrouble truncated\nend"},
		{"sync-cut", 0, 0, begin + "atom e\nbad 0000", start + "outcomes e\nend"},
		{"nothing", 0, 0, "async 5", "sync\noff no-sync\nend"},
	} {
		t.Run(c.name, func(t *testing.T) {
			buf, err := Assemble(nil, c.packets)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range decode(t, config(c.cr, c.ccer), whole(buf)) {
				got = append(got, tracetest.Show(&e))
			}
			if d := cmp.Diff(strings.Split(c.want, "\n"), got); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// TestSeams would catch a segment that tells what the one before has told, or
// leaves out what it has not, and one that begins where nothing is told anew.
func TestSeams(t *testing.T) {
	const text = "async 5\nisync 0x1000 0x21\natom e\n" +
		"async 5\natom n\nbranch 1: 0x10\nisync 0x1020 0x1\natom ee\n" + // told anew
		"async 5\natom nn\nisync 0x3000 0x21\natom eee\n" + // tracing begins: no seam
		"async 5\nbranch 1: 0x20\nisync 0x3040 0x1\natom n\n"
	buf, err := Assemble(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	segs, first := segments(buf, 0, config(0, 0), 0)
	var got []string
	for _, s := range segs {
		got = append(got, fmt.Sprintf("segment %d %v", s.Index, s.Last))
		for _, e := range decode(t, config(0, 0), s) {
			got = append(got, tracetest.Show(&e))
		}
	}
	want := []string{
		"segment 0 false", "sync", "off no-sync", "off trace-on 1", "context pe", "enable ip 1000 a32", "outcomes ene",
		"target ip 1020 a32", "sync ip 1020 a32 restated",
		"segment 1 false", "sync ip 1020 a32", "context pe restated", "outcomes eenn", "off trace-on 1", "enable ip 3000 a32",
		"outcomes eeee", "target ip 3040 a32", "sync ip 3040 a32 restated",
		"segment 2 true", "sync ip 3040 a32", "context pe restated", "outcomes n", "end",
	}
	if d := cmp.Diff(want, got); d != "" || first != 0 {
		t.Errorf("first %d, -want +got\n%s", first, d)
	}
}

// TestLateTimestamps would catch a bound that takes in what was executed before a
// timestamp. Where that is not of the waypoint before it, a packet behind it may
// tell of instructions before it.
func TestLateTimestamps(t *testing.T) {
	buf, err := Assemble(nil, "async 5\nisync 0x1000 0x21\ntimestamp 7: 0x64\natom ee\natom n\ntimestamp 1: 0x6e\nbranch 1: 0x10\nbranch 1: 0x12\n"+
		"timestamp 1: 0x70\ntimestamp 1: 0x50\nwaypoint 1: 0x13\ntimestamp 7: 0x0\natom e")
	if err != nil {
		t.Fatal(err)
	}
	c := config(crTimestamps, ccerNatural)
	c.Trace.V3.IDR = 0x411cf301
	stamp := wire.Stamp{Gray: true}
	at := func(v uint64) uint64 { return stamp.Update(v, 7) }
	a, b, e, f := at(0x64), at(0x6e), at(0x70), at(0x50)
	want := []struct {
		kind event.Kind
		lo   uint64
	}{
		{event.Payload, a}, {event.Outcomes, 0}, {event.Outcomes, a}, {event.Payload, b},
		{event.Outcomes, a}, {event.Target, a}, {event.Outcomes, b}, {event.Target, b},
		{event.Payload, e}, {event.Payload, f}, {event.Reach, b}, {event.Payload, f}, {event.Outcomes, f}, {event.End, f},
	}
	list := decode(t, c, whole(buf))[5:]
	for i, w := range want {
		if i >= len(list) || list[i].Kind != w.kind || list[i].Time.Lo != w.lo {
			t.Errorf("event %d: %s, want %v @%d", i, tracetest.Show(&list[min(i, len(list)-1)]), w.kind, w.lo)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d events, want %d", len(list), len(want))
	}
}

// TestPlanTimes would catch a segment whose bounds are not the whole timestamps
// behind its sync point and behind the next, on the safe side of rounding.
func TestPlanTimes(t *testing.T) {
	const text = "async 5\nisync 0x1000 0x21\ntimestamp 7: 0x64\natom e\n" +
		"async 5\ntimestamp 1: 0x65\nisync 0x1000 0x1\ntimestamp 7: 0x6e\natom n\n" +
		"async 5\nisync 0x1000 0x1\natom n\ntimestamp 7: 0x6f\n" +
		"async 5\nisync 0x1000 0x1\ntimestamp 7: 0x78\natom n\n"
	buf, err := Assemble(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	c := config(crTimestamps, ccerNatural)
	c.TimeConv = coresight.TimeConv{Shift: 1, Mult: 4, Zero: 1000, Valid: true}
	segs, _ := segments(buf, 0, c, 0)
	var got []event.Time
	for _, s := range segs {
		got = append(got, s.Time)
	}
	want := []event.Time{{Lo: 1199, Hi: 1221}, {Lo: 1219, Hi: 1241}, {Lo: 1219, Hi: 1241}, {Lo: 1239, Hi: unknown}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
