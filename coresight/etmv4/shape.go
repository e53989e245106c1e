package etmv4

import "github.com/ptdecode/ptdecode/decoder/event"

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

// shape makes events of x, which stands.
func (d *Decoder) shape(x *elem) {
	switch x.kind {
	case elAtoms:
		d.settle()
		if d.on {
			d.outcomes(x)
		}
	case elTarget:
		d.target(x)
	case elContext:
		d.sf, d.known = x.value2&event.PE64 != 0, true
		e := d.push(x)
		e.Kind, e.Detail, e.Value, e.Value2 = event.Context, event.DetailPE, x.value, x.value2
		d.hold()
	case elTraceOn:
		d.drop()
		if d.restate { // the address behind a Trace Info is where tracing goes on
			d.take(event.Target)
		}
		held := d.held
		d.settle()
		d.held = held // what waits for more still does
		e := d.push(x)
		e.Kind, e.Detail = event.Off, event.DetailTraceOn
		d.on, d.restate = false, false
		d.hold()
	case elInfo:
		d.restate = d.on
	case elPayload:
		if x.p0 {
			d.settle()
		}
		e := d.push(x)
		e.Kind, e.Detail, e.Value, e.Value2 = event.Payload, x.detail, x.value, x.value2
		if !x.p0 && needsMore(e) {
			d.hold()
		}
	case elException:
		d.exception(x)
	case elFail:
		d.fail(x)
	case elQuiet:
		d.settle()
		if !d.on {
			d.target(x)
			return
		}
		e := d.push(x)
		e.Kind, e.Value, e.Flags, e.IP = event.Quiet, x.value, x.flags|event.FlagIP, x.ip
		d.openIS = x.is
		d.wait()
	case elReach:
		d.settle()
		if d.on {
			e := d.push(x)
			e.Kind, e.IP, e.Flags = event.Reach, x.ip, event.FlagIP|event.FlagTaken
		}
	}
}

// fail makes events of a transaction's failure. It waits for where that led to.
func (d *Decoder) fail(x *elem) {
	if d.on {
		d.settle()
	} else {
		d.drop() // nothing is left of what was traced from there
	}
	e := d.push(x)
	e.Kind, e.Detail = event.Payload, event.DetailTxAbort
	if d.on {
		e = d.push(x)
		e.Kind, e.Flags = event.Async, event.FlagHere|event.FlagAbort
		d.wait()
	}
}

// maxHeld is how many events may wait behind one whose address may change.
const maxHeld = 1 << 12

// push appends an event for x to the queue and returns it. All but its place
// and time is zero.
func (d *Decoder) push(x *elem) *event.Event {
	if d.held >= 0 && len(d.queue)-d.held > maxHeld {
		d.settle()
	}
	d.queue = append(d.queue, event.Event{Off: x.off, End: x.end, Time: x.time})
	return &d.queue[len(d.queue)-1]
}

// outcomes tells the atoms of x, in the event before where they fit and it is
// the last.
func (d *Decoder) outcomes(x *elem) {
	if n := len(d.queue); n > d.head {
		if e := &d.queue[n-1]; e.Kind == event.Outcomes && e.N+x.n <= 64 && e.Time == x.time {
			e.Value |= x.value << (64 - e.N - x.n)
			e.N += x.n
			e.End = x.end
			return
		}
	}
	e := d.push(x)
	e.Kind, e.N, e.Value = event.Outcomes, x.n, x.value<<(64-x.n)
}

// target tells where the next instruction lies: in the event that waits for
// that, or in a new one. Of several addresses before an instruction is traced
// the last holds. DDI0487, "Target Address element".
func (d *Decoder) target(x *elem) {
	if d.open < 0 {
		e := d.push(x)
		e.Kind = event.Target
		if !d.on {
			e.Kind = event.Enable
		}
		d.wait()
	}
	e := &d.queue[d.open]
	e.IP = x.ip
	e.Flags |= event.FlagIP
	e.End = max(e.End, x.end)
	d.openIS = x.is
}

// hold keeps the event pushed last, and those behind it, until something is
// traced.
func (d *Decoder) hold() {
	if d.held < 0 {
		d.held = len(d.queue) - 1
	}
}

// wait says that the event pushed last has an address that may still change.
func (d *Decoder) wait() {
	d.open = len(d.queue) - 1
	d.hold()
}

// settle lets go what waits for something to be traced: the address of the event
// that is open stands.
func (d *Decoder) settle() {
	d.held = -1
	if d.open < 0 {
		return
	}
	e := &d.queue[d.open]
	if e.Kind == event.Enable {
		if !d.known { // nothing says what instructions there are
			d.drop()
			return
		}
		d.on = true
	}
	d.open = -1
	if !e.HasIP() {
		return
	}
	m := uint8(d.mode(d.openIS))
	e.Mode = m
	e.Flags |= event.FlagMode
	if d.restate {
		d.restate = false
		x := elem{off: e.End, end: e.End, time: e.Time, ip: e.IP}
		e = d.push(&x)
		e.Kind, e.IP, e.Mode = event.Sync, x.ip, m
		e.Flags = event.FlagIP | event.FlagMode | event.FlagRestated
	}
}

// drop takes back an Enable from which nothing was traced.
func (d *Decoder) drop() { d.take(event.Enable) }

// take takes back the event whose address may still change, if it is of kind k.
func (d *Decoder) take(k event.Kind) {
	if d.open >= 0 && d.queue[d.open].Kind == k {
		d.queue[d.open].Kind = event.KindNone
		d.open = -1
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

// end lets go what waits where nothing more is traced.
func (d *Decoder) end() {
	for i := max(d.held, 0); d.held >= 0 && i < len(d.queue); i++ {
		if needsMore(&d.queue[i]) {
			d.queue[i].Kind = event.KindNone
		}
	}
	d.drop()
	d.settle()
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
func (d *Decoder) exception(x *elem) {
	if x.flags&event.FlagTaken != 0 {
		d.target(x)
	}
	d.settle()
	m := d.cfg.Trace.Arch.Profile == 'M'
	here := x.flags&event.FlagHere != 0 || m && x.ip&0xffffffff == tailChained
	if !d.on {
		if here {
			e := d.push(x)
			e.Kind, e.Detail, e.Value = event.Payload, event.DetailException, x.value
			return
		}
		// That control was at the return address is all that is known.
		e := d.push(x)
		e.Kind, e.IP, e.Flags = event.Enable, x.ip, event.FlagIP
		if d.known {
			e.Mode = uint8(d.mode(x.is))
			e.Flags |= event.FlagMode
		}
		d.on = true
	}
	e := d.push(x)
	e.Kind, e.Detail, e.Value, e.From = event.Async, event.DetailException, x.value, x.ip
	e.Flags = event.FlagIntr
	if x.value == typeInstDebug && !m || x.value == typeDebugMonitor && m {
		e.Flags = event.FlagBreak
	}
	if here {
		e.From = 0
		e.Flags |= event.FlagHere
	}
	d.wait()
}
