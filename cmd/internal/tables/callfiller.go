package tables

import "github.com/ptdecode/ptdecode/decoder/calls"

// callFiller fills row groups of calls in a goroutine of its own, while the tree goes on. So many rows come at once
// that what it takes to wake a goroutine counts little.
type callFiller struct {
	at     *someCalls      // to be handed over; nil: no call has come
	filled chan *someCalls // to the goroutine; nil: there is none
	empty  chan *someCalls // back from it
	done   chan struct{}   // closed when all that came is in row groups
}

// callsAtOnce is how many Rows go to the goroutine at once, and maxCallsAhead how often that may be
// before it is waited for. Each is 460 KiB.
const (
	callsAtOnce   = 16
	maxCallsAhead = 3
)

// someCalls is rows of calls on their way to a row group, and back without any.
type someCalls struct {
	of   naming
	n    int // of rows
	rows [callsAtOnce]*calls.Rows
}

// takesCalls writes rows of calls (callTaker).
func (p *parquet) takesCalls(of *calls.Tree, rows *calls.Rows) (*calls.Rows, error) {
	x := &p.calls
	if x.filled == nil {
		p.beginsFilling()
	}
	y := x.at
	next := y.rows[y.n]
	y.of, y.rows[y.n] = of.SoFar(), rows
	if y.n++; y.n == callsAtOnce {
		x.filled <- y
		x.at = <-x.empty
	}
	if next == nil {
		next = new(calls.Rows)
	}
	if next.N = 0; p.failed.Load() {
		return next, errFailed
	}
	return next, nil
}

// beginsFilling has another goroutine fill row groups of calls.
func (p *parquet) beginsFilling() {
	p.calls = callFiller{at: new(someCalls), filled: make(chan *someCalls, maxCallsAhead), empty: make(chan *someCalls, maxCallsAhead), done: make(chan struct{})}
	for range maxCallsAhead - 1 {
		p.calls.empty <- new(someCalls)
	}
	go p.fillCalls()
}

// fillCalls fills row groups of calls until no more come.
func (p *parquet) fillCalls() {
	defer close(p.calls.done)
	for y := range p.calls.filled {
		for _, rows := range y.rows[:y.n] {
			g := p.toFill(tableCalls)
			if g.takes(y.of, rows); g.rows >= g.most || g.calls.crowded {
				_ = p.hands(g) // whoever brings calls is told
			}
		}
		y.n = 0
		p.calls.empty <- y
	}
}

// ends has row groups have all calls that came. No more come.
func (x *callFiller) ends() {
	if x.filled == nil {
		return
	}
	x.filled <- x.at
	close(x.filled)
	<-x.done
	*x = callFiller{}
}
