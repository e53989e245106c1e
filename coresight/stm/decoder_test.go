package stm

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
			fmt.Fprintf(&b, "  at 0x%x unknown %d\n", e.Value, e.Value2>>8)
		case e.Detail == event.DetailSTPSync:
			fmt.Fprintf(&b, "version %d\n", e.Value)
		default:
			fmt.Fprintf(&b, "%v 0x%x of %d:%d size %d flags 0x%x\n", e.Detail, e.Value, e.Value2>>16&0xffff, e.Value2&0xffff, e.Value2>>32&0xff, e.Value2>>40)
		}
	}
	return b.String()
}

// Catches a master, channel or timestamp carried over where it should not be,
// or lost where it should; the numbers are worked out by hand.
func TestDecoder(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"master and channel", `
			async
			d8 1           # nothing said yet
			version 3
			d8 2
			m8 0x40
			c16 0x480
			d8 3
			c8 0x7
			d8 4
			m8 0x41
			d8 5`, `
			off
			software 0x1 of 0:0 size 8 flags 0x40
			version 3
			software 0x2 of 0:0 size 8 flags 0x0
			software 0x3 of 64:1152 size 8 flags 0x0
			software 0x4 of 64:1031 size 8 flags 0x0
			software 0x5 of 65:0 size 8 flags 0x0
			end`},
		{"errors reset", `
			async
			version 3
			m8 1
			c8 2
			merr 3
			d4m 4
			c8 5
			gerr 6
			d64m 7`, `
			off
			version 3
			stream-error 0x3 of 1:0 size 8 flags 0x0
			software 0x4 of 1:0 size 4 flags 0x1
			stream-error 0x6 of 0:0 size 8 flags 0x0
			software 0x7 of 0:0 size 64 flags 0x1
			end`},
		{"timestamps, plain", `
			async
			flag.ts ts 2: 0x12   # no version: its coding is not known
			version 3
			flag.ts ts 0
			d8ts 1 ts 4: 0x1234
			d16mts 2 ts 1: 0xf
			null.ts ts 16: 0xffffffffffffffff
			trig.ts 3 ts 14: 0
			d32ts 4 ts 12: 0x800000000001`, `
			off
			software 0x0 of 0:0 size 0 flags 0x44
			version 3
			software 0x0 of 0:0 size 0 flags 0x6
			  at 0x0 unknown 64
			software 0x1 of 0:0 size 8 flags 0x2
			  at 0x1234 unknown 48
			software 0x2 of 0:0 size 16 flags 0x3
			  at 0x123f unknown 48
			software 0x0 of 0:0 size 0 flags 0x2
			  at 0xffffffffffffffff unknown 0
			software 0x3 of 0:0 size 8 flags 0xa
			  at 0xff00000000000000 unknown 0
			software 0x4 of 0:0 size 32 flags 0x2
			  at 0xff00800000000001 unknown 0
			end`},
		// Gray codes: 8 is 1100, 7 is 0100, 15 is 1000; of 0x80 (1100_0000) with
		// the low half byte replaced by 0001 the number is 0x81.
		{"timestamps, Gray coded", `
			async
			version 4
			flag.ts ts 16: 0xc
			flag.ts ts 1: 0x4
			flag.ts ts 1: 0x8
			flag.ts ts 2: 0xc0
			flag.ts ts 1: 0x1`, `
			off
			version 4
			software 0x0 of 0:0 size 0 flags 0x6
			  at 0x8 unknown 0
			software 0x0 of 0:0 size 0 flags 0x6
			  at 0x7 unknown 0
			software 0x0 of 0:0 size 0 flags 0x6
			  at 0xf unknown 0
			software 0x0 of 0:0 size 0 flags 0x6
			  at 0x80 unknown 0
			software 0x0 of 0:0 size 0 flags 0x6
			  at 0x81 unknown 0
			end`},
		{"bad bytes", `
			d8 1                 # before the first sync point
			async
			version 3
			m8 1
			freq 100
			d8ts 1 ts 16: 0x123
			bad f1
			async
			d8ts 2 ts 1: 0
			d8 3
			version 3
			d8ts 4 ts 1: 5
			bad f012`, `
			off
			version 3
			software 0x64 of 1:0 size 32 flags 0x20
			software 0x1 of 1:0 size 8 flags 0x2
			  at 0x123 unknown 0
			bad-packet
			software 0x2 of 0:0 size 8 flags 0x40
			software 0x3 of 0:0 size 8 flags 0x40
			version 3
			software 0x4 of 0:0 size 8 flags 0x2
			  at 0x5 unknown 60
			truncated
			end`},
	} {
		buf, err := Assemble(nil, c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := show(decode(t, whole(buf)))
		want := strings.TrimPrefix(strings.ReplaceAll(c.want, "\t", ""), "\n") + "\n" // the last line has no end
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// Catches a sync point that is missed because it lies where two windows of the
// search meet, and bytes before it that are not counted.
func TestPlan(t *testing.T) {
	sync := pack(digits("1" + strings.Repeat("f", 21) + "00"))
	for at := range 13 << 10 { // past the second window
		buf := append(append(make([]byte, at), sync...), 0, 0)
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
	buf, err := Assemble(nil, "async\nversion 3\nm8 1\n"+strings.Repeat("d32ts 1 ts 3: 0x123\nd8m 3\nbad f1\nasync\n", 20))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(coresight.Config{}, whole(buf))
	packettest.AllocatesNothing(t, d, whole(buf))
}
