package perfetto

import (
	"sync/atomic"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// script is what is to be written, in order. Another goroutine writes it while the flow goes on. So much comes
// at once that what it takes to wake a goroutine counts little.
type script struct {
	page   *page         // nil: nothing has come
	full   chan *page    // to the goroutine
	empty  chan *page    // back from it
	done   chan struct{} // closed when all is written
	failed atomic.Bool   // the writer's err is set
}

// A page is written once it has so many steps or lines. There are maxPages.
const (
	pageSteps = 8192
	pageLines = 4096
	maxPages  = 3
)

// page is a part of a script.
type page struct {
	lines  []line
	events []trackEvent
	steps
	named func(function uint32) (sym, file string, addr uint64) // calls.Tree.SoFar
}

// line is an event, or steps of a thread's calls.
type line struct {
	st    *decoder.Stream
	track int // of the event: its kind
	steps int // of calls; 0: it is an event
	tid   int32
	comm  string
}

// steps is calls that begin and end, by column, as calls.Tree.OnSteps has them.
type steps struct {
	at       []uint64 // ns
	insns    []uint64
	function []uint32
	ended    []calls.Way
	verdict  []decoder.Verdict
}

// takes takes calls that begin and end (calls.Tree.OnSteps), where all of them are wanted.
func (k *Sink) takes(x *calls.Rows) {
	p, ran := k.toPage(), x.Ran[0]
	p.lines = append(p.lines, line{st: ran.Stream, tid: ran.TID, comm: ran.Comm, steps: x.N})
	p.at, p.insns, p.function = append(p.at, x.Begin[:x.N]...), append(p.insns, x.Insns[:x.N]...), append(p.function, x.Function[:x.N]...)
	p.ended, p.verdict = append(p.ended, x.Ended[:x.N]...), append(p.verdict, x.Verdict[:x.N]...)
	k.turns()
}

// toPage returns the page that what comes next goes to.
func (k *Sink) toPage() *page {
	x := &k.script
	if x.page == nil {
		x.page, x.full, x.empty, x.done = new(page), make(chan *page, maxPages), make(chan *page, maxPages), make(chan struct{})
		for range maxPages - 1 {
			x.empty <- new(page)
		}
		go k.plays()
	}
	return x.page
}

// turns hands the page over if it is full.
func (k *Sink) turns() {
	x := &k.script
	if p := x.page; len(p.at) >= pageSteps || len(p.lines) >= pageLines {
		p.named = k.tree.SoFar()
		x.full <- p
		x.page = <-x.empty
	}
}

// plays writes pages until no more come.
func (k *Sink) plays() {
	x := &k.script
	defer close(x.done)
	for p := range x.full {
		s, events := p.steps, p.events
		for i := range p.lines {
			ln := &p.lines[i]
			if ln.steps == 0 {
				k.shows(ln.st.Index, ln.track, &events[0])
				events = events[1:]
				continue
			}
			k.writeSteps(ln, s.first(ln.steps), p.named)
			s = s.behind(ln.steps)
		}
		if k.w.err != nil {
			x.failed.Store(true)
		}
		p.lines, p.events, p.steps = p.lines[:0], p.events[:0], p.steps.first(0)
		x.empty <- p
	}
}

// joins waits until all that came is written. No more comes.
func (k *Sink) joins() {
	if x := &k.script; x.page != nil {
		x.page.named = k.tree.SoFar()
		x.full <- x.page
		close(x.full)
		<-x.done
		x.page = nil
	}
}

// first returns the first n steps.
func (s steps) first(n int) steps {
	return steps{s.at[:n], s.insns[:n], s.function[:n], s.ended[:n], s.verdict[:n]}
}

// behind returns the steps behind the first n.
func (s steps) behind(n int) steps {
	return steps{s.at[n:], s.insns[n:], s.function[n:], s.ended[n:], s.verdict[n:]}
}
