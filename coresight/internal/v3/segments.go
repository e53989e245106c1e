package v3

import (
	"math"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Margin is how many bytes behind a segment's end its Buf should hold, so that
// the I-sync behind the A-sync there can be read.
const Margin = 4096

// MinSegment is the least length of a segment, bytes. Trace units repeat the
// A-sync every kilobyte, and beginning anew costs more than that is worth.
const MinSegment = 4096

// Entry reads what follows an A-sync, for Plan.
type Entry interface {
	// Read reports whether buf, which begins with an A-sync at off, has a periodic
	// I-sync behind it before another A-sync.
	Read(buf []byte, off int64) (periodic bool)
	// After returns the lower bound of what comes behind the I-sync read last, ns.
	After() uint64
	// Before returns the upper bound of what came before the I-sync read last, ns;
	// false: there is none.
	Before() (hi uint64, ok bool)
}

// Whole is the whole timestamp that an Entry has read, and what is needed for it.
type Whole struct {
	Conv   event.TimeConv
	Stamp  wire.Stamp
	Known  bool   // it stands behind the I-sync
	Lo, Hi uint64 // ns: not before, and not after it
	Last   uint64 // ns: Lo of the one found before
}

// Forget begins anew at another A-sync.
func (w *Whole) Forget() {
	if w.Known {
		w.Last = w.Lo
	}
	w.Known = false
	w.Stamp.Reset()
}

// Take takes over a timestamp packet behind the I-sync and reports whether it is whole.
func (w *Whole) Take(v uint64, n uint8) bool {
	t := w.Stamp.Update(v, n)
	if w.Known = w.Stamp.Known(); w.Known {
		w.Lo, w.Hi = w.Conv.Lo(t), w.Conv.Hi(t)
	}
	return w.Known
}

// Before returns the upper bound of what came before the I-sync, ns; false: there is
// none.
func (w *Whole) Before() (hi uint64, ok bool) { return w.Hi, w.Known }

// Plan plans how a stream of size bytes is decoded: in segments of at least least
// bytes that begin with an A-sync. The bytes before first come before the first one and
// cannot be decoded; without an A-sync first is size. But for the first, only an A-sync
// behind which x reads a periodic I-sync begins a segment.
func Plan(src event.Bytes, size int64, stream int, least int64, x Entry) (segs []event.Segment, first int64) {
	first, off, ok := wire.FirstASync(src, size)
	if !ok {
		return nil, size
	}
	begin := first
	x.Read(src.Bytes(off, Margin), off)
	lo := x.After()
	for more := true; more; {
		var next int64
		for from := off + max(least, wire.Zeros+1); ; from = next + wire.Zeros + 1 {
			if next, more = wire.NextASync(src, from, size); !more || x.Read(src.Bytes(next, Margin), next) {
				break
			}
		}
		t := event.Time{Lo: lo, Hi: math.MaxUint64}
		if hi, ok := x.Before(); ok && more {
			lo, t.Hi = max(lo, x.After()), hi
		}
		segs = append(segs, event.Segment{Stream: stream, Index: len(segs), Off: begin, End: next, Time: t, Last: !more, Starts: len(segs) == 0})
		off, begin = next, next
	}
	for i := len(segs) - 2; i >= 0; i-- {
		if segs[i].Time.Hi == math.MaxUint64 { // it has no bound: that of the next holds
			segs[i].Time.Hi = segs[i+1].Time.Hi
		}
	}
	return segs, first
}
