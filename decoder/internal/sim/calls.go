package sim

import (
	"bytes"
	"slices"
	"strings"
)

// Entry is an interrupt, an exception or a breakpoint as it was taken.
type Entry struct {
	At    int    // instructions retired before it
	From  uint64 // the address that it was taken at; 0: in user space
	Time  uint64 // ticks
	Depth uint16 // return addresses on the stack
	Level uint8  // interrupted flows
	Trap  bool   // it is a breakpoint's
}

// Call is one execution of a function, as the machine's stack shows it. Its symbol begins
// at the first instruction that ran in it. Thunks are no calls.
type Call struct {
	Symbol     int    // index in Run.Symbols; -1: it has no name
	Begin, End uint64 // when the flow came to its first instruction, and when its last one executed, ticks; End 0: it has not ended
	First      int    // index in CPU.Insns of its first instruction
	Caller     int    // index of the call that it lies in; -1: none
	Depth      int    // calls that it lies in
	Tail       bool   // it took the place of another one
	Ran        bool   // its first instruction retired, or raised a breakpoint exception
	RanAt      uint64 // when that was, ticks: later than Begin where an interrupt came first

	Again []uint64 // when more interrupts came before its first instruction, ticks: each time the flow had come back to it

	stack   uint16
	level   uint8
	waiting bool // what interrupted it came before its first instruction
}

// marked notes what is on the stack before an instruction executes.
func (c *core) marked() { c.depth, c.level = uint16(len(c.stack)), uint8(len(c.frames)) }

// final returns what is on the stack at the end.
func (c *core) final() Retired {
	c.marked()
	return Retired{Depth: c.depth, Level: c.level}
}

// entered notes an entry.
func (c *core) entered(from uint64, trap bool) {
	c.entries = append(c.entries, Entry{len(c.insns), from, c.t, uint16(len(c.stack)), uint8(len(c.frames)), trap})
}

// The instructions that end an interrupt, and the one that ends a system call.
var (
	iretBytes   = []byte{0x48, 0xcf}
	sysretBytes = []byte{0x48, 0x0f, 0x07}
	eretBytes   = []byte{0xe0, 0x03, 0x9f, 0xd6}
)

// Calls returns the calls that a CPU was in, in the order in which they began. A jump to a
// function's first instruction is a call: it takes the place of the one that jumped.
func (r *Run) Calls(cpu int) []Call { return r.newFinder(false).of(cpu) }

// CallsAndThunks is Calls, where thunks are calls, too.
func (r *Run) CallsAndThunks(cpu int) []Call { return r.newFinder(true).of(cpu) }

// newFinder returns a finder of calls of r.
func (r *Run) newFinder(thunks bool) *callFinder {
	f := &callFinder{run: r, starts: map[uint64]int{}}
	for i, s := range r.Symbols {
		if thunks || !strings.HasPrefix(s.Name, "__x86_") {
			f.starts[s.Addr] = i
		}
	}
	return f
}

// of returns the calls of a CPU.
func (f *callFinder) of(cpu int) []Call {
	c := &f.run.CPUs[cpu]
	f.follows(c, 0, len(c.Insns), true)
	f.ends(&c.Final)
	return f.calls
}

// follows takes instructions of a CPU, with the entries before each. Where all of them are
// taken, it takes those behind the last one, too.
func (f *callFinder) follows(c *CPU, from, to int, all bool) {
	n, _ := slices.BinarySearchFunc(c.Entries, from, func(e Entry, at int) int { return e.At - at })
	entries := c.Entries[n:]
	for i := from; i < to; i++ {
		for ; len(entries) > 0 && entries[0].At <= i; entries = entries[1:] {
			f.takes(i, &entries[0])
		}
		x := &c.Insns[i]
		f.comes(i, x.IP, x.Depth, x.Level, x.Time, false)
		f.last = x.Time
		switch code := f.run.Codes[x.Code].Fetched(); {
		case bytes.Equal(code, sysretBytes):
			f.end(func(*Call) bool { return true })
		case bytes.Equal(code, iretBytes), bytes.Equal(code, eretBytes):
			f.end(func(k *Call) bool { return k.level >= x.Level })
		}
	}
	for i := range entries {
		if all {
			f.takes(to, &entries[i])
		}
	}
}

// ends ends the calls that do not lie on the stack at the end.
func (f *callFinder) ends(final *Retired) {
	f.end(func(k *Call) bool {
		return k.level > final.Level || k.level == final.Level && k.stack > final.Depth
	})
}

// callFinder finds calls.
type callFinder struct {
	run    *Run
	starts map[uint64]int // index in Run.Symbols by address
	calls  []Call
	open   []int  // of calls, the outermost first
	last   uint64 // when the instruction before executed, ticks
}

// takes takes an entry before instruction i.
func (f *callFinder) takes(i int, e *Entry) {
	if e.From == 0 {
		return
	}
	f.comes(i, e.From, e.Depth, e.Level, e.Time, true)
	if _, first := f.starts[e.From]; e.Trap && first {
		k := &f.calls[f.open[len(f.open)-1]]
		k.ran(e.Time)
	}
}

// comes takes an instruction, or an entry before it, with what is on the stack by then.
func (f *callFinder) comes(i int, ip uint64, depth uint16, level uint8, now uint64, entry bool) {
	f.end(func(k *Call) bool { return k.level > level || k.level == level && k.stack > depth })
	sym, ok := f.starts[ip]
	if !ok {
		if sym = -1; !f.entersUnnamed(ip, depth, level) {
			if n := len(f.open); n > 0 && !entry {
				top := &f.calls[f.open[n-1]] // beyond the first instruction, whose breakpoint's handler went on here
				top.waiting = top.waiting && (top.Symbol < 0 || top.level != level || top.stack != depth)
			}
			return
		}
	}
	k := Call{Symbol: sym, Begin: now, First: i, Caller: -1, stack: depth, level: level, waiting: entry}
	if !entry {
		k.ran(now)
	}
	if n := len(f.open); n > 0 {
		if top := &f.calls[f.open[n-1]]; top.level == level && top.stack == depth {
			if top.waiting && top.Symbol == sym {
				if top.waiting = entry; entry {
					top.Again = append(top.Again, now)
				} else {
					top.ran(now)
				}
				return
			}
			k.Tail = true
			f.end(func(x *Call) bool { return x == top })
		}
	}
	if n := len(f.open); n > 0 {
		k.Caller, k.Depth = f.open[n-1], n
	}
	f.open = append(f.open, len(f.calls))
	f.calls = append(f.calls, k)
}

// ran notes that k's first instruction ran.
func (k *Call) ran(now uint64) {
	if !k.Ran {
		k.Ran, k.RanAt = true, now
	}
}

// entersUnnamed reports whether what was called is code without a name, which the patcher wrote.
func (f *callFinder) entersUnnamed(ip uint64, depth uint16, level uint8) bool {
	text := f.run.Start[0]
	if n := len(f.open); ip-text.Addr < uint64(len(text.Bytes)) || n == 0 {
		return false
	}
	top := &f.calls[f.open[len(f.open)-1]]
	if top.waiting && top.Symbol < 0 && top.level == level && top.stack == depth {
		return true // it goes on there
	}
	return top.level == level && top.stack < depth
}

// end ends the calls that are over, at the instruction before.
func (f *callFinder) end(over func(*Call) bool) {
	f.open = slices.DeleteFunc(f.open, func(i int) bool {
		k := &f.calls[i]
		if !over(k) {
			return false
		}
		k.End = f.last
		return true
	})
}
