package v3

import "github.com/ptdecode/ptdecode/decoder/event"

// Flow turns what packets say into events, in stream order. It holds what packets
// leave out: the address told last, by which the next is compressed, the instruction
// set, the context, the time; and outcomes that are told together.
type Flow struct {
	Clock
	Synced  bool   // an I-sync has been read since the bytes could not be
	Addr    uint64 // told last
	Set     Set    // told last
	Context Context

	// Outcomes not yet told.
	Bits     uint64 // the oldest in bit 63
	N        uint8
	Off, End int64 // of their packets

	queue [queueSize]event.Event
	head  int // index of the next event to hand out
	tail  int // index after the last event
}

// queueSize is how many events a packet makes at most, what waited before it
// included.
const queueSize = 12

// Context is a context as far as it has been told.
type Context struct {
	Flags    uint64 // Value2 of a Context of DetailPE
	ID, VMID uint32
}

// Put sets or clears a flag.
func (c *Context) Put(flag uint64, on bool) {
	c.Flags &^= flag
	if on {
		c.Flags |= flag
	}
}

// Reset begins a segment of time t.
func (f *Flow) Reset(t event.Time) {
	f.Clock.Reset(t)
	f.Synced, f.Addr, f.Set, f.Context = false, 0, ARM, Context{}
	f.Bits, f.N = 0, 0
	f.head, f.tail = 0, 0
}

// Empty reports whether no event waits to be handed out.
func (f *Flow) Empty() bool { return f.head == f.tail }

// Next writes the next event to e, every field of it, and reports whether there was
// one.
func (f *Flow) Next(e *event.Event) bool {
	if f.head == f.tail {
		f.head, f.tail = 0, 0
		return false
	}
	*e = f.queue[f.head]
	f.head++
	return true
}

// Push appends an event for the packets [off, end) and returns it. Everything but
// its place and Time is zero.
func (f *Flow) Push(off, end int64) *event.Event {
	e := &f.queue[f.tail]
	f.tail++
	*e = event.Event{Off: off, End: end, Time: f.When(end)}
	return e
}

// Here states the address and the instruction set told last in e.
func (f *Flow) Here(e *event.Event) {
	e.IP = f.Addr
	e.Mode = uint8(f.Set.Mode())
	e.Flags |= event.FlagIP | event.FlagMode
}

// Restate tells where the flow is, by the packets [off, end).
func (f *Flow) Restate(off, end int64) {
	e := f.Push(off, end)
	e.Kind, e.Flags = event.Sync, event.FlagRestated
	f.Here(e)
}

// Merge replaces the low bits of the address told last by those of address bytes.
func (f *Flow) Merge(v uint64, n uint8, alternative bool) {
	a, used := f.Set.Bits(v, n, alternative)
	mask := uint64(1)<<used - 1
	f.Addr = f.Addr&^mask | a&mask
}

// Outcomes gathers n outcomes, the oldest in bit n-1 of v, told by the packet
// [off, end).
func (f *Flow) Outcomes(v uint64, n uint8, off, end int64) {
	if f.N+n > 64 {
		f.Flush()
	}
	if f.N == 0 {
		f.Off = off
	}
	f.Bits |= v << (64 - n) >> f.N
	f.N += n
	f.End = end
}

// Flush tells the outcomes gathered.
func (f *Flow) Flush() {
	if f.N == 0 {
		return
	}
	e := f.Push(f.Off, f.End)
	e.Kind, e.Value, e.N = event.Outcomes, f.Bits, f.N
	f.Bits, f.N = 0, 0
}

// Passed tells the outcomes gathered, and notes that a packet of the flow has been
// told, which a timestamp before it does not bound.
func (f *Flow) Passed() {
	if f.isLate {
		f.Flush()
		f.Lo, f.isLate = f.late, false
	}
}

// Payload tells a packet that says nothing of the flow.
func (f *Flow) Payload(off, end int64, k event.Detail) *event.Event {
	e := f.Push(off, end)
	e.Kind, e.Detail = event.Payload, k
	return e
}

// Timestamp tells a timestamp packet that ends at end; rate says that the clock's rate
// has changed. It bounds what comes next or, where late, what comes behind the next
// packet of the flow.
func (f *Flow) Timestamp(p Timestamp, end int64, rate, late bool) {
	f.Flush()
	t := f.Stamp.Update(p.Value, p.N)
	lo := f.Lo
	if f.Stamp.Known() {
		f.Lo = f.conv.Lo(t)
	}
	e := f.Payload(p.Off, end, event.DetailTimestamp)
	if e.Value = t; rate {
		e.Value2 = 1
	}
	if f.Stamp.Known() && late {
		f.Lo, f.late, f.isLate = lo, f.Lo, true
	}
}

// TellContext tells the context, by the packets [off, end).
func (f *Flow) TellContext(off, end int64) *event.Event {
	e := f.Push(off, end)
	e.Kind, e.Detail = event.Context, event.DetailPE
	e.Value, e.Value2 = uint64(f.Context.VMID)<<32|uint64(f.Context.ID), f.Context.Flags
	return e
}

// SetState takes over the security state and mode of an exception's bytes in info,
// and tells them if they are others. hyp says that the bytes tell of Hyp mode.
func (f *Flow) SetState(info uint16, hyp bool, off, end int64) {
	was := f.Context.Flags
	f.Context.Put(event.PENonSecure, info&ExcNS != 0)
	f.Context.Put(event.PEAltISA, info&ExcAlt != 0)
	if hyp {
		f.Context.Put(event.PEHyp, info&ExcHyp != 0)
	}
	if f.Context.Flags != was {
		f.TellContext(off, end)
	}
}

// TakeAddress takes over the address of an I-sync and its instruction set.
func (f *Flow) TakeAddress(addr uint64, info uint16) {
	f.Addr = addr &^ 1
	switch {
	case addr&1 == 0:
		f.Set = ARM
	case info&InfoAlt != 0:
		f.Set = ThumbEE
	default:
		f.Set = Thumb
	}
}

// TakeContext takes over the context of an I-sync, with n bytes of context ID.
func (f *Flow) TakeContext(info uint16, id uint32, n uint8) {
	f.Context.Put(event.PENonSecure, info&InfoNS != 0)
	f.Context.Put(event.PEAltISA, info&InfoAlt != 0)
	f.Context.Put(event.PEHyp, info&InfoHyp != 0)
	if n > 0 {
		f.Context.ID = id
		f.Context.Flags |= event.PEHasID
	}
}

// TraceOn tells why tracing goes on, by an I-sync at [off, end).
func (f *Flow) TraceOn(reason int, off, end int64) {
	if reason == ReasonOverflow {
		f.Push(off, end).Kind = event.Overflow
	}
	e := f.Push(off, end)
	e.Kind, e.Detail, e.Value = event.Off, event.DetailTraceOn, uint64(reason)
}

// Lose tells that nothing is known up to the next I-sync.
func (f *Flow) Lose(off, end int64) {
	f.Synced = false
	e := f.Push(off, end)
	e.Kind, e.Detail = event.Off, event.DetailNoSync
}

// Bad tells of bytes that are no packet; nothing is known up to the next I-sync
// behind them. cut says that the stream ends inside of the packet. Zeros there may be
// an A-sync: they take nothing away.
func (f *Flow) Bad(off, end int64, cut, zeros bool) {
	f.Flush()
	if cut && zeros {
		return
	}
	e := f.Push(off, end)
	e.Kind, e.Reason, e.Flags = event.Trouble, event.BadPacket, event.FlagNoPacket
	if cut {
		e.Reason = event.Truncated
		return
	}
	f.Lose(off, end)
}
