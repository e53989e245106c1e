package output

import "github.com/ptdecode/ptdecode/decoder"

// none is a sink that writes no rows: it counts, and tells gaps.
type none struct {
	out     lines
	counter *Counter
}

func newNone(_ *Options, _ []int, out lines, c *Counter) Sink { return &none{out, c} }

// Flow counts what b holds.
func (n *none) Flow(b *decoder.Batch) error {
	certain := 0 // mostly all of them
	for i := range b.Ranges {
		if r := &b.Ranges[i]; r.Verdict == decoder.Certain {
			certain += int(r.N)
		} else {
			n.counter.Add(int(r.N), r.Verdict)
		}
	}
	n.counter.Add(certain, decoder.Certain)
	for i := range b.Notes {
		if b.Notes[i].Kind == decoder.NoteGap {
			n.counter.note(b.Stream, &b.Notes[i], &n.out)
		}
	}
	return n.out.full()
}

// Close writes what is left.
func (n *none) Close() error { return n.out.flush() }

// Restart begins anew (decoder.Restarter).
func (n *none) Restart() bool {
	n.counter.restart()
	return !n.counter.inPlace
}
