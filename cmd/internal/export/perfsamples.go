package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// perfSamples is samples with stacks, as perf script --ns --itrace=ige prints them: a block of
// lines, the innermost function first, and an empty line. perf samples at intervals. Here a
// sample is a stretch in which the stack stays the same. It has the time at which the stretch
// begins, and its instructions as period.
type perfSamples struct {
	calls.Tree
	job   *job
	out   *bufio.Writer
	since map[int64]*moment // by thread, or stream: since when its stack is what it is

	crossed, wrote bool  // whether a sample began before the time that is asked for, and whether one was written
	cpu            int32 // that executes the flow at hand
	err            error
}

// newPerfSamples returns a sink that writes samples with stacks.
func newPerfSamples(j *job, w io.Writer) (host.Sink, error) {
	p := &perfSamples{job: j, out: bufio.NewWriter(w), since: map[int64]*moment{}}
	p.Tree = calls.Tree{Session: j.session, OnBegin: p.entered, OnEnd: p.left, OnRan: p.ran}
	return p, nil
}

// Flow follows b.
func (p *perfSamples) Flow(b *decoder.Batch) error {
	p.cpu = p.job.session.Streams()[b.Stream].CPU
	return p.Tree.Flow(b)
}

// A call's Tag: how many of its instructions samples have, and above that 1 plus the CPU that ran it last.
const (
	tagCPU    = 48
	tagCounts = 1<<tagCPU - 1
)

// ran notes which CPU runs c: it may not be the one that c began on.
func (p *perfSamples) ran(c *calls.Call, _ *decoder.BatchRange) {
	if c != nil {
		c.Tag = c.Tag&tagCounts | uint64(p.cpu+1)<<tagCPU
	}
}

// moment is when a stack became what it is, ns.
type moment struct {
	from   uint64 // no earlier; 0: not known
	latest uint64 // where from is 0; 0: that is not known either
	shown  uint64 // the time of the last sample
}

// goesTo has m be no earlier than t.
func (m *moment) goesTo(t event.Time) {
	if m.from = max(m.from, t.Lo); m.latest == 0 {
		m.latest = t.Likely()
	}
}

// show returns the time of a sample, which is no earlier than that of the one before. Readers take 0 for a time.
func (m *moment) show() uint64 {
	if m.shown = max(m.shown, m.from); m.shown == 0 {
		m.shown = m.latest
	}
	return m.shown
}

// entered ends the stretch of the caller.
func (p *perfSamples) entered(c *calls.Call) {
	if c.Caller != nil {
		p.stretch(c.Caller, c.Begin)
	}
	p.sinceOf(c).goesTo(c.Begin)
}

// left ends the stretch of c.
func (p *perfSamples) left(c *calls.Call) {
	p.stretch(c, c.End)
	p.sinceOf(c).goesTo(c.End)
}

// sinceOf returns since when the stack of c's thread is what it is.
func (p *perfSamples) sinceOf(c *calls.Call) *moment {
	k := -1 - int64(c.Stream.Index)
	if c.TID > 0 {
		k = int64(c.TID)
	}
	m := p.since[k]
	if m == nil {
		m = &moment{}
		p.since[k] = m
	}
	return m
}

// stretch writes what c executed since the last sample of it, up to now.
func (p *perfSamples) stretch(c *calls.Call, now event.Time) {
	n := c.Self
	if !p.job.ambiguous {
		n -= c.Ambiguous
	}
	period, cpu := n-c.Tag&tagCounts, int32(c.Tag>>tagCPU)-1
	c.Tag = c.Tag&^tagCounts | n
	if cpu < 0 { // what ran in it are thunks, which are calls of their own to OnRan
		cpu = c.Stream.CPU
	}
	m := p.sinceOf(c)
	if m.from == 0 {
		m.goesTo(now) // it began before the trace tells a time
	}
	o := &p.job.filter.Options
	if period == 0 || p.err != nil || m.from > o.Until && o.Until != 0 || !p.job.wants(c) {
		return
	}
	if m.from < o.From {
		p.crossed = p.crossed || now.Hi >= o.From
		return
	}
	p.wrote = true
	at := m.show()
	comm := c.Comm
	switch {
	case comm == "":
		comm = fmt.Sprintf(":%d", c.TID)
	case c.TID == 0:
		comm = fmt.Sprintf("%s/%d", comm, cpu) // as the kernel calls its idle tasks: their times overlap
	}
	fmt.Fprintf(p.out, "%s %5d [%03d] %5d.%09d: %10d instructions: \n", terminal.Plain(comm), max(c.TID, 0), max(cpu, 0), at/1e9, at%1e9, period)
	for ; c != nil; c = c.Caller {
		name, file := c.Sym, c.File
		if name == "" {
			name = "[unknown]"
		}
		switch kernel := p.job.session.Kernel(c.Addr); {
		case kernel && (file == "" || file == kernelName):
			file = kernelOf(c.Guest())
		case file == "":
			file = "[unknown]"
		case kernel && !strings.HasPrefix(file, "["):
			file = "[" + file + "]"
		}
		fmt.Fprintf(p.out, "\t%16x %s (%s)\n", c.Addr, terminal.Plain(name), terminal.Plain(file))
	}
	p.err = p.out.WriteByte('\n')
}

// Close ends the calls in progress, and writes what is in hand.
func (p *perfSamples) Close() error {
	p.Tree.Close()
	if p.err != nil {
		return p.err
	}
	if p.crossed && !p.wrote {
		p.job.host.Say("perf-script-stacks: nothing is written: all samples begin before the time of --time")
		p.job.host.Hint("let --time begin earlier, or write folded: it has what ran in that time")
	}
	return p.out.Flush()
}
