package v3

import (
	"math"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Timestamp is a timestamp packet: N bytes of a timestamp, seven bits each, and
// where in the stream the packet lies.
type Timestamp struct {
	Value uint64
	N     uint8
	Off   int64 // bytes
}

// Clock bounds when things happened: by the timestamps before and behind.
type Clock struct {
	Stamp wire.Stamp
	Lo    uint64 // ns: what is told next was not before
	conv  event.TimeConv
	end   uint64 // ns: the segment's upper bound

	late   uint64 // ns: what Lo becomes behind the next packet of the flow
	isLate bool   // there is such a bound

	find  func() (Timestamp, bool) // the next timestamp behind the Decoder; nil: none is looked for
	ahead wire.Stamp
	off   int64  // offset of the timestamp found
	hi    uint64 // ns: the bound that it gives
}

// NewClock returns the Clock of a trace unit with registers c. find gives the
// timestamps in front of the decoder one by one; nil: what is told has the segment's
// upper bound.
func NewClock(c *coresight.Config, conv event.TimeConv, find func() (Timestamp, bool)) Clock {
	if !c.V3.Timestamps() {
		find = nil
	}
	return Clock{Stamp: NewStamp(c), conv: conv, find: find}
}

// NewStamp returns the state of timestamps before the first.
func NewStamp(c *coresight.Config) wire.Stamp {
	return wire.Stamp{Wide: c.WideTimestamps(), Gray: !c.NaturalTimestamps()}
}

// Reset begins a segment of time t; find begins anew.
func (c *Clock) Reset(t event.Time) {
	c.Stamp.Reset()
	c.Lo, c.end, c.isLate = t.Lo, t.Hi, false
	c.ahead, c.off, c.hi = c.Stamp, -1, t.Hi
	if c.find == nil {
		c.off = math.MaxInt64
	}
}

// Known takes a timestamp that another segment tells: what follows it was not before
// it.
func (c *Clock) Known(t Timestamp) {
	if ticks := c.Stamp.Update(t.Value, t.N); c.Stamp.Known() {
		c.Lo = c.conv.Lo(ticks)
	}
}

// When returns the time of what was sent before offset end.
func (c *Clock) When(end int64) event.Time {
	if c.off < end {
		c.search(end)
	}
	lo, hi := c.Lo, c.hi
	if lo > hi {
		lo, hi = hi, lo // the trace's clock was set back
	}
	return event.Time{Lo: lo, Hi: hi}
}

// search makes the first timestamp at or behind end the one found.
func (c *Clock) search(end int64) {
	for c.off < end {
		t, ok := c.find()
		if !ok {
			c.off, c.hi = math.MaxInt64, c.end
			return
		}
		if ticks := c.ahead.Update(t.Value, t.N); c.ahead.Known() {
			c.off, c.hi = t.Off, min(c.conv.Hi(ticks), c.end)
		}
	}
}

// Late reports whether a timestamp waits to bound what comes behind the next packet
// of the flow.
func (c *Clock) Late() bool { return c.isLate }
