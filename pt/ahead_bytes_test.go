package pt

import (
	"fmt"
	"slices"
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
