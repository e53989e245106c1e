package sim

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// followA64 follows one CPU's script, told the words that were fetched.
type followA64 struct {
	r     *Run
	c     *CPU
	k     int    // instructions accounted for
	ip    uint64 // where the next one is
	stack []uint64
}

// step returns the next instruction that retired, which must be at ip.
func (f *followA64) step() (insn, error) {
	if f.k >= len(f.c.Insns) {
		return insn{}, fmt.Errorf("nothing retired at %#x", f.ip)
	}
	x := f.c.Insns[f.k]
	code := &f.r.Codes[x.Code]
	if x.IP != f.ip || code.IP != f.ip {
		return insn{}, fmt.Errorf("instruction %d is at %#x, the script is at %#x", f.k, x.IP, f.ip)
	}
	f.k++
	f.ip += wordLength
	b := code.Fetched()
	return decodeA64(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24, x.IP), nil
}

// waypoint walks over the next branch or ISB; next is what the script says after it, if its outcome is an event's last.
func (f *followA64) waypoint(taken bool, e, next *event.Event) error {
	for {
		in, err := f.step()
		if err != nil {
			return err
		}
		t := f.c.Insns[f.k-1].Time
		back := f.ip
		switch in.op {
		case opPlain, opMem, opSti, opCli, opInt:
			continue
		case opSync:
		case opCond:
			if taken {
				f.ip = in.target
			}
		case opCall:
			f.stack = append(f.stack, back)
			f.ip = in.target
		case opJump:
			f.ip = in.target
		case opJumpInd, opCallInd, opRet, opIret:
			if in.op == opCallInd {
				f.stack = append(f.stack, back)
			}
			if next != nil && next.Kind == event.Target {
				f.ip = next.IP
				break
			}
			n := len(f.stack) - 1
			if n < 0 {
				return fmt.Errorf("no target at %#x, and no call", back-wordLength)
			}
			f.ip, f.stack = f.stack[n], f.stack[:n]
		default:
			return fmt.Errorf("op %d at %#x retired", in.op, back-wordLength)
		}
		if t < e.Time.Lo || t > e.Time.Hi {
			return fmt.Errorf("%#x ran at %d, outside of %v", back-wordLength, t, e.Time)
		}
		if !taken && in.op != opCond {
			return fmt.Errorf("op %d at %#x was not taken", in.op, back-wordLength)
		}
		return nil
	}
}

// reach walks to ip, which e states.
func (f *followA64) reach(ip uint64, e *event.Event) error {
	for f.ip != ip {
		if _, err := f.step(); err != nil {
			return fmt.Errorf("on the way to %#x: %w", ip, err)
		}
	}
	if k := f.k; k > 0 && f.c.Insns[k-1].Time > e.Time.Hi || k < len(f.c.Insns) && f.c.Insns[k].Time < e.Time.Lo {
		return fmt.Errorf("%v at %#x is not in %v", e.Kind, ip, e.Time)
	}
	return nil
}

// segment follows one segment.
func (f *followA64) segment(evs []event.Event, lost *[]Lost) error {
	for i := range evs {
		e := &evs[i]
		var err error
		switch e.Kind {
		case event.Sync:
			if e.Flags&event.FlagRestated == 0 {
				f.ip = e.IP
			}
			err = f.reach(e.IP, e)
			f.stack = nil
		case event.Outcomes:
			next := i + 1
			for evs[next].Kind == event.Payload {
				next++
			}
			for b := range int(e.N) {
				var after *event.Event
				if b == int(e.N)-1 {
					after = &evs[next]
				}
				if err = f.waypoint(e.Value>>(63-b)&1 != 0, e, after); err != nil {
					break
				}
			}
		case event.Async:
			err = f.reach(e.From, e)
			f.ip = e.IP
		case event.Overflow:
			f.k, f.ip, f.stack = (*lost)[0].To, e.IP, nil
			*lost = (*lost)[1:]
		case event.Target, event.Payload, event.End:
		default:
			err = fmt.Errorf("%v", e.Kind)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return nil
}

// TestFollowA64 would catch a script that does not say what the CPU did: an
// outcome too few or too many, a wrong address, a time outside of its bounds.
func TestFollowA64(t *testing.T) {
	seeds := uint64(testsize.Of(t, 50, 500))
	for seed := range seeds {
		r := SimulateA64(DrawA64(seed))
		for i := range r.CPUs {
			f := followA64{r: r, c: &r.CPUs[i]}
			lost := f.c.Lost
			for s, evs := range f.c.Script {
				if err := f.segment(evs, &lost); err != nil {
					t.Fatalf("seed %d CPU %d segment %d: %v", seed, i, s, err)
				}
			}
			if f.k != len(f.c.Insns) {
				t.Fatalf("seed %d CPU %d: the script tells %d instructions of %d", seed, i, f.k, len(f.c.Insns))
			}
		}
	}
}

// TestCoverA64 would catch a machine that leaves out what it is there for.
func TestCoverA64(t *testing.T) {
	testsize.OnlyFull(t)
	ops, seen := map[op]int{}, map[string]int{}
	for seed := range uint64(300) {
		r := SimulateA64(DrawA64(seed))
		for _, p := range r.Pokes {
			seen[p.Scheme.String()]++
			if p.Scheme == SchemeStop && string(p.New) == string(textAt(0, udfProbe)) {
				seen["undefined probe"]++
			}
			if p.Scheme == SchemeAtomic && string(p.New) == string(textAt(0, brkKprobe)) {
				seen["BRK without stopping"]++
			}
		}
		for i := range r.CPUs {
			for _, x := range r.CPUs[i].Insns {
				b := r.Codes[x.Code].Fetched()
				ops[decodeA64(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24, x.IP).op]++
				if x.IP >= dynA64 {
					seen["copies and trampolines"]++
				}
			}
			for _, s := range r.CPUs[i].Script {
				for j, e := range s {
					seen[e.Kind.String()]++
					if e.Flags&event.FlagBreak != 0 {
						seen["breakpoint"]++
					}
					if e.Kind == event.Outcomes && e.N > 32 && j > 0 {
						seen["many outcomes"]++
					}
				}
			}
		}
	}
	for _, o := range []op{opPlain, opMem, opCond, opJump, opCall, opJumpInd, opCallInd, opRet, opIret, opInt, opSync, opSti, opCli} {
		if ops[o] < 100 {
			t.Errorf("op %d: %d times", o, ops[o])
		}
	}
	for _, w := range []string{"slot", "stop_machine", "atomic", "unsafe", "undefined probe", "BRK without stopping", "copies and trampolines",
		"breakpoint", "many outcomes", "sync", "outcomes", "target", "async", "overflow", "payload", "end"} {
		if seen[w] < 10 {
			t.Errorf("%s: %d times", w, seen[w])
		}
	}
}

// TestDuringArm would catch an image that is not whole, holds what no text ever
// was, or is never of two moments.
func TestDuringArm(t *testing.T) {
	torn := 0
	for seed := range uint64(60) {
		r := SimulateA64(DrawA64(seed))
		if len(r.During) != 1 || r.During[0].Addr != r.Start[0].Addr || len(r.During[0].Bytes) != len(r.Start[0].Bytes) {
			t.Fatalf("seed %d: no whole image from during the run", seed)
		}
		early, late := false, false // what it holds is from before, or from after a poke that was made meanwhile
		for _, p := range r.Pokes {
			if p.Scheme == SchemeSlot || p.Begin <= r.DuringFrom || p.End >= r.DuringTo {
				continue
			}
			got := r.During[0].Bytes[p.Addr-r.Start[0].Addr:][:len(p.New)]
			early = early || bytes.Equal(got, p.Old)
			late = late || bytes.Equal(got, p.New)
			if !bytes.Equal(got, p.Old) && !bytes.Equal(got, p.New) && !poked(r, &p, got) {
				t.Errorf("seed %d: % x at %#x", seed, got, p.Addr)
			}
		}
		if early && late {
			torn++
		}
	}
	if torn == 0 {
		t.Error("no image shows one poke and not another")
	}
}

// poked reports whether another poke of p's site left b there, or found it.
func poked(r *Run, p *Poke, b []byte) bool {
	for _, o := range r.Pokes {
		if o.Addr == p.Addr && (bytes.Equal(o.Old, b) || bytes.Equal(o.New, b)) {
			return true
		}
	}
	return false
}
