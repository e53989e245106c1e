package kcore

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// cell is bytes that each poke changes whole or not at all.
type cell struct {
	off, end uint16    // in the page; off < end
	versions []version // by from; the first is from epoch 0
	img      []byte    // the image's bytes, where a version is made of them
}

// version is the bytes of a cell from an epoch until the next version's. It
// names where they lie, so that a change costs 8 bytes however long it is.
type version struct {
	from event.Epoch
	of   origin
}

// origin is where the bytes of a version lie. The poke's index times two stands
// for its old code, that and one for its new code. The constants stand for the
// rest.
type origin uint32

const (
	ofNothing origin = 1<<32 - 1 // unknown
	ofImage   origin = 1<<32 - 2
)

// oldOf returns the origin of bytes in a poke's old text.
func oldOf(poke int32) origin { return origin(poke) << 1 }

// newOf returns the origin of bytes in a poke's new text.
func newOf(poke int32) origin { return origin(poke)<<1 | 1 }

// bytesOf returns the bytes of c in a version, nil if they are unknown.
func (t *Text) bytesOf(p *page, c *cell, of origin) []byte {
	switch of {
	case ofNothing:
		return nil
	case ofImage:
		return c.img
	}
	q := &t.j.pokes[of>>1]
	data := q.Old
	if of&1 != 0 {
		data = q.New
	}
	return part(data, q.Addr, p.base+uint64(c.off), int(c.end)-int(c.off))
}

// cellAt returns bytes [from, to) of the cell as of an epoch, nil if unknown,
// and the epochs around it for which they are the same.
func (t *Text) cellAt(p *page, c *cell, e event.Epoch, from, to int) ([]byte, event.Span) {
	lo, hi := 0, len(c.versions)
	for lo+1 < hi {
		mid := int(uint(lo+hi) >> 1)
		if c.versions[mid].from <= e {
			lo = mid
		} else {
			hi = mid
		}
	}
	data := t.bytesOf(p, c, c.versions[lo].of)
	same := func(i int) bool {
		other := t.bytesOf(p, c, c.versions[i].of)
		if data == nil || other == nil {
			return data == nil && other == nil
		}
		return string(data[from:to]) == string(other[from:to])
	}
	first, next := lo, lo+1
	for first > 0 && same(first-1) {
		first--
	}
	for next < len(c.versions) && same(next) {
		next++
	}
	span := event.Span{From: c.versions[first].from, Until: event.MaxEpoch}
	if next < len(c.versions) {
		span.Until = c.versions[next].from
	}
	if data == nil {
		return nil, span
	}
	return data[from:to], span
}

// known reports whether the cell's bytes are known at an epoch.
func (c *cell) known(e event.Epoch) bool {
	i, exact := slices.BinarySearchFunc(c.versions, e, func(v version, e event.Epoch) int {
		if v.from < e {
			return -1
		}
		return int(min(v.from-e, 1))
	})
	if !exact {
		i--
	}
	return c.versions[i].of != ofNothing
}

// forget makes the cell unknown in the given spans.
func (c *cell) forget(spans []event.Span) {
	if len(spans) == 0 {
		return
	}
	spans = joinSpans(spans)
	var out []version
	for i, v := range c.versions {
		until := event.MaxEpoch
		if i+1 < len(c.versions) {
			until = c.versions[i+1].from
		}
		from := v.from
		for len(spans) > 0 && spans[0].Until <= from {
			spans = spans[1:]
		}
		for _, s := range spans {
			if s.From >= until || from >= until {
				break
			}
			if s.Until <= from {
				continue
			}
			if s.From > from {
				out = append(out, version{from, v.of})
			}
			out = append(out, version{max(s.From, from), ofNothing})
			from = min(s.Until, until)
		}
		if from < until {
			out = append(out, version{from, v.of})
		}
	}
	c.versions = out
}

// joinSpans sorts spans and joins those that touch, in place.
func joinSpans(spans []event.Span) []event.Span {
	slices.SortFunc(spans, func(a, b event.Span) int { return cmp.Compare(a.From, b.From) })
	joined := spans[:1]
	for _, s := range spans[1:] {
		if l := &joined[len(joined)-1]; s.From <= l.Until {
			l.Until = max(l.Until, s.Until)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// joinVersions drops versions of a cell that equal the one before.
func (t *Text) joinVersions(p *page, c *cell) {
	out := c.versions[:1]
	last := t.bytesOf(p, c, out[0].of)
	for _, v := range c.versions[1:] {
		data := t.bytesOf(p, c, v.of)
		if (data == nil) != (last == nil) || !bytes.Equal(data, last) {
			out, last = append(out, v), data
		}
	}
	if c.versions = out; cap(out) > 2*len(out) {
		c.versions = slices.Clone(out)
	}
}
