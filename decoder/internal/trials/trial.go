// Package trials is what a decoder needs to try ideas of other code (package learn).
//
// In goes what walks tell (package flow): contradictions, what events confirmed, and what
// code was read. Out come Visits to have ideas of, the Outcome of a Trial, and Answers. An
// Answer is what a part of a recording told under one code, with what it read of that code.
// Under another code that is the same there it would tell the same, and need not be decoded
// again. An Overlay is the code with ideas laid over it.
//
// Nothing here decodes a trace: package decoder does, and package learn has the ideas.
//
// Start reading in trial.go, then answers.go.
package trials

import (
	"errors"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
)

// Trial is a sink of a segment that is decoded with ideas laid over the code.
type Trial struct {
	V        *learn.Visit
	Out      learn.Outcome
	Switches uint64 // where the kernel goes on with another task; 0: no one knows

	over bool // no more is wanted
}

// ErrOver ends a walk of which no more is wanted.
var ErrOver = errors.New("trials: enough is known")

// Confirmed counts what lies behind the visit (flow.Config.Confirmed).
func (t *Trial) Confirmed(rs []flow.Range, stamps []flow.Stamp) error {
	if t.over {
		return ErrOver
	}
	if len(rs) == 0 {
		t.Out.Calls.Forget()
	}
	for i := range rs {
		if t.Out.Full() {
			break // how much more is told at once hangs on where batches end
		}
		r := &rs[i]
		off := stamps[r.Stamp].Off
		t.Out.Follow(t.V, off, r.Block.Addr, r.Block.Lens[:r.N])
		if r.Block.Addr == t.Switches {
			t.Out.Calls.Forget()
		} else if r.N == r.Block.N {
			t.Out.Calls.Block(r.Block.Addr, r.Block.End, r.Block.Target, r.Block.Class)
		}
	}
	return t.endIf(t.Out.Full())
}

// endIf ends the trial where enough is known.
func (t *Trial) endIf(enough bool) error {
	if t.over = t.over || enough; t.over {
		t.Out.Open = 0 // how much came so far hangs on where batches end
		return ErrOver
	}
	return nil
}

// Contradicted ends the trial where the trace contradicts again (flow.Config.Contradicted).
func (t *Trial) Contradicted(x *flow.Contradiction) error {
	if x.Gap.Off < t.V.Begin || !x.Gap.Reason.Contradicts() || t.over {
		return t.endIf(false)
	}
	t.Out.Until = x.Gap.Time.Hi
	return t.endIf(true)
}

// Flow counts what of b lies behind the visit (flow.Sink). It ends the walk where no more
// is wanted.
func (t *Trial) Flow(b *flow.Batch) error {
	if t.over {
		return ErrOver
	}
	for i := range b.Ranges {
		if r := &b.Ranges[i]; b.Stamps[r.Stamp].Off > t.V.Off {
			t.Out.Open += int(r.N)
		}
	}
	return nil
}

// Ended says that the walk came to the end of the segment, if nothing ended it before.
func (t *Trial) Ended() {
	if !t.over {
		t.Out.Ended, t.Out.Open = true, max(0, t.Out.Open-t.Out.Beyond)
	}
}
