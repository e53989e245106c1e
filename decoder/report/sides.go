package report

import (
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// poked is the pokes that touch the code between two addresses, in order, and of how many different
// stretches they are. Of a long recording it is many, so that they are not gone through for each
// version of the code.
type poked struct {
	pokes     []int32
	stretches int
}

// stretch returns where poke i lies, and how many bytes it has.
func (c *Crossings) stretch(i int) [2]uint64 {
	r := c.Session.Text().Journal().Poke(i).Range()
	return [2]uint64{r.Addr, r.Len}
}

// at returns and keeps the pokes between two addresses.
func (c *Crossings) at(addr, end uint64) *poked {
	key := [2]uint64{addr, end}
	x := c.sites[key]
	if x == nil {
		x = &poked{}
		c.found = c.found[:0]
		c.pokes = c.Session.Text().Between(addr, int(end-addr), 0, event.MaxEpoch, c.pokes[:0])
		for _, i := range c.pokes {
			x.pokes = append(x.pokes, int32(i))
			c.finds(i)
		}
		x.stretches = len(c.found)
		c.sites[key] = x
	}
	return x
}

// finds notes the stretch of poke i, and reports whether it is another one than those found so far.
func (c *Crossings) finds(i int) bool {
	r := c.stretch(i)
	if slices.Contains(c.found, r) {
		return false
	}
	c.found = append(c.found, r)
	return true
}

// find returns and keeps which sides of which pokes b executes, nil if none. Of each stretch, the last poke
// before b's code may be one whose new text that is. The first one behind it may be one whose old
// text it is.
func (c *Crossings) find(b *decoder.Block) *[]hit {
	var list []hit
	if len(c.hits) >= maxHits {
		clear(c.hits)
	}
	x := c.at(b.Addr, b.End)
	n := sort.Search(len(x.pokes), func(k int) bool { return event.Epoch(x.pokes[k])+1 > b.Span.From })
	c.found = c.found[:0]
	for k := n - 1; k >= 0 && len(c.found) < x.stretches; k-- {
		if i := int(x.pokes[k]); c.finds(i) && b.Span.From < c.after(i) {
			list = append(list, hit{i, c.need(b, i), true})
		}
	}
	n = sort.Search(len(x.pokes), func(k int) bool { return event.Epoch(x.pokes[k])+1 >= b.Span.Until })
	c.found = c.found[:0]
	for k := n; k < len(x.pokes) && len(c.found) < x.stretches; k++ {
		if i := int(x.pokes[k]); c.finds(i) && b.Span.Until > c.before(i) {
			list = append(list, hit{i, c.need(b, i), false})
		}
	}
	if len(list) == 0 {
		c.hits[b] = nil
	} else {
		c.hits[b] = &list
	}
	return c.hits[b]
}

// need returns how many instructions b has, up to the first that lies on poke i.
func (c *Crossings) need(b *decoder.Block, i int) (n uint16) {
	p, a := c.Session.Text().Journal().Poke(i), b.Addr
	for _, l := range b.Lens {
		n++
		if a += uint64(l); a > p.Addr {
			break
		}
	}
	return n
}

// nearby is how many epochs are looked through first for a poke before another one, or behind it.
const nearby = 256

// before returns the epoch from which on one side of poke i is what stands there: behind the poke
// before it on the same bytes.
func (c *Crossings) before(i int) event.Epoch {
	r := c.stretch(i)
	for n := nearby; ; n *= 8 {
		from := max(i-n, 0)
		c.pokes = c.Session.Text().Between(r[0], int(r[1]), event.Epoch(from), event.Epoch(i), c.pokes[:0])
		if k := len(c.pokes); k > 0 {
			return event.Epoch(c.pokes[k-1]) + 1
		}
		if from == 0 {
			return 0
		}
	}
}

// after returns the epoch up to which a side of poke i is what stands there: with the poke behind
// it on the same bytes it ends.
func (c *Crossings) after(i int) event.Epoch {
	r, last := c.stretch(i), c.Session.Text().Journal().Len()
	for n := nearby; ; n *= 8 {
		end := min(i+n, last)
		c.pokes = c.Session.Text().Between(r[0], int(r[1]), event.Epoch(i)+1, event.Epoch(end), c.pokes[:0])
		if len(c.pokes) > 0 {
			return event.Epoch(c.pokes[0]) + 1
		}
		if end == last {
			return event.MaxEpoch
		}
	}
}
