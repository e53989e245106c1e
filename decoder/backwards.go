package decoder

import (
	"errors"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// errWhole ends a walk whose flow is wanted no further.
var errWhole = errors.New("decoder: all that is wanted is there")

// backwards decodes the job's segments from the last to the first and hands on
// the flow of each, its last batch first. Where there is no memory for all of a
// segment's flow, it keeps the newest, and decodes the segment again for what lies
// before it.
func (o *outlet) backwards(segment func(i int, out flow.Sink) error) error {
	for i := len(o.job.segs) - 1; i >= 0; i-- {
		for until := math.MaxInt; until > 0; {
			k := &keeper{out: o, until: until}
			if err := segment(i, k); err != nil && err != errWhole {
				return err
			}
			until = k.dropped
			o.run.s.passes.Add(1)
			if err := k.deliver(); err != nil {
				return err
			}
		}
	}
	return nil
}

// keeper is a Sink that keeps the newest batches of what it is given: as many as
// there is memory for. It counts items, ranges and notes: how a walk cuts them
// into batches may be otherwise the next time.
type keeper struct {
	out     *outlet
	until   int           // items that are wanted
	n       int           // items given
	dropped int           // items of them, the oldest, that are not kept
	list    []*flow.Batch // from index head on: the newest
	head    int
	size    int64 // bytes that list holds
	paid    int64 // bytes of them that are of the budget
}

// items counts what is in b.
func items(b *flow.Batch) int { return len(b.Ranges) + len(b.Notes) }

// Flow keeps b, and drops what is oldest where there is no room for it.
func (k *keeper) Flow(b *flow.Batch) error {
	if k.n == k.until {
		return errWhole
	}
	if k.n+items(b) > k.until {
		cutItems(b, k.until-k.n)
	}
	x, err := k.out.adopt(b)
	if err != nil {
		return err
	}
	k.n += items(x)
	k.list = append(k.list, x)
	n := flow.BatchSize(x)
	k.size += n
	r := k.out.run
	for k.size-k.paid > r.shares.Least {
		if r.kept.Claim(n) {
			k.paid += n
			break
		}
		if len(k.list)-k.head == 1 {
			break
		}
		k.drop()
	}
	return nil
}

// cutItems leaves the first n items of b. A note comes before the range at its
// index.
func cutItems(b *flow.Batch, n int) {
	notes := 0
	for notes < len(b.Notes) && b.Notes[notes].At+notes < n {
		notes++
	}
	b.Notes = slices.Delete(b.Notes, notes, len(b.Notes))
	b.Ranges = b.Ranges[:n-notes]
}

// drop drops the oldest batch.
func (k *keeper) drop() {
	x := k.list[k.head]
	k.list[k.head] = nil
	if k.head++; k.head >= 64 && k.head >= len(k.list)/2 {
		k.list = k.list[:copy(k.list, k.list[k.head:])]
		k.head = 0
	}
	n := flow.BatchSize(x)
	k.size -= n
	k.dropped += items(x)
	k.pay(n)
	k.out.run.recycle(x, n)
}

// pay gives the budget back what n bytes took of it.
func (k *keeper) pay(n int64) {
	n = min(n, k.paid)
	k.paid -= n
	k.out.run.kept.Refund(n)
}

// deliver hands on all that is kept, the newest first.
func (k *keeper) deliver() error {
	defer func() { k.pay(k.paid) }()
	for i := len(k.list) - 1; i >= k.head; i-- {
		x := k.list[i]
		k.pay(flow.BatchSize(x))
		if err := k.out.gather(x); err != nil {
			return err
		}
	}
	return nil
}
