package flow

import (
	"errors"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestDeliverBatches would catch a window whose flow is handed over as one batch,
// however long it is, and stamps or notes that move when it is cut into several.
func TestDeliverBatches(t *testing.T) {
	o := writer{wait: unconfirmed{spare: new(sync.Pool)}}
	o.start(nil)
	o.batch.Stamps[0].Off = -1
	const n = 5 * batchRanges
	var x node
	for i := range n {
		x.out.Stamps = append(x.out.Stamps, Stamp{Off: int64(i)})
		x.out.Ranges = append(x.out.Ranges, Range{Block: &Block{N: 1}, N: 1, Stamp: uint32(i)})
		if i%7 == 0 {
			x.out.Notes = append(x.out.Notes, Note{At: i, IP: uint64(i)})
		}
	}
	i, most := 0, 0
	o.wait.sink = sinkFunc(func(b *Batch) error {
		most = max(most, len(b.Ranges))
		notes := b.Notes
		for k, r := range b.Ranges {
			if b.Stamps[r.Stamp].Off != int64(i) {
				t.Fatalf("range %d has the stamp of %d", i, b.Stamps[r.Stamp].Off)
			}
			if i%7 == 0 {
				if len(notes) == 0 || notes[0].At != k || notes[0].IP != uint64(i) {
					t.Fatalf("range %d: notes %v", i, notes)
				}
				notes = notes[1:]
			}
			i++
		}
		return nil
	})
	o.deliver(&x)
	o.endSegment()
	if i != n || most > batchRanges {
		t.Errorf("%d ranges of %d, at most %d at once", i, n, most)
	}
}

type sinkFunc func(*Batch) error

func (f sinkFunc) Flow(b *Batch) error { return f(b) }

// TestWriterThread would catch flow of a thread in a window that reaches the sink
// before it is settled, and what it holds counted wrongly. It would also catch flow
// that waits although no window is open.
func TestWriterThread(t *testing.T) {
	var s spares
	o := writer{spare: &s}
	o.start(nil)
	e := at(5, 9, bits("t"))
	e.Off = 77
	r := Range{Block: &Block{N: 3}, N: 3}
	var alone thread
	o.stampFor(&alone, &e)
	o.addRange(&alone, r)
	o.note(&alone, Note{Kind: NoteEvent})
	if len(o.batch.Ranges) != 1 || len(o.batch.Notes) != 1 || o.batch.Notes[0].At != 1 || o.last().Off != 77 {
		t.Errorf("the one flow: %+v", o.batch)
	}
	one := thread{tail: s.node()}
	one.tail.out.Stamps = append(one.tail.out.Stamps, Stamp{})
	o.stampFor(&one, &e)
	o.addRange(&one, r)
	o.note(&one, Note{Kind: NoteEvent, Others: make([]Stretch, 2)})
	n := one.tail
	if len(o.batch.Ranges) != 1 || len(o.batch.Notes) != 1 || len(n.out.Ranges) != 1 || n.out.Ranges[0].Stamp != 1 || n.out.Notes[0].At != 1 {
		t.Errorf("a thread: %+v in its node, %+v in the batch", n.out, o.batch)
	}
	if want := stampSize + 1 + 3 + noteSize + 2*2; n.held != want || s.held != want {
		t.Errorf("%d held by the node, %d in all, want %d", n.held, s.held, want)
	}
}

// TestWriterFlush would catch an error of the sink that is overwritten, and an empty
// batch that is handed over. It would also catch a batch that does not go on where
// the last one ended, when the sink keeps that.
func TestWriterFlush(t *testing.T) {
	calls := 0
	bad := errors.New("full")
	o := writer{batch: Batch{Stream: 3}, wait: unconfirmed{spare: new(sync.Pool)}}
	o.start(sinkFunc(func(b *Batch) error {
		calls++
		*b = Batch{} // the sink keeps it
		if calls == 1 {
			return bad
		}
		return errors.New("another")
	}))
	if o.endSegment(); calls != 0 {
		t.Error("an empty batch is handed over")
	}
	o.mark(&event.Event{Off: 42})
	for range 2 {
		o.addNote(Note{})
		o.endSegment()
	}
	if calls != 2 || o.wait.err != bad || o.batch.Stream != 3 || o.last().Off != 42 {
		t.Errorf("%d batches, error %v, stream %d, last stamp %+v", calls, o.wait.err, o.batch.Stream, o.last())
	}
}
