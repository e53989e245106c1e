package decoder

import (
	"encoding/binary"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// bruteState is where one flow stands: all that what it does next depends on.
type bruteState struct {
	ev    int // the next event
	bits  int // the event whose outcomes are in hand
	n     int // how many of them are left
	ip    uint64
	mode  isa.Mode
	on    bool
	stack []uint64 // return addresses, the newest last
	seen  bruteSeen
}

// pos orders states by what they have used of the trace.
func (s *bruteState) pos() int { return s.ev<<7 - s.n }

// key tells states apart.
func (s *bruteState) key() string {
	b := make([]byte, 0, 128)
	put := func(v uint64) { b = binary.AppendUvarint(b, v) }
	put(uint64(s.ev))
	put(uint64(s.bits))
	put(uint64(s.n))
	put(s.ip)
	put(uint64(s.mode))
	if s.on {
		put(1)
	} else {
		put(0)
	}
	put(s.seen.time)
	put(uint64(s.seen.below))
	put(s.seen.synced)
	put(uint64(len(s.seen.phases)))
	for _, x := range s.seen.phases {
		put(uint64(x.poke))
		if x.done {
			put(1)
		} else {
			put(0)
		}
	}
	for _, a := range s.stack {
		put(a)
	}
	return string(b)
}

// bruteEdge is what a flow does until it has used one more outcome or event.
type bruteEdge struct {
	to     bruteState
	ips    []uint64 // what retires on the way, see bruteText.id
	visits int      // contested instructions among them
	wild   int      // up to so many other instructions retire, and nobody knows which
}

// brute follows every flow over the events of a segment that the packets and
// the patchers' rules allow, one instruction at a time. It keeps nothing but
// the states that it reached.
type brute struct {
	dec    isa.Decoder
	mode   isa.Mode // until the events state one
	text   *bruteText
	rules  isa.Rules
	breaks []uint64
	evs    []event.Event
	trapAt int // the last event that is a breakpoint's exception

	// unseen says where a return behind ips goes whose call is not on the stack; nil: nowhere.
	unseen func(ips []uint64) (a uint64, ok bool)

	edges []bruteEdge
}

// maxBruteInsns bounds a walk that uses nothing of the trace.
const maxBruteInsns = 4096

// next returns what can follow s.
func (b *brute) next(s bruteState) []bruteEdge {
	b.edges = nil
	b.walk(s, nil, 0)
	return b.edges
}

// use makes an edge of s, which has used event s.ev.
func (b *brute) use(s bruteState, ips []uint64, visits int) {
	e := &b.evs[s.ev]
	// What says nothing of the flow may come before what was executed earlier, where
	// every branch is told: only the next one is later.
	aside := (e.Kind == event.Payload || e.Kind == event.Context) && b.rules.Waypoints.Has(isa.JumpInd)
	if e.Flags&event.FlagRestated == 0 && !aside {
		if s.seen.time > e.Time.Hi {
			return
		}
		s.seen.time = max(s.seen.time, e.Time.Lo)
	}
	if e.Flags&event.FlagMode != 0 {
		s.mode = isa.Mode(e.Mode)
	}
	s.ev++
	b.reach(s, ips, visits)
}

// reach makes an edge of s.
func (b *brute) reach(s bruteState, ips []uint64, visits int) {
	b.text.settled(&s.seen, s.ev <= b.trapAt)
	b.edges = append(b.edges, bruteEdge{to: s, ips: slices.Clone(ips), visits: visits})
}

// walk goes on from s until it has used something.
func (b *brute) walk(s bruteState, ips []uint64, visits int) {
	for range maxBruteInsns {
		if s.ev >= len(b.evs) {
			return
		}
		if !s.on {
			b.off(s, ips, visits)
			return
		}
		if s.n == 0 && b.meet(s, ips, visits) {
			return
		}
		e := &b.evs[s.ev]
		hi := e.Time.Hi
		if s.n > 0 {
			hi = b.evs[s.bits].Time.Hi
		}
		vs, contested := b.text.versions(b.dec, s.ip, s.mode, &s.seen, hi)
		if contested {
			visits++
		}
		if len(vs) == 0 {
			return
		}
		if len(vs) > 1 {
			for _, v := range vs {
				t := s
				t.seen = v.seen
				if went, used := b.execute(&t, &v.in, append(slices.Clip(ips), v.id), visits); went && !used {
					b.walk(t, append(slices.Clip(ips), v.id), visits)
				}
			}
			return
		}
		s.seen = vs[0].seen
		ips = append(ips, vs[0].id)
		if went, used := b.execute(&s, &vs[0].in, ips, visits); !went || used {
			return
		}
	}
}

// off takes the next event while tracing is off.
func (b *brute) off(s bruteState, ips []uint64, visits int) {
	e := &b.evs[s.ev]
	switch e.Kind {
	case event.Sync, event.Enable, event.Overflow:
		s.on, s.ip = e.HasIP(), e.IP
		if e.Kind != event.Enable {
			s.stack = nil
		}
	case event.Off:
		s.stack = nil
	case event.Payload, event.Context, event.Status, event.End:
	default:
		return
	}
	b.use(s, ips, visits)
}

// meet takes the next event if it is met before the instruction at s.ip.
func (b *brute) meet(s bruteState, ips []uint64, visits int) bool {
	e := &b.evs[s.ev]
	switch e.Kind {
	case event.Payload, event.Context:
	case event.End:
		s.on = false
	case event.Status:
		if e.HasIP() && e.IP != s.ip {
			return false
		}
	case event.Sync:
		if !e.HasIP() || e.IP != s.ip {
			return !e.HasIP() // tracing is said to be off
		}
		s.stack = nil
	case event.Overflow:
		s.on, s.ip, s.stack = e.HasIP(), e.IP, nil
	case event.Async, event.AsyncDisable:
		here := e.Flags&event.FlagHere != 0 || e.From == s.ip || e.From < s.ip && b.rules.SilentBranches
		if !here {
			return false
		}
		b.async(s, e, ips, visits)
		return true
	case event.Off:
		s.on, s.stack, s.n = false, nil, 0
	case event.Quiet:
		b.quiet(s, ips, visits)
		return true
	case event.Reach:
		return e.IP < s.ip
	case event.Target:
		if !b.rules.Waypoints.Has(isa.JumpInd) {
			return false
		}
		if e.IP != s.ip {
			return true // no branch is before it
		}
	case event.Enable, event.Trouble:
		return true // cannot be
	default:
		return false
	}
	b.use(s, ips, visits)
	return true
}

// isTrap reports whether e is a breakpoint's exception.
func (b *brute) isTrap(e *event.Event) bool {
	return e.Kind == event.Async && (e.Flags&event.FlagBreak != 0 || e.Flags&event.FlagIntr == 0 && slices.Contains(b.breaks, e.IP))
}

// async takes a transfer at s.ip.
func (b *brute) async(s bruteState, e *event.Event, ips []uint64, visits int) {
	s.on = e.Kind == event.Async && e.HasIP()
	at := s.ip
	s.ip = e.IP
	b.sync(&s, isa.Other, e)
	if !b.isTrap(e) {
		b.use(s, ips, visits)
		return
	}
	for _, k := range b.text.traps(b.dec, at, s.mode, &s.seen, e.Time.Hi) {
		t := s
		t.seen = k
		b.use(t, ips, visits)
	}
}

// execute executes in, which stands at s.ip and is the last of ips. went says
// that it can be; used that an edge was made of it.
func (b *brute) execute(s *bruteState, in *isa.Insn, ips []uint64, visits int) (went, used bool) {
	e := &b.evs[s.ev]
	next := s.ip + uint64(in.Len)
	if s.n == 0 && e.Kind == event.Reach {
		return b.toward(s, in, next, ips, visits)
	}
	if b.rules.Waypoints.Has(in.Class) {
		return b.waypoint(s, in, next, ips, visits)
	}
	switch in.Class {
	case isa.Other, isa.SetSpace, isa.TraceControl, isa.Barrier, isa.Wait:
		s.ip = next
		return true, false
	case isa.Jump, isa.Call:
		if in.Class == isa.Call && in.Flags&isa.FlagZeroCall == 0 {
			b.push(s, next)
		}
		s.ip = in.Target
		return true, false
	case isa.Return:
		if b.rules.Returns == isa.ReturnsCompressed && (s.n > 0 || e.Kind == event.Outcomes) {
			taken, ok := b.outcome(s)
			if !ok || !taken || len(s.stack) == 0 {
				return false, false
			}
			s.ip = s.pop()
			b.reach(*s, ips, visits)
			return true, true
		}
		s.pop()
	case isa.CallInd, isa.JumpInd, isa.FarJump, isa.FarReturn, isa.Syscall, isa.VMEnter, isa.JumpAbs:
		if b.rules.Raises.Has(in.Class) {
			s.ip = next
			return b.mayFail(in, s.mode) || s.n == 0 && e.Kind == event.Async && e.From == next, false
		}
	default:
		s.ip = next
		return b.mayFail(in, s.mode), false
	}
	switch {
	case e.Kind == event.Target && e.HasIP():
		if in.Class == isa.CallInd {
			b.push(s, next)
		}
		s.ip = e.IP
	case e.Kind == event.Disable && s.n == 0:
		s.on = false
	default:
		return false, false
	}
	b.use(*s, ips, visits)
	return true, true
}

// sync notes that an instruction of class c, or the exception that e states,
// synchronises. A transaction's failure does not.
func (b *brute) sync(s *bruteState, c isa.Class, e *event.Event) {
	if b.rules.Syncs.Has(c) || e.Kind == event.Async && e.Flags&event.FlagAbort == 0 && b.rules.Syncs != 0 {
		s.seen.synced = max(s.seen.synced, e.Time.Lo)
	}
}

// outcome spends one outcome, the next event's if none is in hand.
func (b *brute) outcome(s *bruteState) (taken, ok bool) {
	if s.n == 0 {
		e := &b.evs[s.ev]
		if e.Kind != event.Outcomes || e.N == 0 || s.seen.time > e.Time.Hi {
			return false, false
		}
		s.seen.time = max(s.seen.time, e.Time.Lo)
		s.bits, s.n = s.ev, int(e.N)
		s.ev++
	}
	e := &b.evs[s.bits]
	taken = e.Value>>(63-(int(e.N)-s.n))&1 != 0
	s.n--
	return taken, true
}

func (b *brute) push(s *bruteState, ip uint64) {
	if s.mode == isa.ModeT32 {
		ip |= bruteT32
	}
	s.stack = append(slices.Clip(s.stack), ip)
	if len(s.stack) > b.rules.Stack {
		s.stack = s.stack[1:]
	}
}

func (s *bruteState) pop() (ip uint64) {
	if n := len(s.stack); n > 0 {
		ip, s.stack = s.stack[n-1], s.stack[:n-1]
	}
	return ip
}
