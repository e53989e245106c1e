package diff

import (
	"context"
	"path"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// options says what of the flow counts.
type options struct {
	cpus       string   // numbers and ranges of CPUs; "": all
	streams    []int    // of the recording at hand, by cpus; nil: all
	comms      []string // patterns of threads' names; nil: all
	interrupts bool     // also what ran inside of interrupts and exceptions
	times      bool     // also the time that passed
	jobs       int
	progress   func(done, total int64)
}

// tally is how often something was executed.
type tally struct{ sure, ambiguous uint64 }

func (t *tally) plus(o tally) { t.sure, t.ambiguous = t.sure+o.sure, t.ambiguous+o.ambiguous }

// all is the executions that the trace settles and those that it does not.
func (t tally) all() uint64 { return t.sure + t.ambiguous }

// code is what is counted of a block.
type code struct {
	block    *decoder.Block
	time     uint64           // ns, of the first execution: what names are as of
	whole    tally            // executions of all of it
	runs     map[uint16]tally // of its first instructions, by how many
	to       map[uint64]tally // behind whole executions: where its branch led
	switches bool             // it begins where the kernel takes another thread's stack
	handler  bool             // it begins where the kernel's handler of an interrupt does
	ns       float64
}

// counter counts what a recording executed.
type counter struct {
	s       *decoder.Session
	o       *options
	gaps    uint64
	blocks  map[*decoder.Block]*code
	traps   map[uint64]uint64 // breakpoint exceptions by address
	left    uint64            // instructions of interrupts and exceptions that were left out
	streams []following
}

// following is what a counter has in hand of one stream.
type following struct {
	last   *code // executed whole just before; nil: something lies between
	unsure bool  // that was ambiguous
	depth  int   // interrupts and exceptions that the flow is inside of
	came   bool  // tracing came on: the next block tells how
	back   bool  // an exception return was executed: the next block tells from where
	stamp  uint32
	wanted bool // by the thread's name, as of stamp
	clock  clock
}

// gather decodes s and counts it. deliver is host.Host.Deliver.
func gather(ctx context.Context, s *decoder.Session, o *options, deliver func(context.Context, *decoder.Session, decoder.Query, host.Sink) error) (*counter, error) {
	c := &counter{s: s, o: o}
	c.Restart()
	err := deliver(ctx, s, decoder.Query{Jobs: o.jobs, Progress: o.progress, Streams: o.streams}, c)
	return c, err
}

// Close does nothing: all was counted as it came.
func (c *counter) Close() error { return nil }

// Restart begins anew (decoder.Restarter).
func (c *counter) Restart() bool {
	c.gaps, c.left = 0, 0
	c.blocks, c.traps = map[*decoder.Block]*code{}, map[uint64]uint64{}
	c.streams = make([]following, len(c.s.Streams()))
	return true
}

// Flow counts b.
func (c *counter) Flow(b *decoder.Batch) error {
	f := &c.streams[b.Stream]
	f.stamp, f.wanted = ^uint32(0), true
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			c.note(f, &b.Notes[n])
		}
		if i < len(b.Ranges) {
			c.ran(b, f, &b.Ranges[i])
		}
	}
	return nil
}

// ran counts a range of b.
func (c *counter) ran(b *decoder.Batch, f *following, r *decoder.BatchRange) {
	t := b.Stamps[r.Stamp].Time
	if r.Stamp != f.stamp {
		f.stamp, f.wanted = r.Stamp, c.wants(b.Stream, t)
		if c.o.times {
			f.clock.reach(t.Lo)
		}
	}
	x := c.blocks[r.Block]
	if x == nil {
		x = c.found(r.Block, t)
	}
	if f.back && f.last != nil && r.Block.Addr != f.last.block.End {
		f.depth = max(0, f.depth-1)
	}
	if f.came {
		f.depth = 0
		if x.handler {
			f.depth = 1
		}
	}
	if x.switches {
		f.depth = 0
	}
	f.came, f.back = false, false
	inside := f.depth > 0 && !c.o.interrupts
	unsure := r.Verdict == decoder.Ambiguous
	one := tally{sure: 1}
	if unsure || f.unsure {
		one = tally{ambiguous: 1}
	}
	if last := f.last; last != nil && !inside && f.wanted && leads(last.block, r.Block.Addr) {
		k := last.to[r.Block.Addr]
		k.plus(one)
		last.to[r.Block.Addr] = k
	}
	if one = (tally{sure: 1}); unsure {
		one = tally{ambiguous: 1}
	}
	switch {
	case inside && f.wanted:
		c.left += uint64(r.N)
	case f.wanted:
		if r.N == r.Block.N {
			x.whole.plus(one)
		} else {
			k := x.runs[r.N]
			k.plus(one)
			x.runs[r.N] = k
		}
		if c.o.times {
			f.clock.ran(x, r.N)
		}
	}
	f.last, f.unsure = nil, unsure
	if r.N == r.Block.N {
		f.last, f.back = x, r.Block.Class == isa.FarReturn
	}
}

// leads reports whether the branch at the end of b can lead to addr. A return, and what
// goes straight on, tell nothing that the code there does not.
func leads(b *decoder.Block, addr uint64) bool {
	switch b.Class {
	case isa.Jump, isa.Cond, isa.Call:
		return addr == b.Target && addr != b.End
	case isa.JumpInd, isa.CallInd:
		return addr != b.End
	}
	return false
}

// wants reports whether what a stream executed at t counts.
func (c *counter) wants(stream int, t event.Time) bool {
	if c.o.comms == nil {
		return true
	}
	_, comm, _, ok := c.s.Running(stream, t.Stated())
	for _, p := range c.o.comms {
		if ok && filter.Fits(p, comm) {
			return true
		}
	}
	return false
}

// found begins to count b.
func (c *counter) found(b *decoder.Block, t event.Time) *code {
	x := &code{block: b, time: t.Likely(), runs: map[uint16]tally{}, to: map[uint64]tally{}}
	if name, off, _, ok := c.s.Symbol(b.Space, b.Addr, x.time); ok && off == 0 && c.s.Kernel(b.Addr) {
		x.switches, x.handler = takesStack(name), handles(name)
	}
	c.blocks[b] = x
	return x
}

// note takes what lies between ranges.
func (c *counter) note(f *following, n *decoder.Note) {
	switch n.Kind {
	case decoder.NoteGap:
		c.gaps++
		f.depth, f.back = 0, false
		f.clock.stop(n.Gap.Time.Lo)
	case decoder.NoteTrap:
		if f.wanted && (f.depth == 0 || c.o.interrupts) {
			c.traps[n.IP]++
		}
		// What a probe's breakpoint leads to is what the probe is for. That of a change in
		// progress is chance.
		if n.Trap == decoder.TrapWindow || f.depth > 0 {
			f.depth++
		}
	case decoder.NoteEvent:
		if n.Event.Kind != event.Async {
			return
		}
		f.depth++
	case decoder.NoteTrackOff:
		f.depth, f.back = 0, false
		f.clock.stop(n.Event.Time.Lo)
	case decoder.NoteTrackOn:
		f.came, f.back = true, false
		f.clock.start(n.Event.Time.Lo)
	default:
		return
	}
	f.last = nil
}

// takesStack reports whether a function of the kernel takes another thread's stack
// (arch/x86/entry/entry_64.S, arch/arm64/kernel/entry.S, v6.12).
func takesStack(name string) bool {
	return name == "__switch_to_asm" || name == "__switch_to" || name == "cpu_switch_to"
}

// handles reports whether a function of the kernel is where an interrupt or exception
// enters it from user space. On x86 such names are asm_ and the handler's
// (arch/x86/include/asm/idtentry.h, v6.12). On arm64 el0t_64_sync is left out, as it takes
// system calls too (arch/arm64/kernel/entry.S).
func handles(name string) bool {
	for _, p := range []string{"asm_*", "el0t_*_irq", "el0t_*_fiq", "el0t_*_error"} {
		if ok, err := path.Match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}

// clock shares out the time of a stream among the blocks that were executed between two
// times that the trace states.
type clock struct {
	since uint64 // ns; 0: not known
	insns uint64 // since then
	list  []share
}

// share is instructions of a block.
type share struct {
	of *code
	n  uint16
}

func (k *clock) ran(x *code, n uint16) {
	k.list = append(k.list, share{x, n})
	k.insns += uint64(n)
}

// reach says that it is t, ns.
func (k *clock) reach(t uint64) {
	if t == 0 || k.since != 0 && t <= k.since {
		return
	}
	if k.since != 0 && k.insns > 0 {
		for _, s := range k.list {
			s.of.ns += float64(t-k.since) * float64(s.n) / float64(k.insns)
		}
	}
	k.since, k.insns, k.list = t, 0, k.list[:0]
}

// stop says that nothing is known to be executed from t on, ns.
func (k *clock) stop(t uint64) {
	k.reach(t)
	k.since, k.insns, k.list = 0, 0, k.list[:0]
}

// start says that execution goes on at t, ns.
func (k *clock) start(t uint64) {
	k.stop(t)
	k.since = t
}
