package trials

import (
	"sync"
	"sync/atomic"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/kcore"
)

// What segments are decoded to while a session learns is kept (Answers). It says what they tell under other code
// that they did not read. And the flow that comes behind is told out of it, and not decoded again.

// Asking is how a run asks what was told before. Its workers share it.
type Asking struct {
	*Answers
	Code  *Code        // of the run
	Insns atomic.Int64 // of the kernel, that segments executed

	Twins []Twin // of Code

	mu       sync.Mutex
	versions map[Version]*Code // of the code, that were asked for
}

// Twin is another code. Bears reports whether the trace of a segment bears both alike, given its flow under that one, Of.
type Twin struct {
	Bears func(tell func(to flow.Sink) error) bool
	Of    *Code
}

// Version is other code laid over what was learned: Learned says what that is then. It can be compared.
type Version interface {
	Learned(list []kcore.Learned) []kcore.Learned
}

// Ask returns how a run of code with a list learned asks k.
func Ask(k *Answers, list []kcore.Learned) *Asking {
	return &Asking{Answers: k, Code: &Code{Learned: list}}
}

// Told returns the flow of a segment under c; nil: it has to be walked.
func (a *Asking) Told(c *Code, p Part) []*flow.Kept {
	if x := a.Known(c, p, true); x != nil {
		return x.Flow
	}
	return nil
}

// Answer returns what a segment tells under a's code; nil: it has to be walked. Of a twin it is told what tells of no
// contradiction.
func (a *Asking) Answer(p Part) *Answer {
	if x := a.Known(a.Code, p, false); x != nil {
		return x
	}
	for i := range a.Twins {
		t := &a.Twins[i]
		if x := a.Known(t.Of, p, true); x != nil && len(x.Visits) == 0 && t.Bears(func(to flow.Sink) error { return a.Retell(x.Flow, to) }) {
			return x
		}
	}
	return nil
}

// Laid returns the flow of a segment under a's code with another version laid over it. nil: it has to be walked, or a
// is nil.
func (a *Asking) Laid(over Version, p Part) []*flow.Kept {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	v := a.versions[over]
	if v == nil {
		v = &Code{Learned: over.Learned(a.Code.Learned)}
		if a.versions == nil {
			a.versions = map[Version]*Code{}
		}
		a.versions[over] = v
	}
	a.mu.Unlock()
	return a.Told(v, p)
}

// Kept is a sink that keeps what is walked of a segment.
type Kept struct {
	Asking *Asking
	Watch  *flow.Watch  // is told what was executed
	Err    func() error // ends it

	insns Insns
	list  []*flow.Kept
	lost  bool // not all of it is kept
}

// Flow takes a batch.
func (k *Kept) Flow(b *flow.Batch) error {
	if err := k.Err(); err != nil {
		return err
	}
	if !k.lost {
		if x := k.Asking.Batch(b, k.Watch); x != nil {
			k.insns += Insns(x.Kernel())
			k.list = append(k.list, x)
			return nil
		}
		k.lost = true
	}
	k.Watch.Executed(b)
	return k.insns.Flow(b)
}

// Keep has a keep what was walked of a segment, which read some code and met contradictions.
func (k *Kept) Keep(p Part, reads *flow.CodeRead, visits []learn.Visit) *Answer {
	x := &Answer{Insns: int(k.insns), Visits: visits}
	if !k.lost {
		x.Flow = k.list
	}
	k.Asking.Keep(k.Asking.Code, p, reads, x)
	return x
}

// Taker is a sink that takes what was kept as it is kept.
type Taker interface {
	Take(x *flow.Kept) error
}

// Retell gives what was kept of a segment to a sink.
func (a *Asking) Retell(list []*flow.Kept, to flow.Sink) error {
	if taker, ok := to.(Taker); ok {
		for _, x := range list {
			if err := taker.Take(x); err != nil {
				return err
			}
		}
		return nil
	}
	b, ok := a.Spare.Get().(*flow.Batch)
	if !ok {
		b = new(flow.Batch)
	}
	defer a.Spare.Put(b)
	for _, x := range list {
		x.Fill(b)
		if err := to.Flow(b); err != nil {
			return err
		}
	}
	return nil
}
