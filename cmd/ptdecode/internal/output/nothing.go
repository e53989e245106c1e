package output

import "github.com/ptdecode/ptdecode/decoder/flow"

// nothing is a sink that prints no rows: it counts, and tells gaps.
type nothing struct {
	out     lines
	counter *Counter
}

// Flow counts what b holds.
func (n *nothing) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		n.counter.count(&b.Ranges[i])
	}
	for i := range b.Notes {
		if err := n.counter.note(b.Stream, &b.Notes[i], &n.out); err != nil {
			return err
		}
	}
	return n.out.full()
}

// Close writes what is left.
func (n *nothing) Close() error { return n.out.flush() }
