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
	certain, other, rs := 0, decoder.Certain, b.Ranges
	for ; len(rs) >= 4; rs = rs[4:] { // four by four they take half of the time
		q := rs[:4:4]
		certain += int(q[0].N) + int(q[1].N) + int(q[2].N) + int(q[3].N)
		other |= q[0].Verdict | q[1].Verdict | q[2].Verdict | q[3].Verdict
	}
	for i := range rs {
		certain += int(rs[i].N)
		other |= rs[i].Verdict
	}
	if other != decoder.Certain { // seldom
		certain = 0
		for i := range b.Ranges {
			n.counter.Add(int(b.Ranges[i].N), b.Ranges[i].Verdict)
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
