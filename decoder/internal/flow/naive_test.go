package flow

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// naive is the slow twin of Walker: one instruction at a time, fetched and
// decoded anew each time, no blocks, no cache, no paths. It knows text that is
// the same for every moment that the clock allows.
type naive struct {
	text  Text
	dec   isa.Decoder
	rules isa.Rules
	mode  isa.Mode             // until the events state one
	in    func(ip uint64) bool // code there is traced; nil: all is

	evs   []event.Event
	ip    uint64
	on    bool
	bits  []bool   // outcomes in hand, the oldest first
	stack []uint64 // return addresses, the newest last
	epoch event.Epoch
	ips   []uint64 // what retired
}

// run walks one segment. An error is a contradiction, or text that is not known.
func (n *naive) run(evs []event.Event) error {
	n.evs, n.on, n.bits, n.stack, n.epoch = evs, false, nil, nil, 0
	for idle := 0; len(n.evs) > 0; idle++ {
		before, had := len(n.evs), len(n.bits)
		if done, err := n.step(&n.evs[0]); done || err != nil {
			return err
		}
		if len(n.evs) != before || len(n.bits) != had {
			idle = 0
		}
		if idle > 1<<24 {
			return fmt.Errorf("loop at %#x", n.ip)
		}
	}
	return nil
}

// use drops the next event, which has happened.
func (n *naive) use() *event.Event {
	e := &n.evs[0]
	n.evs = n.evs[1:]
	if lo, _ := n.text.Epochs(e.Time); lo > n.epoch {
		n.epoch = lo
	}
	if e.Flags&event.FlagMode != 0 {
		n.mode = isa.Mode(e.Mode)
	}
	return e
}

// step takes one event that stands where the flow is, or executes one instruction.
func (n *naive) step(e *event.Event) (done bool, err error) {
	if !n.on {
		switch n.use(); e.Kind {
		case event.Sync, event.Enable, event.Overflow:
			n.on, n.ip = e.HasIP(), e.IP
		case event.Outcomes, event.Target, event.Async, event.Trouble:
			return true, fmt.Errorf("%v at +%#x while tracing is off", e.Kind, e.Off)
		}
		return false, nil
	}
	if len(n.bits) == 0 {
		switch here := e.HasIP() && e.IP == n.ip; {
		case e.Kind == event.Disable && (here || n.leaves(e, n.ip)):
			n.use()
			n.on = false
			return false, nil
		case e.Kind == event.End:
			return true, nil
		case e.Kind == event.Payload, e.Kind == event.Context, e.Kind == event.Status && (here || !e.HasIP()):
			n.use()
			return false, nil
		case e.Kind == event.Sync && here:
			n.use()
			n.stack = nil
			return false, nil
		case e.Kind == event.Overflow:
			n.use()
			n.stack, n.ip, n.on = nil, e.IP, e.HasIP()
			return false, nil
		case (e.Kind == event.Async || e.Kind == event.AsyncDisable) && e.From == n.ip:
			n.use()
			n.ip, n.on = e.IP, e.Kind == event.Async
			return false, nil
		case e.Kind == event.Enable, e.Kind == event.Trouble:
			return true, fmt.Errorf("%v at +%#x while tracing is on at %#x", e.Kind, e.Off, n.ip)
		}
	}
	return false, n.execute(e)
}

// execute executes the instruction at ip; e is the next event.
func (n *naive) execute(e *event.Event) error {
	var buf [16]byte
	var in isa.Insn
	have, _ := n.text.Fetch(buf[:n.dec.MaxLen()], 0, n.ip, n.epoch)
	if st := n.dec.Decode(&in, buf[:have], n.ip, n.mode); st != isa.OK {
		return fmt.Errorf("no instruction at %#x: % x", n.ip, buf[:have])
	}
	next := n.ip + uint64(in.Len)
	n.ips = append(n.ips, n.ip)
	ends := len(n.bits) == 0 && e.Kind == event.Disable
	if n.rules.Waypoints.Has(in.Class) && !ends {
		return n.waypoint(&in, next, e)
	}
	switch in.Class {
	case isa.Other, isa.SetSpace, isa.TraceControl, isa.Barrier, isa.Wait:
	case isa.Jump, isa.Call, isa.Cond:
		if ends && (e.HasIP() && (e.IP == in.Target || in.Class == isa.Cond && e.IP == next) || n.leaves(e, in.Target)) {
			n.use()
			n.on = false
			return nil
		}
		if in.Class == isa.Cond {
			return n.contradiction(in.Class, e)
		}
		if in.Class == isa.Call && in.Flags&isa.FlagZeroCall == 0 {
			n.push(next)
		}
		next = in.Target
	case isa.Return, isa.JumpInd, isa.CallInd, isa.FarJump, isa.FarReturn, isa.Syscall, isa.VMEnter, isa.JumpAbs:
		if in.Class == isa.Return && n.rules.Returns == isa.ReturnsCompressed && (len(n.bits) > 0 || e.Kind == event.Outcomes) {
			if len(n.stack) == 0 || !n.bit() {
				return n.contradiction(in.Class, e)
			}
			next = narrow(n.pop(), n.mode)
			break
		}
		if !ends && (e.Kind != event.Target || !e.HasIP()) {
			return n.contradiction(in.Class, e)
		}
		if in.Class == isa.CallInd && !ends {
			n.push(next)
		}
		if in.Class == isa.Return && len(n.stack) > 0 {
			n.stack = n.stack[:len(n.stack)-1]
		}
		n.use()
		next, n.on = e.IP, !ends
	default:
		return n.contradiction(in.Class, e)
	}
	n.ip = next
	return nil
}

// waypoint executes in, which spends an outcome; next lies behind it.
func (n *naive) waypoint(in *isa.Insn, next uint64, e *event.Event) error {
	if len(n.bits) == 0 && e.Kind != event.Outcomes {
		return n.contradiction(in.Class, e)
	}
	n.ip = next
	took := n.bit()
	switch in.Class {
	case isa.Cond:
		if took {
			n.ip = in.Target
		}
		return nil
	case isa.Barrier, isa.Wait:
	case isa.Jump:
		n.ip = in.Target
	case isa.Call:
		n.push(next)
		n.ip = in.Target
	case isa.CallInd:
		n.push(next)
		fallthrough
	default:
		for len(n.bits) == 0 && n.evs[0].Kind == event.Payload {
			n.use()
		}
		if len(n.bits) == 0 && n.evs[0].Kind == event.Target {
			n.ip = n.use().IP
		} else if n.rules.Returns == isa.ReturnsByOutcome && len(n.stack) > 0 {
			n.ip = n.pop()
		} else {
			return n.contradiction(in.Class, &n.evs[0])
		}
	}
	if !took {
		return n.contradiction(in.Class, e)
	}
	return nil
}

func (n *naive) contradiction(c isa.Class, e *event.Event) error {
	return fmt.Errorf("%v at %#x, but the trace has %v at +%#x", c, n.ip, e.Kind, e.Off)
}

// leaves reports whether a branch to ip is to code that is not traced, and e,
// which ends tracing, states no address.
func (n *naive) leaves(e *event.Event, ip uint64) bool {
	return !e.HasIP() && n.in != nil && !n.in(ip)
}

// bit spends the oldest outcome.
func (n *naive) bit() bool {
	if len(n.bits) == 0 {
		e := n.use()
		for i := range int(e.N) {
			n.bits = append(n.bits, e.Value>>(63-i)&1 != 0)
		}
	}
	b := n.bits[0]
	n.bits = n.bits[1:]
	return b
}

// push puts a return address on the stack.
func (n *naive) push(ip uint64) {
	if n.stack = append(n.stack, ip); len(n.stack) > n.rules.Stack {
		n.stack = n.stack[1:]
	}
}

func (n *naive) pop() uint64 {
	top := len(n.stack) - 1
	ip := n.stack[top]
	n.stack = n.stack[:top]
	return ip
}
