package counts

import (
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder"
)

// tally is how often all of a block was executed, where that is not ambiguous. It lies at the
// block's number.
type tally struct {
	block *decoder.Block
	n     uint64
}

// maxTallies bounds the blocks that have one. It is a power of two.
const maxTallies = 1 << 18

// blocks counts ranges of b in a row, but no edges.
func (c *Counter) blocks(t *Table, b *decoder.Batch, list []decoder.BatchRange) {
	for len(list) > 0 {
		i, n := tallied(t.tallies, list)
		c.Instructions.N += n
		if i == len(list) {
			return
		}
		c.Instructions.N += uint64(list[i].N)
		c.block(t, b, &list[i])
		list = list[i+1:]
	}
}

// tallied counts the ranges at the beginning of list whose blocks have a tally, and which are all of it. It returns
// how many these are, and their instructions. It calls nothing: so what the loop needs stays in registers.
func tallied(tallies []tally, list []decoder.BatchRange) (i int, insns uint64) {
	for i := range list {
		r := &list[i]
		b := r.Block
		at := int(b.Number)
		if at >= len(tallies) {
			return i, insns
		}
		x := &tallies[at]
		if x.block != b || r.N != b.N || r.Verdict == decoder.Ambiguous {
			return i, insns
		}
		insns += uint64(r.N)
		x.n++
	}
	return len(list), insns
}

// block counts r of batch, whose block has no tally, or which is not all of it, or ambiguous.
func (c *Counter) block(t *Table, batch *decoder.Batch, r *decoder.BatchRange) {
	x, b := t.node(r.Block), r.Block
	asked := c.o.Each != nil && c.o.Each(batch, r)
	switch at := int(b.Number); {
	case r.Verdict == decoder.Ambiguous:
		c.doubtful(x, r)
	case r.N != b.N:
		x.part(r.N).N++
	default:
		if x.n++; asked {
			return // without a tally it comes here each time
		}
		if at >= len(t.tallies) && at < maxTallies {
			t.tallies = append(make([]tally, 0, 1<<bits.Len(uint(at))), t.tallies...)
			t.tallies = t.tallies[:cap(t.tallies)]
		}
		if at < len(t.tallies) && t.tallies[at].block == nil {
			t.tallies[at].block = b
		}
	}
}

// settle adds the tallies and the walks to the nodes.
func (t *Table) settle() {
	t.settleWalks()
	for i := range t.tallies {
		if x := &t.tallies[i]; x.n > 0 {
			t.nodes[x.block].n += x.n
			x.n = 0
		}
	}
}
