package sim

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/pt"
)

// follower walks a CPU's packets one instruction at a time, told the bytes of
// each instruction by the truth, and says where the packets would lead. It
// knows nothing of pokes: it checks the trace unit, not a decoder.
type follower struct {
	r     *Run
	cpu   *CPU
	ps    []pt.Packet
	bits  []bool
	last  uint64 // last IP
	rets  []uint64
	on    bool
	ip    uint64
	now   uint64 // time stated last, ticks
	cbr   uint64
	base  uint64 // time of the last TSC, or of the last MTC, ticks
	cyc   uint64 // cycles since base
	lo    uint64 // time stated before the packet before the last, ticks
	chain bool   // the last packet was a TNT, or a TIP that may be held back behind one
	prev  uint64 // time stated before the last packet, ticks
	seen  uint64 // time of the last instruction that spent a packet, ticks
	early uint64 // earliest time stated since, ticks
	lost  []Lost
	at    int // instruction at which the flow goes on after an overflow
}

func packets(b []byte) (ps []pt.Packet) {
	l := pt.NewLexer(b, 0)
	var p pt.Packet
	for l.Next(&p) {
		ps = append(ps, p)
	}
	return ps
}

func (f *follower) fail(format string, args ...any) error {
	off := int64(len(f.cpu.PT))
	if len(f.ps) > 0 {
		off = f.ps[0].Off
	}
	return fmt.Errorf("+%#x: %s", off, fmt.Sprintf(format, args...))
}

// peek returns the next packet that is not about time.
func (f *follower) peek() pt.Packet {
	for len(f.ps) > 0 {
		p := f.ps[0]
		switch p.Kind {
		case pt.PAD, pt.ModeExec:
		case pt.CBR:
			f.cbr = p.Value
		case pt.TSC:
			f.now, f.base, f.cyc = p.Value, p.Value, 0
		case pt.MTC:
			period := uint64(tscPerCrystal) << f.r.Config.MTCFreq
			n := f.now / period
			d := (p.Value - n) & 0xff
			if d == 0 || d > 250 { // the CYC before it already led there
				n--
				d = (p.Value - n) & 0xff
			}
			f.now = (n + d) * period
			f.base, f.cyc = f.now, 0
		case pt.CYC:
			f.cyc += p.Value
			f.now = f.base + f.cyc*NomFreq/f.cbr
		case pt.TMA:
			if uint64(p.Arg) != f.now%tscPerCrystal || p.Value != f.now/tscPerCrystal&0xffff {
				return pt.Packet{Kind: pt.Bad, Off: p.Off}
			}
		default:
			return p
		}
		if p.Kind == pt.TSC || p.Kind == pt.MTC || p.Kind == pt.CYC {
			f.early = min(f.early, f.now)
		}
		f.ps = f.ps[1:]
	}
	return pt.Packet{Kind: pt.Bad, Off: -1}
}

func (f *follower) take() pt.Packet {
	p := f.peek()
	if len(f.ps) > 0 {
		f.ps = f.ps[1:]
	}
	// A TIP right behind a TNT may have been held back with it, and may then
	// be older than the time stated before that TNT.
	f.chain = p.Kind == pt.TNTShort || p.Kind == pt.TNTLong || f.chain && p.Kind == pt.TIP && f.now == f.prev
	if !f.chain || p.Kind != pt.TIP {
		f.lo, f.prev = f.prev, f.now
	}
	f.seen, f.early = 0, never/2
	return p
}

// addr undoes IP compression.
func (f *follower) addr(p pt.Packet) uint64 {
	switch p.Arg {
	case 1:
		f.last = f.last&^0xffff | p.Value
	case 2:
		f.last = f.last&^0xffffffff | p.Value
	case 3:
		f.last = uint64(int64(p.Value<<16) >> 16)
	case 4:
		f.last = f.last>>48<<48 | p.Value
	case 6:
		f.last = p.Value
	}
	return f.last
}

// between takes the packets that stand between two instructions, up to one
// that needs the flow. It returns true where an overflow moved the flow.
func (f *follower) between(k int) (lost bool, err error) {
	for {
		switch p := f.peek(); p.Kind {
		case pt.PSB:
			if f.on && (len(f.bits) > 0 || !f.plusHere()) {
				return lost, nil
			}
			if err := f.plus(); err != nil {
				return lost, err
			}
		case pt.OVF:
			if len(f.lost) == 0 {
				return lost, f.fail("an overflow that the truth does not have")
			}
			if k < f.lost[0].From {
				return lost, nil
			}
			f.take()
			f.bits, f.on = nil, false
			if f.peek().Kind == pt.PSB {
				f.ip = 0
				if err := f.plus(); err != nil {
					return lost, err
				}
			}
			lost, f.on, f.rets, f.bits = true, false, nil, nil
			k, f.lost = f.lost[0].To, f.lost[1:]
			f.at = k
			if p := f.peek(); p.Kind == pt.FUP { // on at this IP; without it off
				f.ip, f.on = f.addr(f.take()), true
			}
		case pt.PGE:
			if f.on {
				return lost, f.fail("TIP.PGE while tracing")
			}
			f.ip, f.on = f.addr(f.take()), true
		case pt.FUP:
			if len(f.bits) > 0 || f.last != 0 && f.peekAddr(p) != f.ip || f.last == 0 && f.peekAddr(p) != f.ip {
				return lost, nil
			}
			f.addr(f.take())
			if err := f.tip(); err != nil {
				return lost, err
			}
		default:
			return lost, nil
		}
	}
}

func (f *follower) peekAddr(p pt.Packet) uint64 {
	g := *f
	return g.addr(p)
}

// plusHere reports whether the PSB+ at hand stands at the current IP.
func (f *follower) plusHere() bool {
	g := *f
	g.last = 0
	for _, p := range f.ps {
		switch p.Kind {
		case pt.FUP:
			return g.addr(p) == f.ip
		case pt.PSBEND:
			return true
		}
	}
	return true
}

// plus takes a PSB+.
func (f *follower) plus() error {
	f.take()
	f.last, f.rets = 0, nil
	if len(f.bits) > 0 {
		return f.fail("outcomes are left at a PSB")
	}
	on := false
	for {
		switch p := f.take(); p.Kind {
		case pt.FUP:
			on = true
			if a := f.addr(p); f.ip != 0 && f.on && a != f.ip {
				return f.fail("PSB+ at %#x, flow at %#x", a, f.ip)
			} else if f.ip == 0 {
				f.ip = a
			}
		case pt.PSBEND:
			if f.on && !on {
				return f.fail("PSB+ without FUP while tracing")
			}
			f.on = on
			return nil
		default:
			return f.fail("packet kind %d in a PSB+", p.Kind)
		}
	}
}

// bit takes one outcome.
func (f *follower) bit() (bool, error) {
	if len(f.bits) == 0 {
		p := f.take()
		if p.Kind != pt.TNTShort && p.Kind != pt.TNTLong {
			return false, f.fail("outcome wanted at %#x, packet kind %d", f.ip, p.Kind)
		}
		for i := int(p.N) - 1; i >= 0; i-- {
			f.bits = append(f.bits, p.Value>>i&1 == 1)
		}
	}
	b := f.bits[0]
	f.bits = f.bits[1:]
	return b, nil
}

// tip takes a target.
func (f *follower) tip() error {
	switch p := f.take(); p.Kind {
	case pt.TIP:
		f.ip = f.addr(p)
	case pt.PGD:
		f.on = false
	default:
		return f.fail("target wanted at %#x, packet kind %d", f.ip, p.Kind)
	}
	return nil
}

// run executes one instruction whose bytes are b.
func (f *follower) run(b []byte) error {
	in := decode(b, f.ip)
	next := f.ip + uint64(in.len)
	switch in.op {
	case opCond:
		t, err := f.bit()
		if err != nil {
			return err
		}
		if t {
			next = in.target
		}
	case opJump:
		next = in.target
	case opCall:
		if in.target != next {
			f.push(next)
		}
		next = in.target
	case opCallInd:
		f.push(next)
		return f.tip()
	case opJumpInd, opIret, opSysret:
		return f.tip()
	case opRet:
		var top uint64
		if n := len(f.rets); n > 0 {
			top, f.rets = f.rets[n-1], f.rets[:n-1]
		}
		if k := f.peek().Kind; f.r.Config.NoRetComp || len(f.bits) == 0 && k != pt.TNTShort && k != pt.TNTLong {
			return f.tip()
		}
		if t, err := f.bit(); err != nil || !t || top == 0 {
			return f.fail("compressed return at %#x: outcome %v, address %#x, %v", f.ip, t, top, err)
		}
		next = top
	}
	f.ip = next
	return nil
}

func (f *follower) push(a uint64) {
	f.rets = append(f.rets, a)
	if len(f.rets) > 64 {
		f.rets = f.rets[1:]
	}
}

// follow checks a CPU's packets against its truth.
func follow(r *Run, cpu int) error {
	c := &r.CPUs[cpu]
	f := &follower{r: r, cpu: c, ps: packets(c.PT), cbr: 1, early: never / 2}
	f.lost = c.Lost
	for k := 0; k < len(c.Insns); k++ {
		gone, err := f.between(k)
		if err != nil {
			return fmt.Errorf("instruction %d: %w", k, err)
		}
		if gone {
			k = f.at
			if k >= len(c.Insns) {
				break
			}
		}
		if in := c.Insns[k]; f.ip != in.IP || !f.on {
			return fmt.Errorf("instruction %d: %w", k, f.fail("flow at %#x (on %v), truth at %#x", f.ip, f.on, in.IP))
		}
		// What follows the packet before the last is younger than the time
		// stated before it, and all that is in it is older than the time
		// stated next. The cycle counter's rounding gives the slack.
		const slack = 2
		in := c.Insns[k]
		if f.lo > in.Time+slack || f.early+slack < f.seen {
			return fmt.Errorf("instruction %d: %w", k, f.fail("time %d, stated %d, earlier %d and %d", in.Time, f.lo, f.early, f.seen))
		}
		left := len(f.ps) + len(f.bits)
		if err := f.run(r.Codes[c.Insns[k].Code].Fetched()); err != nil {
			return fmt.Errorf("instruction %d: %w", k, err)
		}
		if len(f.ps)+len(f.bits) != left {
			f.seen = max(f.seen, in.Time)
		}
	}
	if _, err := f.between(len(c.Insns)); err != nil {
		return err
	}
	if f.on || f.peek().Off >= 0 {
		return f.fail("the stream goes on after the last instruction (on %v, kind %d)", f.on, f.peek().Kind)
	}
	return nil
}

// TestFollow would catch packets that do not say what was executed: a wrong
// order, IP compression, return compression, a TIP held back too long.
func TestFollow(t *testing.T) {
	n := 0
	for seed := range seeds(t) {
		r := Simulate(Draw(seed))
		for cpu := range r.CPUs {
			if err := follow(r, cpu); err != nil {
				t.Fatalf("seed %d: CPU %d: %v (config %+v)", seed, cpu, err, r.Config)
			}
			n += len(r.CPUs[cpu].Insns)
		}
	}
	t.Logf("%d instructions followed", n)
}
