package pt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// bytewise decodes as a walk does that knows bytes again: what Tell reads it passes over
// with Use, and the rest comes from Some. window is how many bytes it looks at.
func bytewise(d *Decoder, window int) (all []event.Event, told int, err error) {
	var ev, again, q [5]event.Event
	var after, places [5]int
	var lasts, others [5]uint64
	for {
		if buf, n, off, at, last, ok := d.Ahead(); ok {
			buf = buf[:min(window, len(buf))]
			k, mask := d.Tell(ev[:], after[:], lasts[:], buf, last)
			if m, _ := d.Tell(again[:], places[:], others[:], buf, last^^mask); m != k || again != ev && mask != 0 {
				return all, told, fmt.Errorf("+%#x: bits of the last IP beyond %#x count", off, mask)
			}
			for k > 0 && (after[k-1] > n || ev[k-1].Kind == event.Disable) {
				k--
			}
			for _, e := range ev[:k] {
				e.Off, e.End, e.Time = e.Off+off, e.End+off, at
				all = append(all, e)
			}
			if told += k; k > 0 {
				d.Use(after[k-1], lasts[k-1])
				continue
			}
		}
		n, more := d.Some(q[:])
		if all = append(all, q[:n]...); !more {
			return all, told, nil
		}
	}
}

// TestBytewise would catch an event that is told otherwise from bytes alone than a
// Decoder tells it: its kind, address, outcomes, place or time. It would also catch
// bytes that say less than was taken from them.
func TestBytewise(t *testing.T) {
	eachRecorded(t, func(file string, buf []byte) {
		buf = buf[:min(len(buf), testsize.Of(t, 40<<10, 300<<10))]
		all, known := 0, 0
		for _, ahead := range []bool{false, true} {
			c := realConfig()
			c.Ahead = ahead
			segs, _ := Segments(buf, 0, c)
			for _, s := range segs {
				want := decode(t, c, s)
				got, told, err := bytewise(NewDecoder(c, s), 16+16*int(s.Off%2))
				if err != nil {
					t.Fatal(file, err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: segment +%#x: -one by one +from bytes\n%.2000s", file, s.Off, cmp.Diff(want, got))
				}
				all, known = all+len(got), known+told
			}
		}
		t.Logf("%s: %d of %d events from bytes", file, known, all)
	})
}

// TestBeforeMTC would catch bytes behind an MTC that count as worth a phrase, and bytes before
// it that do not.
func TestBeforeMTC(t *testing.T) {
	for in, want := range map[string]int{"": 0, "\x59\x01": 0, "\x04\x06\x59\x02\x59": 2, "\x04\x06": 2, strings.Repeat("\x04", mtcWithin) + "\x59": mtcWithin} {
		if got := beforeMTC([]byte(in)); got != want {
			t.Errorf("%.20q: %d, want %d", in, got, want)
		}
	}
	for _, known := range []bool{false, true} { // whether the trace unit is known to send MTCs
		c := realConfig()
		if c.Ahead = false; !known {
			c.CTCNum, c.CTCDen = 0, 0
		}
		buf := []byte(psb + "\x02\x23" + "\x51\x00\x10\x00\x00" + "\x04\x06\x04\x59\x07\x06\x04")
		d, want := NewDecoder(c, event.Segment{Buf: buf, End: int64(len(buf)), Last: true}), 7
		var e event.Event
		for range 2 { // the sync point, and where tracing goes on
			d.Next(&e)
		}
		if known {
			want = 3
		}
		if _, n, _, _, _, ok := d.Ahead(); !ok || n != want {
			t.Errorf("known %v: %d bytes %v, want %d", known, n, ok, want)
		}
	}
}
