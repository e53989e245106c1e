package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Reached says how far the flow of a segment was handed on, from its begin or, where Back is
// set, from its end. It is told by the trace: up to which event, and how many
// instructions that event led to. So it holds for the same segment decoded with other code, whose
// blocks are cut in other places.
type Reached struct {
	Back  bool
	some  bool  // ranges were
	off   int64 // of the event that the last ranges led to, bytes
	insns int   // handed on of what it led to
	notes int   // handed on behind that
}

// Some reports whether anything was handed on.
func (d *Reached) Some() bool { return d.some || d.notes > 0 }

// Add counts b as handed on.
func (d *Reached) Add(b *Batch) {
	if len(b.Ranges) == 0 {
		d.notes += len(b.Notes)
		return
	}
	i, step, end, edge := len(b.Ranges)-1, -1, -1, len(b.Ranges)
	if d.Back {
		i, step, end, edge = 0, 1, len(b.Ranges), 0
	}
	off, n := b.Stamps[b.Ranges[i].Stamp].Off, 0
	for ; i != end && b.Stamps[b.Ranges[i].Stamp].Off == off; i += step {
		n += int(b.Ranges[i].N)
	}
	if i == end && d.some && d.off == off {
		n += d.insns
	}
	d.some, d.off, d.insns, d.notes = true, off, n, 0
	for i := range b.Notes {
		if b.Notes[i].At == edge {
			d.notes++
		}
	}
}

// Cut takes from b, which is decoded anew, what was handed on. It reports whether what is left, and
// all that is to come, is new. Where the place lies within a range, the whole range is
// left out, and there is a gap.
func (d *Reached) Cut(b *Batch) (done bool) {
	b.Unwalk()
	n := len(b.Ranges)
	at := func(i int) *Range { // the i-th, as they are handed on
		if d.Back {
			i = n - 1 - i
		}
		return &b.Ranges[i]
	}
	k := 0
	var torn *Range
	for ; k < n && torn == nil; k++ {
		r := at(k)
		off := b.Stamps[r.Stamp].Off
		if off == d.off && d.insns > 0 {
			if d.insns -= int(r.N); d.insns < 0 {
				torn = r
			}
		} else if !d.some || (off < d.off) == d.Back || off == d.off {
			done = true
			break
		}
	}
	there := done || d.insns <= 0 // else no note of b is new
	var gap Note
	if torn != nil {
		gap = b.leftOut(torn)
	}
	if d.Back {
		b.Ranges = b.Ranges[:n-k]
		b.Notes = b.Notes[:d.notesBefore(b, n-k, there)]
		if torn != nil {
			gap.At = n - k
			b.Notes = append(b.Notes, gap)
		}
		return done || there && d.notes == 0
	}
	last := 0
	for last < len(b.Notes) && (!there || b.Notes[last].At < k) {
		last++
	}
	for last < len(b.Notes) && d.notes > 0 && b.Notes[last].At == k {
		last, d.notes = last+1, d.notes-1
	}
	b.Ranges = slices.Delete(b.Ranges, 0, k)
	b.Notes = slices.Delete(b.Notes, 0, last)
	for i := range b.Notes {
		b.Notes[i].At -= k
	}
	if torn != nil {
		b.Notes = slices.Insert(b.Notes, 0, gap)
	}
	return done || there && d.notes == 0
}

// notesBefore returns how many notes of b lie before what was handed on backwards: that began at
// range at, if there is set.
func (d *Reached) notesBefore(b *Batch, at int, there bool) (n int) {
	if !there {
		return 0
	}
	for n = len(b.Notes); n > 0 && b.Notes[n-1].At > at; {
		n--
	}
	for n > 0 && d.notes > 0 && b.Notes[n-1].At == at {
		n, d.notes = n-1, d.notes-1
	}
	return n
}

// leftOut returns the gap where r, of b, is left out.
func (b *Batch) leftOut(r *Range) Note {
	st, ip := b.Stamps[r.Stamp], r.Block.Addr
	return Note{Kind: NoteGap, Poke: -1, IP: ip,
		Gap: event.Gap{Reason: event.Mismatch, Stream: b.Stream, Off: st.Off, End: st.Off, IP: ip, Time: st.Time}}
}
