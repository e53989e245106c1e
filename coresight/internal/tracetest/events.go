package tracetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Decoder makes events of packets.
type Decoder interface {
	// Next gives one event; it returns false behind the last.
	Next(e *event.Event) bool
}

// Events returns all events of seg, with which d begins. It fails the test where
// they do not lie in order, where one is none, where times cross, and where they have
// no end.
func Events(tb testing.TB, d Decoder, seg event.Segment) (list []event.Event) {
	tb.Helper()
	var e event.Event
	for off := seg.Off; d.Next(&e); list = append(list, e) {
		if e.Off < off || e.End < e.Off || e.Time.Lo > e.Time.Hi || e.Kind == event.KindNone {
			tb.Fatalf("out of order or of time at %#x, or none: %+v", off, e)
		}
		if e.Kind == event.Outcomes && (e.N == 0 || e.N > 64 || e.Value<<e.N != 0) {
			tb.Fatalf("outcomes beyond how many there are: %+v", e)
		}
		off = e.Off
		if int64(len(list)) > 6*int64(len(seg.Buf))+10 {
			tb.Fatalf("%x: events without end", seg.Buf)
		}
	}
	if d.Next(&e) {
		tb.Fatalf("an event behind the end: %+v", e)
	}
	return list
}

// Show renders an event on one line, without its place.
func Show(e *event.Event) string {
	var b strings.Builder
	b.WriteString(e.Kind.String())
	add := func(format string, v ...any) { fmt.Fprintf(&b, " "+format, v...) }
	if e.Detail != 0 {
		add("%v", e.Detail)
	}
	if e.Kind == event.Outcomes {
		b.WriteByte(' ')
		for i := range e.N {
			b.WriteByte("ne"[e.Value>>(63-i)&1])
		}
	} else if e.Value|e.Value2 != 0 {
		add("%x", e.Value)
		if e.Value2 != 0 {
			add("%x", e.Value2)
		}
	}
	if e.HasIP() {
		add("ip %x", e.IP)
	}
	if e.Flags&event.FlagMode != 0 {
		add("%v", isa.Mode(e.Mode))
	}
	for _, f := range []struct {
		flag event.Flags
		word string
	}{{event.FlagHere, "here"}, {event.FlagRestated, "restated"}, {event.FlagIntr, "intr"}, {event.FlagBreak, "break"}} {
		if e.Flags&f.flag != 0 {
			add("%s", f.word)
		}
	}
	if e.Reason != 0 {
		add("%v", e.Reason)
	}
	if e.Time.Known() {
		add("@%d", e.Time.Lo)
		if e.Time.Hi != math.MaxUint64 {
			add("-%d", e.Time.Hi)
		}
	}
	return b.String()
}

// Orderly fails the test where events of a recording tell of trouble other than
// that it was cut short, or of timestamps that go back. It also fails at a sync
// point at another address than the branch or the sync point before it led to.
// lists are the events of its segments.
func Orderly(tb testing.TB, lists [][]event.Event) {
	tb.Helper()
	var last uint64
	var at *event.Event
	for _, list := range lists {
		for i := range list {
			e := &list[i]
			switch {
			case e.Kind == event.Trouble && e.Reason != event.Truncated:
				tb.Errorf("%+v", e)
			case e.Kind == event.Sync && at != nil && e.HasIP() && at.HasIP() && at.IP != e.IP:
				tb.Errorf("sync at %#x, the flow at %#x", e.IP, at.IP)
			case e.Detail == event.DetailTimestamp:
				if e.Value < last {
					tb.Errorf("+0x%x: timestamp %d after %d", e.Off, e.Value, last)
				}
				last = e.Value
			}
			switch e.Kind {
			case event.Target, event.Sync:
				at = e
			case event.Context, event.Payload:
			default:
				at = nil
			}
		}
	}
}

// Seams fails the test where segments of other lengths tell something else, but
// for times: of those short segments may have earlier lower bounds. events gives
// the events of each segment, none of which has fewer than least bytes. As many as
// again at the front of each segment but the first repeat what was said and are
// not compared. It returns how many seams there were.
func Seams(tb testing.TB, again int, events func(least int64) [][]event.Event) (seams int) {
	tb.Helper()
	told := func(least int64) (list []event.Event, text []string) {
		lists := events(least)
		seams += len(lists) - 1
		for i, l := range lists {
			if i != 0 {
				l = l[min(again, len(l)):]
			}
			for _, e := range l {
				list = append(list, e)
				e.Time = event.Always
				text = append(text, Show(&e))
			}
		}
		return list, text
	}
	whole, want := told(1 << 30)
	for _, least := range []int64{0, 2000} {
		list, got := told(least)
		if d := cmp.Diff(want, got); d != "" {
			tb.Fatalf("segments of %d bytes: -long +short\n%.2000s", least, d)
		}
		for i := range list {
			if a, b := list[i].Time, whole[i].Time; a.Lo > b.Lo || a.Hi != b.Hi {
				tb.Fatalf("segments of %d bytes: %+v, in one piece %+v", least, list[i], b)
			}
		}
	}
	return seams
}
