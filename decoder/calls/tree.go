package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Tree follows the calls of a recording's flow. It is a decoder.Sink, for one goroutine. It
// holds what is in progress, and no more.
type Tree struct {
	Session *decoder.Session // whose flow it is; must be set

	// OnBegin and OnEnd, where set, are told of each call, callers before callees as they
	// begin and callees before callers as they end.
	OnBegin, OnEnd func(*Call)
	// OnRan, where set, is told of each range of flow, and of the call that it ran in: the
	// innermost one, nil where that is not known. It may be a thunk's, of which OnBegin is not
	// told. A range of several functions goes to the last. It does not go with Fold.
	OnRan func(*Call, *decoder.BatchRange)
	// OnRestart, where set, says that all that was told does not count: the flow comes
	// once more, with other code (decoder.Restarter). It returns false if it cannot forget.
	OnRestart func() bool

	// Fold tells at Close, and at once, of the calls of a function that began and ended between
	// two times that the trace told: as one Call that has Times. OnBegin is not told of calls then, nor
	// has each its Caller. Where OnEnd alone is set, Session.Flow may take calls out of the flow that a
	// Tree, or what has its method Condenser, is given (Tree.Condenser).
	Fold bool

	// Brief says that nobody asks for a Call's Caller, or keeps a Call beyond OnBegin and OnEnd. Most
	// calls never become an object then. It goes with neither Fold nor OnRan.
	Brief bool

	// From and Until, where set, are times, ns: Self, Ambiguous, Insns and Took are of what ran
	// from the one to the other only, Until 0 being no end. Neither Fold nor Call.Cycles goes with
	// them.
	From, Until uint64

	// OnRows, where set, is given calls that ended as Rows, in place of OnEnd: 256 each time, and at Close the
	// rest. It may change them, or keep them: it returns where the next ones go, the same or others that nobody else uses.
	// What N of these is does not matter. It goes with Brief.
	OnRows func(*Rows) (next *Rows)

	// OnSteps, where set, is told of calls that begin and end, in their order, in place of OnBegin and OnEnd. It is told of
	// up to 256 each time, and as Flow or Close ends of the rest. Where Ended is InProgress, one of a Function begins. Else one
	// ends that had Insns, with Verdict. Begin is the likeliest moment of either, ns, or of a call that ends AtEnd the
	// earliest. Ran[0] is of all of them. The other columns do not count. These are lent. It goes with Brief.
	OnSteps func(*Rows)

	Unmatched uint64 // returns that no call awaited
	Unwound   uint64 // calls that ended because one outside of them did

	cpus      []cpu // by stream
	threads   map[threadKey]*thread
	places    []place // by numbers of their blocks
	found     map[functionKey]*function
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
	t.cpus, t.threads = nil, map[threadKey]*thread{}
	t.places, t.found, t.functions, t.steady = make([]place, placesFirst), map[functionKey]*function{}, nil, nil
	if t.OnRows != nil {
		t.beginRows()
	}
	if t.OnSteps != nil {
		t.beginSteps()
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
			c.cycles = countersOf(st)
		}
		t.cpus = append(t.cpus, c)
	}
}

// Restart begins anew (decoder.Restarter).
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
		t.cpus[i].thread.settle(&t.cpus[i])
	}
	for _, th := range t.sorted() {
		c := &t.cpus[th.stream]
		c.thread, c.last = th, event.Time{Lo: th.seen.Lo, Hi: event.Always.Hi}
		for _, p := range []*stack{&th.kernel, &th.user} {
			c.part = p
			for len(p.calls) > 0 {
				c.end(AtEnd)
			}
		}
	}
	t.tellFolded()
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
