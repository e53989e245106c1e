package sim

import "fmt"

// frame is an interrupted flow on a CPU's stack.
type frame struct {
	ip     uint64
	iff    bool // interrupts were enabled
	user   bool // it was in user space
	nmi    bool
	step   bool // single-step after the return, then go to after
	mask   bool // it goes on with interrupts disabled until unmask
	unmask bool
	emu    *emulation // what the handler does to the interrupted flow
	after  uint64
	depth  int // of the call stack
}

const (
	maxFrames = 6
	maxDepth  = 160 // return addresses before recursion is ended
)

// core is what a CPU of any instruction set has.
type core struct {
	id     int
	t      uint64 // local time, ticks
	ip     uint64
	iff    bool   // interrupts enabled
	masked []bool // interrupts were enabled before each mask in force
	stack  []uint64
	frames []frame
	r      rnd

	nextIRQ uint64
	ipi     uint64 // time from which an IPI is pending; never if none
	stopIPI bool   // the pending IPI is stop_machine's
	acked   bool   // the IPI was answered
	held    bool   // spinning in stop_machine
	brief   bool   // recursion ends soon, so that a hypervisor returns to its virtual machine
	ambush  uint64 // an interrupt strikes when this address is next to run

	tx tx

	insns   []Retired
	entries []Entry
	depth   uint16 // of the stack, before the instruction at hand
	level   uint8  // interrupted flows, then
}

func newCore(cfg *Config, id int, t uint64) core {
	return core{id: id, t: t, iff: true, r: newRand(cfg.Seed, 0x10+uint64(id)), ipi: never}
}

func (c *core) now() uint64  { return c.t }
func (c *core) retired() int { return len(c.insns) }

func (c *core) push(a uint64) { c.stack = append(c.stack, a) }

func (c *core) pop() uint64 {
	n := len(c.stack) - 1
	a := c.stack[n]
	c.stack = c.stack[:n]
	return a
}

// retire notes that in was executed.
func (c *core) retire(in *insn) {
	c.insns = append(c.insns, Retired{c.ip, c.t, in.code, c.depth, c.level})
}

// advance lets the time of an instruction pass: one tick, now and then more.
func (c *core) advance(draw uint64) {
	c.t++
	if draw&7 == 0 {
		c.t += draw >> 3 & 15
	}
}

// outcome draws a conditional branch's outcome. Now and then recursion is deep
// enough to overflow a return stack: then it ends in deep of 1024 cases.
func (c *core) outcome(in *insn, draw, deep uint64) bool {
	draw &= 1023
	switch {
	case in.flag&flagHeld != 0:
		return c.held
	case in.flag&flagTx != 0:
		return c.tx.depth == 0
	case in.flag&flagGuard != 0:
		limit := uint64(200)
		if len(c.frames) > 0 || c.brief {
			limit = 700
		} else if c.t>>12&3 == 0 {
			limit = deep
		}
		return len(c.stack) > maxDepth || draw < limit
	case in.flag&flagLoop != 0, in.flag&flagLikely == 0 && in.flag&flagSeldom == 0:
		return draw < 512
	case in.flag&flagLikely != 0:
		return draw < 920
	}
	return draw < 100
}

// unwind takes the innermost frame.
func (c *core) unwind() frame {
	f := c.frames[len(c.frames)-1]
	c.frames = c.frames[:len(c.frames)-1]
	if len(c.stack) != f.depth {
		panic(fmt.Sprintf("sim: CPU %d returns from an exception on an unbalanced stack at %#x", c.id, c.ip))
	}
	return f
}

// back restores what f interrupted and returns where it goes on: where the
// handler's emulation leads, if it emulates.
func (c *core) back(f *frame) (to uint64) {
	to = f.ip
	if e := f.emu; e != nil {
		switch e.kind {
		case emuJump:
			to = e.target
		case emuCall:
			c.push(e.next)
			to = e.target
		case emuRet:
			to = c.pop()
		case emuCond:
			to = e.next
			if c.r.one(2) {
				to = e.target
			}
		}
	}
	c.iff = f.iff
	if f.mask {
		c.masked = append(c.masked, f.iff)
		c.iff = false
	}
	if n := len(c.masked) - 1; f.unmask {
		c.iff, c.masked = c.masked[n], c.masked[:n]
	}
	return to
}

// runner is a CPU as the machine's loop sees it.
type runner interface {
	now() uint64  // local time, ticks
	retired() int // instructions
	exec()        // one instruction, or what interrupts it
	halts(*Config)
}

// earliest returns the CPU whose time is earliest and the time of the next.
func earliest[C runner](cpus []C) (c C, limit uint64) {
	c, limit = cpus[0], never
	for _, d := range cpus[1:] {
		if d.now() < c.now() {
			c, d = d, c
		}
		limit = min(limit, d.now())
	}
	return c, limit
}

// progress returns how many instructions the slowest CPU has retired.
func progress[C runner](cpus []C) int {
	n := cpus[0].retired()
	for _, c := range cpus {
		n = min(n, c.retired())
	}
	return n
}

// halts panics where c has run far more than its share: something waits for
// what never comes.
func (c *core) halts(cfg *Config) {
	if len(c.insns) > 200*cfg.Insns+1000000 {
		panic(fmt.Sprintf("sim: seed %d: CPU %d runs on and on at %#x", cfg.Seed, c.id, c.ip))
	}
}
