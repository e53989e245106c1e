package step

import (
	"context"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// cursor is a place in a window: an instruction that was executed.
type cursor struct {
	*window
	ctx  context.Context
	i, k int // item, and instruction of it
}

// place names where a cursor stands, however its window grows.
type place struct {
	in   *window
	i, k int
}

// place returns where c stands.
func (c *cursor) place() place { return place{c.window, c.i - c.front, c.k} }

// here returns the item and whether there is one.
func (c *cursor) here() (*item, bool) {
	if c.i < len(c.items) {
		return &c.items[c.i], true
	}
	return nil, false
}

// next goes to the instruction executed after this one; false at the end.
func (c *cursor) next() (bool, error) {
	if x, ok := c.here(); ok && c.k+1 < x.n {
		c.k++
		return true, nil
	}
	for c.i+1 >= len(c.items) {
		if c.last {
			return false, nil
		}
		if err := c.more(c.ctx); err != nil {
			return false, err
		}
	}
	c.i, c.k = c.i+1, 0
	return true, nil
}

// previous goes to the instruction executed before this one; false at the start.
func (c *cursor) previous() (bool, error) {
	if c.k > 0 {
		c.k--
		return true, nil
	}
	if err := c.lookBack(); err != nil || c.i == 0 {
		return false, err
	}
	c.i--
	c.k = c.items[c.i].n - 1
	return true, nil
}

// toward moves in one direction until stop says so of where it stands. Where it never
// does, the cursor stays, and found is false.
func (c *cursor) toward(back bool, stop func() bool) (found bool, err error) {
	at, front := *c, c.front
	for {
		var ok bool
		if back {
			ok, err = c.previous()
		} else {
			ok, err = c.next()
		}
		if err == nil && ok && stop() {
			return true, nil
		}
		if err != nil || !ok {
			c.i, c.k = at.i+c.front-front, at.k
			return false, err
		}
	}
}

// class returns what the instruction at the cursor does to the flow.
func (c *cursor) class() isa.Class {
	x, ok := c.here()
	if !ok || c.k != int(x.block.N)-1 {
		return isa.Other
	}
	return x.block.Class
}

// atPoke reports whether a change touches the instruction at the cursor, or took effect
// just before it.
func (c *cursor) atPoke() bool {
	x, ok := c.here()
	if !ok {
		return false
	}
	if c.k == 0 {
		for i := range x.notes {
			if n := &x.notes[i]; n.Kind == decoder.NoteTrap || n.Kind == decoder.NoteCut {
				return true
			}
		}
	}
	if x.block.Span == event.EveryEpoch || x.block.Space != 0 {
		return false
	}
	return len(c.of.Text().Between(x.addr(c.k), int(x.block.Lens[c.k]), 0, event.MaxEpoch, nil)) > 0
}

// over goes behind the call at the cursor, or to the next instruction if it is none.
func (c *cursor) over() (bool, error) {
	x, ok := c.here()
	if !ok {
		return false, nil
	}
	if class := c.class(); class != isa.Call && class != isa.CallInd {
		return c.next()
	}
	behind, depth := x.block.End, 1
	return c.toward(false, func() bool {
		y := &c.items[c.i]
		if depth == 0 && y.addr(c.k) == behind {
			return true
		}
		switch c.class() {
		case isa.Call, isa.CallInd:
			depth++
		case isa.Return:
			depth = max(0, depth-1)
		}
		return false
	})
}
