package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Tree follows the calls of a recording's flow. It is a decoder.Sink, for one goroutine. It
// holds what is in progress, and no more.
type Tree struct {
	Session *decoder.Session // whose flow it is; must be set

	// OnBegin and OnEnd, where set, are called for each call: callers before callees as
	// they begin, and callees before callers as they end.
	OnBegin, OnEnd func(*Call)
	// OnRan, where set, is called for each range of flow, with the innermost call that it
	// ran in; nil where that is not known. It may be the call of a thunk, for which OnBegin
	// is not called. A range of several functions goes to the last of them. OnRan cannot be
	// combined with Fold.
	OnRan func(*Call, *decoder.BatchRange)
	// OnRestart, where set, is called where all that was told so far does not count, since
	// the flow comes once more with other code (decoder.Restarter). It returns false if it
	// cannot forget what it was told.
	OnRestart func() bool

	// Fold makes one Call of all short calls of a function. A call is short if the trace
	// states no time between its beginning and its end. OnEnd is given such a Call at Close;
	// its Times says how many calls it stands for. OnBegin is not called at all then, and
	// Caller is not set. Where only OnEnd is set, Session.Flow may leave short calls out of
	// the flow that a Tree is given (see Tree.Condenser).
	Fold bool

	// Brief promises that nobody asks for a Call's Caller, or keeps a Call beyond OnBegin
	// and OnEnd. It costs less: most calls then never become an object. It cannot be
	// combined with Fold or OnRan.
	Brief bool

	// From and Until, where set, are times, ns. Self, Ambiguous, Insns and Took then count
	// only what ran between them; an Until of 0 is no end. They cannot be combined with
	// Fold, and Call.Cycles is not told.
	From, Until uint64

	// OnRows, where set, is given calls that ended, as Rows, in place of OnEnd: 256 each
	// time, and the rest at Close. It may change or keep what it is given. It returns Rows
	// to write the next calls to: the same ones, or others that nobody else uses, whatever
	// their N is. It needs Brief.
	OnRows func(*Rows) (next *Rows)

	// OnSteps, where set, is given steps in place of OnBegin and OnEnd: calls that begin
	// and calls that end, in their order. It is given up to 256 each time, and the rest as
	// Flow or Close ends. What it is given is lent. It needs Brief.
	//
	// A step with Ended InProgress is a call of Function that begins. Any other is a call
	// that ends; Insns and Verdict are those of that call. Begin is the likeliest moment of
	// either, ns, but for a call that ends AtEnd: there it is the earliest. Ran[0] is that of
	// all steps. The other columns do not count.
	OnSteps func(*Rows)

	Unmatched uint64 // returns that no call awaited
	Unwound   uint64 // calls that ended because one outside of them did

	cpus    []cpu // by stream
	threads map[threadKey]*thread
	// By stream: until when it is known who ran in the gap that goes on, ns. event.Always.Hi: there is none, or all is known.
	lostAt    []uint64
	places    []place                   // by numbers of their blocks
	written   int                       // so many of places were written ahead
	parts     map[*decoder.Block][]part // of those that are of several functions: what is behind the first one
	found     map[functionAt]*function
	functions []*function // by their numbers
	steady    []*function // by index of their symbol (symbols.Table.Steadily); nil: not met
	rows      *rowsOf     // nil: there is no OnRows
	steps     *stepsOf    // nil: there is no OnSteps
	free      []*Call
	lent      Call       // of a detour that ended
	over      *condensed // of what Flow has; nil: it is all there
}

// begin forgets all.
func (t *Tree) begin() {
	t.cpus, t.lostAt, t.threads = nil, nil, map[threadKey]*thread{}
	t.places, t.written, t.parts, t.found, t.functions, t.steady = make([]place, placesFirst), 0, nil, map[functionAt]*function{}, nil, nil
	if t.OnRows != nil {
		t.rows = &rowsOf{Rows: new(Rows), t: t}
		t.OnEnd = t.rows.call
	}
	if t.OnSteps != nil {
		t.steps = &stepsOf{t: t}
		t.OnBegin, t.OnEnd = t.steps.callBegins, t.steps.callEnds
	}
	t.Unmatched, t.Unwound = 0, 0
	switches := map[*decoder.Session]string{}
	for _, st := range t.Session.Streams() {
		c := cpu{Tree: t, st: st, machine: t.Session}
		for _, g := range decoder.Guests(t.Session) {
			if g.Meta().Guest == st.Guest {
				c.machine = g
			}
		}
		name, ok := switches[c.machine]
		if !ok { // a search of all names
			name = switchName(c.machine)
			switches[c.machine] = name
		}
		c.switches = name
		if t.From == 0 && t.Until == 0 {
			c.cycles = cyclesOf(st)
		}
		t.cpus, t.lostAt = append(t.cpus, c), append(t.lostAt, event.Always.Hi)
	}
}

// Restart begins anew (decoder.Restarter). It returns false where OnRestart does.
func (t *Tree) Restart() bool {
	if t.OnRestart != nil && !t.OnRestart() {
		return false
	}
	t.begin()
	return true
}

// Close ends the calls that are in progress.
func (t *Tree) Close() {
	for i := range t.cpus {
		t.cpus[i].begins()
		if th := t.cpus[i].thread; th != nil {
			th.seen, th.stream = t.cpus[i].last, i
		}
	}
	for _, th := range t.sorted() {
		c := &t.cpus[th.stream]
		c.thread, c.last = th, th.seen
		th.forgotten(c)
	}
	for _, f := range t.functions {
		if f.folded.n > 0 && t.OnEnd != nil {
			t.OnEnd(&Call{function: f, TID: -1, How: Called, Ended: Returned, Ran: true, timed: true, Times: f.folded.n, Insns: f.folded.insns})
		}
		f.folded = folded{}
	}
	t.rows.handsOn()
	t.steps.handOver()
}

// ran notes what ran in the innermost call since the last time, up to the end of prev.
func (c *cpu) ran(insns uint64, v decoder.Verdict, prev *decoder.Block) {
	c.prev = prev
	if n := c.briefs.n; n > 0 {
		x := &c.briefs.list[n-1]
		x.self += insns
		x.verdict = max(x.verdict, v)
	} else if c.top != nil {
		c.top.Self += insns
		c.top.Verdict = max(c.top.Verdict, v)
	}
}
