package etmv4

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// elemKind is what an elem states. DDI0487, chapter "The Embedded Trace
// Extension", section "Trace elements".
type elemKind uint8

const (
	elNone      elemKind = iota
	elAtoms              // n atoms in value, the oldest in bit n-1
	elTarget             // ip, is: where the next instruction lies
	elContext            // value, value2 as event.DetailPE
	elTraceOn            //
	elInfo               // a Trace Info inside a segment
	elPayload            // detail, value, value2
	elException          // value: type; ip: preferred return address, is; flags: FlagTaken: it is a target too; FlagHere: it is not stated
	elFail               // a transaction failed
	elQuiet              // value: instructions if FlagCount; ip, is: the next one
	elReach              // ip: the last instruction, a branch
)

// elem is one statement of the trace, with what the packets left out.
type elem struct {
	kind   elemKind
	n      uint8 // atoms
	is     uint8
	p0     bool // it counts as one P0 element (elAtoms: as n)
	keep   bool // a Cancel leaves it
	detail event.Detail
	flags  event.Flags
	value  uint64
	value2 uint64
	ip     uint64
	off    int64
	end    int64
	time   event.Time
}

// emitter makes events of the elements that stand. An exception waits in its queue
// for its destination, which the trace states behind it, and an address for the
// context that says which instruction set it is in.
type emitter struct {
	mProfile bool // the traced core is of profile M

	queue  []event.Event
	head   int // index of the next event to hand out
	open   int // index of the event whose address may still change, or -1
	held   int // index of the first event that waits for something to be traced, or -1
	openIS uint8

	gap     bool // behind a Trace On, and nothing is said of it yet
	on      bool // the flow's address has been stated since tracing was last off
	known   bool // so has the context
	sf      bool // AArch64
	restate bool // a Trace Info has cleared the return stack, and no event says so yet
}

// clear drops all events and what is known of the flow.
func (m *emitter) clear() {
	*m = emitter{mProfile: m.mProfile, queue: m.queue[:0], open: -1, held: -1}
}

// handOut writes the next event that waits for nothing to e, every field of it, and
// reports whether there was one.
func (m *emitter) handOut(e *event.Event) bool {
	for m.head < len(m.queue) && m.head != m.held {
		*e = m.queue[m.head]
		if m.head++; m.head == len(m.queue) {
			m.queue, m.head = m.queue[:0], 0
		} else if m.head >= shrinkFrom {
			m.shrink()
		}
		if e.Kind != event.KindNone {
			return true
		}
	}
	return false
}

// shrinkFrom is how many events are handed out before shrink looks at their
// places.
const shrinkFrom = 64

// shrink gives the places of events that were handed out to others, once they are
// half of the queue. Without it, a queue in which an event always waits would grow
// for as long as the segment lasts.
func (m *emitter) shrink() {
	n := m.head
	if 2*n < len(m.queue) {
		return
	}
	m.queue = append(m.queue[:0], m.queue[n:]...)
	m.head = 0
	if m.open >= 0 {
		m.open -= n
	}
	if m.held >= 0 {
		m.held -= n
	}
}

// shape makes events of x, which stands.
func (m *emitter) shape(x *elem) {
	switch x.kind {
	case elAtoms:
		m.commitOpen()
		m.outcomes(x)
	case elTarget:
		m.target(x)
	case elContext:
		m.sf, m.known = x.value2&event.PE64 != 0, true
		e := m.push(x)
		e.Kind, e.Detail, e.Value, e.Value2 = event.Context, event.DetailPE, x.value, x.value2
		m.holdBack()
	case elTraceOn:
		m.retractEnable()
		if m.restate { // the address behind a Trace Info is where tracing goes on
			m.retractOpen(event.Target)
		}
		held := m.held
		m.commitOpen()
		m.held = held // what waits for more still does
		e := m.push(x)
		e.Kind, e.Detail = event.Off, event.DetailTraceOn
		m.on, m.restate, m.gap = false, false, true
		m.holdBack()
	case elInfo:
		m.restate = m.on
	case elPayload:
		if x.p0 {
			m.commitOpen()
		}
		e := m.push(x)
		e.Kind, e.Detail, e.Value, e.Value2 = event.Payload, x.detail, x.value, x.value2
		if !x.p0 && needsMore(e) {
			m.holdBack()
		}
	case elException:
		m.exception(x)
	case elFail:
		m.fail(x)
	case elQuiet:
		m.commitOpen()
		if !m.on {
			m.nowhere(x)
			m.target(x)
			return
		}
		e := m.push(x)
		e.Kind, e.Value, e.Flags, e.IP = event.Quiet, x.value, x.flags|event.FlagIP, x.ip
		m.openIS = x.is
		m.awaitAddress()
	case elReach:
		m.commitOpen()
		if m.on {
			e := m.push(x)
			e.Kind, e.IP, e.Flags = event.Reach, x.ip, event.FlagIP|event.FlagTaken
		} else {
			m.nowhere(x)
		}
	}
}

// nowhere tells of x, which says that instructions ran, that nothing says where. Behind a Trace On an address has to
// come first, and the context (DDI0487, "Trace On element"). So packets are missing there, or others.
func (m *emitter) nowhere(x *elem) {
	if m.gap {
		m.gap = false
		e := m.push(x)
		e.Kind, e.Reason = event.Trouble, event.BadPacket
	}
}

// fail makes events of a transaction's failure. It waits for where that led to.
func (m *emitter) fail(x *elem) {
	if m.on {
		m.commitOpen()
	} else {
		m.retractEnable() // nothing is left of what was traced from there
	}
	e := m.push(x)
	e.Kind, e.Detail = event.Payload, event.DetailTxAbort
	if m.on {
		e = m.push(x)
		e.Kind, e.Flags = event.Async, event.FlagHere|event.FlagAbort
		m.awaitAddress()
	}
}

// maxHeld is how many events may wait behind one whose address may change. Then the address
// counts as it is: no trace unit leaves it open for so long, but damaged trace may.
const maxHeld = 1 << 12

// push appends an event for x to the queue and returns it. All but its place
// and time is zero.
func (m *emitter) push(x *elem) *event.Event {
	if m.held >= 0 && len(m.queue)-m.held > maxHeld {
		m.commitOpen()
	}
	m.queue = append(m.queue, event.Event{Off: x.off, End: x.end, Time: x.time})
	return &m.queue[len(m.queue)-1]
}

// outcomes tells the atoms of x, in the event before where they fit and it is
// the last.
func (m *emitter) outcomes(x *elem) {
	if !m.on {
		m.nowhere(x)
		return
	}
	if n := len(m.queue); n > m.head {
		if e := &m.queue[n-1]; e.Kind == event.Outcomes && e.N+x.n <= 64 && e.Time == x.time {
			e.Value |= x.value << (64 - e.N - x.n)
			e.N += x.n
			e.End = x.end
			return
		}
	}
	e := m.push(x)
	e.Kind, e.N, e.Value = event.Outcomes, x.n, x.value<<(64-x.n)
}

// target tells where the next instruction lies: in the event that waits for
// that, or in a new one. Of several addresses before an instruction is traced
// the last holds. DDI0487, "Target Address element".
func (m *emitter) target(x *elem) {
	if m.open < 0 {
		e := m.push(x)
		e.Kind = event.Target
		if !m.on {
			e.Kind = event.Enable
		}
		m.awaitAddress()
	}
	e := &m.queue[m.open]
	e.IP = x.ip
	e.Flags |= event.FlagIP
	e.End = max(e.End, x.end)
	m.openIS = x.is
}

// holdBack keeps the event pushed last, and those behind it, until something is
// traced.
func (m *emitter) holdBack() {
	if m.held < 0 {
		m.held = len(m.queue) - 1
	}
}

// awaitAddress says that the event pushed last has an address that may still change.
func (m *emitter) awaitAddress() {
	m.open = len(m.queue) - 1
	m.holdBack()
}

// commitOpen lets go what waits for something to be traced: the address of the event
// that is open stands.
func (m *emitter) commitOpen() {
	m.held = -1
	if m.open < 0 {
		return
	}
	e := &m.queue[m.open]
	if e.Kind == event.Enable {
		if !m.known { // nothing says what instructions there are
			m.retractEnable()
			return
		}
		m.on, m.gap = true, false
	}
	m.open = -1
	if !e.HasIP() {
		return
	}
	mode := uint8(m.mode(m.openIS))
	e.Mode = mode
	e.Flags |= event.FlagMode
	if m.restate {
		m.restate = false
		x := elem{off: e.End, end: e.End, time: e.Time, ip: e.IP}
		e = m.push(&x)
		e.Kind, e.IP, e.Mode = event.Sync, x.ip, mode
		e.Flags = event.FlagIP | event.FlagMode | event.FlagRestated
	}
}

// retractEnable takes back an Enable from which nothing was traced.
func (m *emitter) retractEnable() { m.retractOpen(event.Enable) }

// retractOpen takes back the event whose address may still change, if it is of kind k.
func (m *emitter) retractOpen(k event.Kind) {
	if m.open >= 0 && m.queue[m.open].Kind == k {
		m.queue[m.open].Kind = event.KindNone
		m.open = -1
	}
}

// needsMore reports whether e says nothing where nothing more is traced: that
// tracing goes on, in what context, where an exception returns to. Such elements
// stand when the next P0 element does.
func needsMore(e *event.Event) bool {
	switch e.Detail {
	case event.DetailTraceOn, event.DetailPE, event.DetailExceptionRet:
		return true
	}
	return false
}

// flush lets go what waits where nothing more is traced.
func (m *emitter) flush() {
	for i := max(m.held, 0); m.held >= 0 && i < len(m.queue); i++ {
		if needsMore(&m.queue[i]) {
			m.queue[i].Kind = event.KindNone
		}
	}
	m.retractEnable()
	m.commitOpen()
}

// Exception numbers that are breakpoints'.
const (
	typeInstDebug    = 6  // A and R profiles: BRK, and hardware breakpoints
	typeDebugMonitor = 12 // M profile
)

// tailChained is the preferred return address of an exception that was taken
// without returning from the one before: M profile.
const tailChained = 0xfffffffe

// exception makes events of an exception. It waits for its destination.
func (m *emitter) exception(x *elem) {
	if x.flags&event.FlagTaken != 0 {
		m.target(x)
	}
	m.commitOpen()
	here := x.flags&event.FlagHere != 0 || m.mProfile && x.ip&0xffffffff == tailChained
	if !m.on {
		if here {
			e := m.push(x)
			e.Kind, e.Detail, e.Value = event.Payload, event.DetailException, x.value
			return
		}
		// All that is known is that control was at the preferred return address: the flow
		// is taken up there.
		e := m.push(x)
		e.Kind, e.IP, e.Flags = event.Enable, x.ip, event.FlagIP
		if m.known {
			e.Mode = uint8(m.mode(x.is))
			e.Flags |= event.FlagMode
		}
		m.on, m.gap = true, false
	}
	e := m.push(x)
	e.Kind, e.Detail, e.Value, e.From = event.Async, event.DetailException, x.value, x.ip
	e.Flags = event.FlagIntr
	if x.value == typeInstDebug && !m.mProfile || x.value == typeDebugMonitor && m.mProfile {
		e.Flags = event.FlagBreak
	}
	if here {
		e.From = 0
		e.Flags |= event.FlagHere
	}
	m.awaitAddress()
}

// mode returns the instruction set at an address of IS is, as the context is
// now.
func (m *emitter) mode(is uint8) isa.Mode {
	switch {
	case is != 0:
		return isa.ModeT32
	case m.sf:
		return isa.ModeA64
	}
	return isa.ModeA32
}
