package etmv3

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// whole is the segment that is all of buf.
func whole(buf []byte) event.Segment {
	return event.Segment{End: int64(len(buf)), Buf: buf, Time: event.Always, Last: true, Starts: true}
}

// config returns a Config with the bits of ETMCR and ETMCCER given, of an ETMv3.5.
func config(cr, ccer uint32) Config {
	return Config{Trace: coresight.Config{
		Protocol: coresight.ETMv3, V3: coresight.ETMv3Registers{CR: cr, CCER: ccer, IDR: 0x410cf250}}, Ahead: true}
}

// Bits of ETMCR, ETMCCER and ETMIDR.
const (
	crCycles     = 1 << 12
	crContext4   = 3 << 14
	crTimestamps = 1 << 28
	crData       = 3 << 2
	ccerNatural  = 1 << 28
	ccerWide     = 1 << 29

	idrAlternative = 1 << 20
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
		{"atoms-gather", 0, 0, begin + "pheader 1 eeen\npheader 2 nn\npheader 1 -\npheader 1 e", start + "outcomes eeennne\nend"},
		{"atoms-fill-a-word", 0, 0, begin + strings.Repeat("pheader 1 eeeeeeeeeeeeeee\n", 5),
			start + "outcomes " + strings.Repeat("e", 60) + "\noutcomes " + strings.Repeat("e", 15) + "\nend"},
		{"atoms-end-with-the-word", 0, 0, begin + strings.Repeat("pheader 1 eeeeeeeeeeeeeeen\n", 4), start + "outcomes " + strings.Repeat("eeeeeeeeeeeeeeen", 4) + "\nend"},
		{"branch", 0, 0, begin + "pheader 1 e\nbranch 1: 0x10\npheader 1 e", start + "outcomes e\ntarget ip 1020 a32\noutcomes e\nend"},
		{"last-branch-counts", 0, 0, begin + "pheader 1 e\nbranch 1: 0x10\nbranch 2: 0x1010\nbranch 1: 0x12\npheader 1 e",
			start + "outcomes e\ntarget ip 2024 a32\noutcomes e\nend"},
		{"branch-to-thumb", 0, 0, begin + "pheader 1 e\nbranch 5: 0x180000010\npheader 1 e\nbranch 1: 0x12",
			start + "outcomes e\ntarget ip 80000010 t32\noutcomes e\ntarget ip 80000012 t32\nend"},
		{"before-sync-point", 0, 0, "async 5\npheader 1 e\nbranch 1: 0x10\ntrigger\nisync 0x1000 0x21\npheader 1 n", start + "outcomes n\nend"},
		{"cycles-and-time-before-sync-point", crCycles | crTimestamps, ccerNatural, "async 5\ntimestamp 7: 0x64\npheader 3 - cycles 8\nisync 0x1000 0x1\npheader 3 e cycles 2",
			"sync @0 -100\noff no-sync @0 -100\npayload timestamp 64 @100\npayload cycle-count 8\noff trace-on @100\ncontext pe @100\nenable ip 1000 a32 @100\noutcomes e @100\nend @100"},
		{"interrupt", 0, 0, begin + "pheader 1 ee\nbranch 5: 0x4f800000c exception 1: 0x1d\npheader 1 n",
			start + "outcomes ee\nasync exception e ip f0000018 a32 here intr\ncontext pe 0 8\noutcomes n\nend"},
		{"abort-cancels", 0, 0, begin + "pheader 1 ee\nbranch 5: 0x480000006 exception 1: 0x36\npheader 1 n",
			start + "outcomes e\nasync exception b ip c a32 here\noutcomes n\nend"},
		{"cancel-takes-the-newest-header's", 0, 0, begin + "pheader 1 e\npheader 1 n\nbranch 5: 0x480000008 exception 1: 0x38",
			start + "outcomes e\nasync exception c ip 10 a32 here intr\nend"},
		{"too-late-to-cancel", 0, 0, begin + "pheader 1 ee\nignore\nbranch 5: 0x480000008 exception 1: 0x38",
			start + "outcomes ee\nasync exception c ip 10 a32 here intr\nend"},
		{"branch-then-exception", 0, 0, begin + "pheader 1 e\nbranch 1: 0x10\nbranch 5: 0x480000002 exception 1: 0x32",
			start + "outcomes e\ntarget ip 1020 a32\nasync exception 9 ip 4 a32 here\nend"},
		{"older-form", 0, 0, begin + "pheader 1 ee\nbranch 5: 0xc8000000c", start + "outcomes e\nasync exception e ip 18 a32 here intr\nend"},
		{"exception-return", 0, 0, begin + "pheader 1 e\neret\nbranch 1: 0x10\npheader 1 e",
			start + "outcomes e\npayload exception-return\ntarget ip 1020 a32\noutcomes e\nend"},
		{"exception-return-cancelled", 0, 0, begin + "pheader 1 ee\neret\nbranch 5: 0x480000008 exception 1: 0x38",
			start + "outcomes e\nasync exception c ip 10 a32 here intr\nend"},
		{"halt", 0, 0, begin + "branch 5: 0x480000000 exception 1: 0x2\nisync 0x2000 0x61",
			start + "async-disable exception 1 here\noff trace-on 3\ncontext pe\nenable ip 2000 a32\nend"},
		{"no-exception-but-another-state", 0, 0, begin + "pheader 1 e\nbranch 5: 0x480000010 exception 2: 0x2081",
			start + "outcomes e\ntarget ip 20 a32\ncontext pe 0 28\nend"},
		{"resume-byte-is-no-state", 0, 0, begin + "branch 5: 0x480000010 exception 2: 0x609c", start + "async exception e ip 20 a32 here intr\nend"},
		{"jazelle", 0, 0, "async 5\nisync 0x7000 0x31\npheader 1 e\nbranch 2: 0x10\npheader 1 e\nbranch 1: 0x7e\npheader 1 n",
			"sync\noff no-sync\noff trace-on 1\ncontext pe\nenable ip 7000 ?\noutcomes e\ntarget ip 6008 ?\noutcomes e\ntarget ip 603f ?\noutcomes n\nend"},
		{"jazelle-and-thumbee", 0, 0, "async 5\nisync 0x1000 0x31\npheader 1 e\nbranch 5: 0x580000010 exception 1: 0x40",
			"sync\noff no-sync\noff trace-on 1\ncontext pe\nenable ip 1000 ?\noutcomes e\ntarget ip 80000010 ?\ncontext pe 0 200\nend"},
		{"load-in-progress", 0, 0, "async 5\nisync 0x1000 0xa1 second 2: 0x1010\npheader 1 e",
			"sync\noff no-sync\noff trace-on 1\ncontext pe\nenable ip 2020 a32\noutcomes e\nend"},
		{"periodic", 0, 0, begin + "pheader 1 e\nisync 0x2000 thumb 0x9\npheader 1 e",
			start + "outcomes e\ntarget ip 2000 t32\nsync ip 2000 t32 restated\ncontext pe 0 8\noutcomes e\nend"},
		{"first-is-periodic", 0, 0, "async 5\nisync 0x2000 thumb 0xb\npheader 1 e",
			"sync\noff no-sync\noff trace-on\ncontext pe 0 28\nenable ip 2000 t32\noutcomes e\nend"},
		{"overflow", 0, 0, begin + "pheader 1 e\nisync 0x2000 0x41", start + "outcomes e\noverflow\noff trace-on 2\ncontext pe\nenable ip 2000 a32\nend"},
		{"contexts", crContext4, 0, "async 5\nisync 0x1000 0x21 context 4: 0x5\npheader 1 e\ncontextid context 4: 0x6\nvmid 0x7",
			strings.Replace(start, "pe", "pe 5 40", 1) + "outcomes e\ncontext pe 6 40\ncontext pe 700000006 c0\nend"},
		{"cycles", crCycles, 0, "async 5\nisynccycles 0x1000 0x21 cycles 1: 5\npheader 1 en\npheader 3 - cycles 4\npheader 3 e cycles 3\npheader 4 n\ncyclecount cycles 2: 300",
			start + "outcomes en\npayload cycle-count 4\noutcomes en\npayload cycle-count 12c\nend"},
		{"data", crData, 0, begin + "pheader 1 e\ndata first address 1: 0x5 value 4: 0x1\nooo 1\nplaceholder 2\nnottraced\nstorefailed\nsuppressed\nentry\npheader 1 e", start + "outcomes ee\nend"},
		{"data-alone", crData | 1<<20, 0, "async 5\nisync 0x0 0x21 dataonly\ndata", "sync\noff no-sync\noff trace-on 1\ncontext pe\nend"},
		{"times", crTimestamps, ccerNatural, begin + "timestamp 7: 0x64\npheader 1 e\ntimestamp 1: 0x6e\npheader 1 n",
			strings.ReplaceAll(start, "\n", " @0 -100\n") + "payload timestamp 64 @100 -110\noutcomes e @0 -110\npayload timestamp 6e @110\noutcomes n @100\nend @110"},
		{"bad", 0, 0, begin + "pheader 1 e\nbad 10\nasync 5\npheader 1 e\nisync 0x2000 0x1",
			start + "outcomes e\ntrouble bad-packet\noff no-sync\noff trace-on\ncontext pe\nenable ip 2000 a32\nend"},
		{"cut", 0, 0, begin + "pheader 1 e\nbad 08", start + "outcomes e\ntrouble truncated\nend"},
		{"sync-cut", 0, 0, begin + "pheader 1 e\nbad 0000", start + "outcomes e\nend"},
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

// TestProfileM would catch exception numbers of M cores read as those of others,
// and a return that takes its instruction with it when it is cancelled.
func TestProfileM(t *testing.T) {
	buf, err := Assemble(nil, "async 5\nisync 0x1000 thumb 0x21\npheader 1 ee\neret\nbranch 2: 0x2010 exception 2: 0x5a2\nbranch 2: 0x2010 exception 1: 0x18\nbranch 2: 0x2010 exception 2: 0x4598")
	if err != nil {
		t.Fatal(err)
	}
	c := config(0, 0)
	c.Trace.V3.IDR |= idrAlternative
	c.Trace.Arch.Profile = 'M'
	var got []string
	for _, e := range decode(t, c, whole(buf)) {
		got = append(got, tracetest.Show(&e))
	}
	want := []string{"sync", "off no-sync", "off trace-on 1", "context pe", "enable ip 1000 t32", "outcomes ee",
		"async exception 51 ip 10 t32 here intr", "async exception c ip 10 t32 here", "async exception c ip 10 t32 here", "end"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// TestSeams would catch a segment that tells what the one before has told, or
// leaves out what it has not, and one that begins where nothing is told anew.
func TestSeams(t *testing.T) {
	const text = "async 5\nisync 0x1000 0x21\npheader 1 e\n" +
		"async 5\npheader 1 n\nisync 0x1008 0x1\npheader 1 ee\n" + // told anew
		"async 5\npheader 1 n\nisync 0x3000 0x21\npheader 1 eee\n" + // tracing begins: no seam
		"async 5\npheader 1 e\nbranch 1: 0x20\nisync 0x3040 0x1\npheader 1 n\n"
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
		"segment 0 false", "sync", "off no-sync", "off trace-on 1", "context pe", "enable ip 1000 a32", "outcomes en",
		"target ip 1008 a32", "sync ip 1008 a32 restated",
		"segment 1 false", "sync ip 1008 a32", "context pe", "outcomes een", "off trace-on 1", "context pe", "enable ip 3000 a32",
		"outcomes eeee", "target ip 3040 a32", "target ip 3040 a32", "sync ip 3040 a32 restated",
		"segment 2 true", "sync ip 3040 a32", "context pe", "outcomes n", "end",
	}
	if d := cmp.Diff(want, got); d != "" || first != 0 {
		t.Errorf("first %d, -want +got\n%s", first, d)
	}
}

// TestPlanTimes would catch a segment whose bounds are not whole timestamps on
// the right side of it.
func TestPlanTimes(t *testing.T) {
	const text = "async 5\ntimestamp 7: 0x64\nisync 0x1000 0x21\npheader 1 e\ntimestamp 7: 0x66\n" +
		"async 5\nisync 0x1000 0x1\ntimestamp 7: 0x6e\npheader 1 n\n" +
		"async 5\nisync 0x1000 0x1\npheader 1 n\ntimestamp 7: 0x6f\n" +
		"async 5\nisync 0x1000 0x1\n"
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
	want := []event.Time{{Lo: 1199, Hi: 1221}, {Lo: 1203, Hi: 1223}, {Lo: 1219, Hi: unknown}, {Lo: 1219, Hi: unknown}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
