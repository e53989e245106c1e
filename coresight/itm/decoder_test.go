package itm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// whole is buf as one segment.
func whole(buf []byte) event.Segment {
	return event.Segment{Buf: buf, End: int64(len(buf)), Last: true}
}

// decode returns the events of a segment, and checks that they are in order.
func decode(t testing.TB, c coresight.Config, seg event.Segment) (events []event.Event) {
	t.Helper()
	d := NewDecoder(c, seg)
	off := seg.Off
	var e event.Event
	for d.Next(&e) {
		if e.Off < off || e.End < e.Off || e.Kind == event.KindNone {
			t.Fatalf("event %d: out of order: %+v behind 0x%x", len(events), e, off)
		}
		off = e.Off
		events = append(events, e)
	}
	if d.Next(&e) {
		t.Fatalf("an event behind the end: %+v", e)
	}
	return events
}

// show writes events short: detail, value, and what else is there.
func show(events []event.Event) string {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Kind == event.Trouble:
			fmt.Fprintf(&b, "%v\n", e.Reason)
		case e.Kind != event.Payload:
			fmt.Fprintf(&b, "%v\n", e.Kind)
		case e.Detail == event.DetailTimestamp:
			fmt.Fprintf(&b, "global 0x%x flags 0x%x\n", e.Value, e.Value2)
		case e.Detail == event.DetailLocalTimestamp:
			fmt.Fprintf(&b, "local %d, +%d flags 0x%x\n", e.Value, e.Value2&event.LTTicks, e.Value2>>40)
		default:
			fmt.Fprintf(&b, "%v %d: 0x%x size %d flags 0x%x\n", e.Detail, e.Value2&0xffff, e.Value, e.Value2>>32&0xff, e.Value2>>40)
		}
	}
	return b.String()
}

// Catches a page, a sum of time or a loss carried over where it should not be,
// or lost where it should; the numbers are worked out by hand.
func TestDecoder(t *testing.T) {
	for _, c := range []struct {
		name string
		tcr  uint32
		text string
		want string
	}{
		{"ports and pages", 0, `
			swit 1 1 5             # before the first sync point
			sync
			swit 31 1 0x12
			ext 2 0
			swit 1 2 0x1234
			ext 7 hardware 0       # of the DWT: no page
			ext 3 0x1              # reserved: no page
			dwt 17 4 0xdeadbeef
			swit 1 4 1
			ext 0 0
			swit 1 1 1`, `
			off
			software 31: 0x12 size 8 flags 0x0
			software 65: 0x1234 size 16 flags 0x0
			hardware 17: 0xdeadbeef size 32 flags 0x0
			software 65: 0x1 size 32 flags 0x0
			software 1: 0x1 size 8 flags 0x0
			end`},
		{"local time and losses", 0, `
			sync
			lts2 6
			lts1 1000 delayed
			overflow
			overflow
			lts1 5 packet-delayed
			swit 0 1 0
			overflow
			dwt 0 1 1
			lts1 268435455 delayed packet-delayed`, `
			off
			local 6, +6 flags 0x0
			local 1006, +1000 flags 0x1
			local 5, +5 flags 0x12
			software 0: 0x0 size 8 flags 0x0
			hardware 0: 0x1 size 8 flags 0x10
			local 268435455, +268435455 flags 0x3
			end`},
		// SWOENA (bit 4) and TSPrescale 3 (bits 9..8): 64 ticks each.
		{"local time, prescaled", 0x310, `
			sync
			lts2 1
			lts1 268435455`, `
			off
			local 64, +64 flags 0x0
			local 17179869184, +17179869120 flags 0x0
			end`},
		{"global time", 0, `
			sync
			gts1 0x12 length 4     # upper bits not known
			gts2 0x3
			gts1 0x7f
			gts1 0x3ffffff
			gts1 0x5 clkch wrap    # waits for the upper bits
			swit 0 1 0
			gts2 0x4
			gts1 0x15 length 2
			overflow
			gts1 0x80`, `
			off
			global 0xc000012 flags 0x0
			global 0xc00007f flags 0x0
			global 0xfffffff flags 0x0
			software 0: 0x0 size 8 flags 0x0
			global 0x10000005 flags 0x1
			global 0x10000015 flags 0x0
			global 0x10000080 flags 0x100000000000
			end`},
		{"global time, upper bits first", 0, `
			sync
			gts2 0x3
			gts1 0x1
			gts1 0x2 length 4
			bad 80
			sync
			gts1 0x3 length 4
			gts2 0x3ffffffffff`, `
			off
			global 0xc000002 flags 0x0
			bad-packet
			global 0xfffffffffc000003 flags 0x100000000000
			end`},
		{"bad bytes", 0, `
			sync
			ext 1 0
			lts2 5
			bad 04
			sync
			swit 1 1 2
			lts2 1
			bad 0b01`, `
			off
			local 5, +5 flags 0x0
			bad-packet
			software 1: 0x2 size 8 flags 0x10
			local 1, +1 flags 0x0
			truncated
			end`},
		{"zeros at the end", 0, `
			sync
			swit 1 1 2
			bad 00000000000000`, `
			off
			software 1: 0x2 size 8 flags 0x0
			end`},
	} {
		buf, err := Assemble(nil, c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		cfg := coresight.Config{Protocol: coresight.ITM, ITM: coresight.ITMRegisters{TCR: c.tcr}}
		got := show(decode(t, cfg, whole(buf)))
		want := strings.TrimPrefix(strings.ReplaceAll(c.want, "\t", ""), "\n") + "\n" // the last line has no end
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// Catches a sync point that is missed because it lies where two windows of the
// search meet, and bytes before it that are not counted.
func TestPlan(t *testing.T) {
	for at := range 13 << 10 { // past the second window
		buf := append([]byte(strings.Repeat("\xff", at)), syncPattern+"\x70"...)
		segs, first := Segments(buf, 7)
		if len(segs) != 1 || first != at || segs[0].Off != int64(at) || segs[0].End != int64(len(buf)) || segs[0].Stream != 7 {
			t.Errorf("at %d: first %d, %+v", at, first, segs)
		}
	}
	if segs, first := Segments(make([]byte, 100), 0); len(segs) != 0 || first != 100 {
		t.Errorf("no sync point: first %d, %d segments", first, len(segs))
	}
}

// Catches an allocation in Reset or Next.
func TestDecoderAllocatesNothing(t *testing.T) {
	buf, err := Assemble(nil, strings.Repeat("sync\nswit 1 4 2\nlts2 1\ngts1 5 wrap\ngts2 5\noverflow\nbad 80\n", 20))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(coresight.Config{}, whole(buf))
	packettest.AllocatesNothing(t, d, whole(buf))
}
