package decoder

import (
	"context"
	"math"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestClearOfContradictions would catch a part of a stream that is not decoded to learn, though trace and code contradict each
// other there. The flow that was ended may not have come to it, or not to all of it. What was asked for may be a part of the
// recording.
func TestClearOfContradictions(t *testing.T) {
	o := readOriginal(t, "ftrace", readSiteTables(t))
	queries := []Query{{Jobs: 1}, {Jobs: 2}, {Jobs: 2, Merged: true}, {Jobs: 1, Streams: []int{1}}, {Jobs: 1, Reverse: true}, {Jobs: 1, FromOff: 60_000}}
	known, far := 0, 0
	for seed := range testsize.Of(t, 12, 40) {
		x := imageLie(o, random("image", o.name, uint64(seed+3000)))
		if x == nil || !o.executed(x.sites[0].addr) {
			continue
		}
		cfg := o.config
		cfg.NoLearn = true
		s := o.reopened(t, cfg, x.change)
		first := map[int]int64{} // contradiction, by stream
		all := s.newRun(Query{Jobs: 1})
		all.gather = func(v *learn.Visit) error {
			if _, ok := first[v.Stream]; !ok {
				first[v.Stream] = v.Off
			}
			return nil
		}
		all.asks = trials.Ask(new(trials.Answers), nil)
		c := *all.code
		c.watched = true
		all.code = &c
		if err := all.flow(context.Background(), new(trials.Insns)); err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			r := s.newRun(q)
			r.learns = true
			if err := r.flow(context.Background(), new(trials.Insns)); err != errContradicted {
				continue
			}
			for st, end := range r.clear() {
				known++
				if end > 8<<10 && end < math.MaxInt64 {
					far++
				}
				if off, ok := first[st]; ok && off < end {
					t.Errorf("seed %d, %+v: stream %d is contradicted nowhere before %d, it is said, but is at %d", seed, q, st, end, off)
				}
			}
		}
		s.Close()
	}
	if known < 20 || far < 10 {
		t.Errorf("%d streams of which it is known, %d of them for a while: too few", known, far)
	}
}
