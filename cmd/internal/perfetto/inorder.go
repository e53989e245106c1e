package perfetto

import "github.com/ptdecode/ptdecode/decoder"

// inOrder gives the tree of calls the flow of a batch as far as it was gone through, before an
// event of the CPU is written. So packets come in the order of the flow, wherever batches are
// cut.
type inOrder struct {
	batch *decoder.Batch // that is gone through; nil: none
	at    [2]int         // ranges and notes gone through
	given [2]int         // of these, those that the tree was given
	piece decoder.Batch
	err   error
}

// goes begins to go through b.
func (o *inOrder) goes(b *decoder.Batch) { o.batch, o.at, o.given = b, [2]int{}, [2]int{} }

// catchUp gives the tree what was gone through.
func (k *Sink) catchUp() {
	o := &k.order
	if o.batch == nil || o.at == o.given {
		return
	}
	p, b := &o.piece, o.batch
	p.Stream, p.Stamps = b.Stream, b.Stamps
	p.Ranges = b.Ranges[o.given[0]:o.at[0]]
	p.Notes = append(p.Notes[:0], b.Notes[o.given[1]:o.at[1]]...)
	for i := range p.Notes {
		p.Notes[i].At -= o.given[0]
	}
	o.given = o.at
	if err := k.tree.Flow(p); err != nil && o.err == nil {
		o.err = err
	}
}
