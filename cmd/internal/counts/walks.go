package counts

import "github.com/ptdecode/ptdecode/decoder"

// walk is a path of the walker (decoder.Batch.Walked) with how often it was executed. It fills a cache line.
type walk struct {
	n     uint64  // executions that its nodes and their edges do not count yet
	insns uint64  // in one
	last  *node   // of nodes
	from  *node   // executed before it, the last time
	via   *edge   // from there
	nodes []*node // of its blocks; nil: it was not met
}

// walkChunk is how many walks memory is taken for at once.
const walkChunk = 256

// walk returns the walk of the path with a number.
func (t *Table) walk(number uint32) *walk {
	for int(number)/walkChunk >= len(t.walks) {
		t.walks = append(t.walks, new([walkChunk]walk))
	}
	return &t.walks[number/walkChunk][number%walkChunk]
}

// AsksPaths says that c need not see each range that was walked as before (decoder.PathSink).
func (c *Counter) AsksPaths() bool {
	o := &c.o
	return c.filter == nil && !o.Threads && !o.Time && !o.Runs && !o.Blocks && !o.Bare && o.Name == nil
}

// addWalks is add, for ranges of b from one index up to another. c.walked is the first of b.Walked that lies there, or behind.
func (c *Counter) addWalks(f *following, b *decoder.Batch, from, to int) {
	for c.walked < len(b.Walked) && int(b.Walked[c.walked].At) < to {
		x := &b.Walked[c.walked]
		c.walked++
		at, end := int(x.At), int(x.At)+int(x.N)
		if at < from || end > to {
			continue
		}
		w := f.table.walk(x.Number)
		if w.nodes != nil {
			c.add(f, b.Ranges[from:at])
			c.again(f, w)
		} else {
			c.add(f, b.Ranges[from:end])
			f.table.meets(w, b.Ranges[at:end])
		}
		from = end
	}
	c.add(f, b.Ranges[from:to])
}

// meets has w be list, which was counted.
func (t *Table) meets(w *walk, list []decoder.BatchRange) {
	w.nodes, w.insns = make([]*node, len(list)), 0
	x := t.node(list[0].Block)
	for i := range list {
		if i > 0 {
			x = t.edgeTo(x, list[i].Block).to
		}
		w.nodes[i] = x
		w.insns += uint64(list[i].N)
	}
	w.last = x
}

// again counts w once more.
func (c *Counter) again(f *following, w *walk) {
	if last := f.last; last != nil {
		if w.from != last {
			w.from, w.via = last, f.table.edgeTo(last, w.nodes[0].block)
		}
		if f.doubt {
			f.table.doubts[edgeEnds{last, w.nodes[0]}]++
		} else {
			w.via.n++
		}
	}
	f.last, f.doubt = w.last, false
	w.n++
	c.Instructions.N += w.insns
}

// settleWalks adds the walks to the nodes and their edges.
func (t *Table) settleWalks() {
	for _, all := range t.walks {
		for i := range all {
			w := &all[i]
			if w.n == 0 {
				continue
			}
			for k, x := range w.nodes {
				if x.n += w.n; k > 0 {
					t.edgeTo(w.nodes[k-1], x.block).n += w.n
				}
			}
			w.n = 0
		}
	}
}
