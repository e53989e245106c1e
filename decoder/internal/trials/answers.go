package trials

import (
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/kcore"
)

// Answers is what segments of a recording told, each under one code or another. A segment that read none of
// the code at which two codes differ tells the same under both, so it is decoded once. Many workers use it.
type Answers struct {
	Most  int64      // bytes that answers may take together
	Spare *sync.Pool // of *flow.Batch

	mu    sync.Mutex
	of    map[Part][]*Answer
	apart map[[2]*Code]*apartness
	held  int64 // bytes that they take
	shelf flow.Shelf
	clear map[int]int64 // by stream: up to where nothing is contradicted under a code, bytes
	under *Code         // that
}

// Part is a segment of a recording: a stream, and where in it the segment begins, bytes.
type Part struct {
	Stream int
	Begin  int64
}

// Code is the code of a decoding: what was learned of it.
type Code struct{ Learned []kcore.Learned }

// Answer is what a segment told under a code.
type Answer struct {
	Insns  int           // of the kernel that it executed
	Visits []learn.Visit // where trace and code contradict each other
	Flow   []*flow.Kept  // as it was walked, in order; nil: that is not kept

	code  *Code
	reads *flow.CodeRead // what code it read
}

// maxCodes is how many answers of a segment are kept. A visit takes about so many bytes, and an answer so
// many besides flow and visits.
const (
	maxCodes    = 16
	visitBytes  = 8 << 10
	answerBytes = 4 << 10
)

// Batch returns b as it is kept in an answer; nil where there is no room. w is told what was executed.
func (k *Answers) Batch(b *flow.Batch, w *flow.Watch) *flow.Kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	x := k.shelf.Keep(b, k.Most-k.held, w)
	if x != nil {
		k.held += x.Size()
	}
	return x
}

// claim takes bytes for what is to be kept, if so many are left.
func (k *Answers) claim(bytes int64) bool {
	if k.held+bytes > k.Most {
		return false
	}
	k.held += bytes
	return true
}

// Keep keeps what p told under c, and what code it read.
func (k *Answers) Keep(c *Code, p Part, reads *flow.CodeRead, a *Answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.claim(answerBytes + reads.Size() + visitBytes*int64(len(a.Visits))) {
		return
	}
	if k.of == nil {
		k.of = map[Part][]*Answer{}
	}
	if list := k.of[p]; len(list) < maxCodes {
		a.code, a.reads = c, reads
		k.of[p] = append(list, a)
	}
}

// Clear says that nothing is contradicted under c in the parts of streams before these offsets. What else they tell is not
// known. It reports whether that was said before.
func (k *Answers) Clear(c *Code, before map[int]int64) (was bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was = len(k.clear) > 0
	k.clear, k.under = before, c
	return was
}

// Known returns what p tells under c; nil if it has to be decoded. Where flow is asked for, it is there. Else it may be only
// that nothing is contradicted (Clear).
func (k *Answers) Known(c *Code, p Part, flow bool) *Answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if end, ok := k.clear[p.Stream]; ok && !flow && p.Begin < end {
		if x := k.differ(k.under, c); !x.more && len(x.at) == 0 {
			return &Answer{}
		}
	}
	for _, a := range k.of[p] {
		if (a.Flow != nil || !flow) && k.differ(a.code, c).without(a.reads) {
			return a
		}
	}
	return nil
}

// apartness is where the codes of two decodings differ.
type apartness struct {
	at   []uint64 // these bytes
	more bool     // in what records tell, too

	asked flow.Asked // for these bytes
}

// without reports whether who read this code read none that differs.
func (x *apartness) without(read *flow.CodeRead) bool { return !x.more && !x.asked.ReadBy(read) }

// differ says where b is other code than a.
func (k *Answers) differ(a, b *Code) *apartness {
	key := [2]*Code{a, b}
	x := k.apart[key]
	if x == nil {
		x = apartIn(a.Learned, b.Learned)
		if x.asked = flow.Ask(x.at); k.apart == nil {
			k.apart = map[[2]*Code]*apartness{}
		}
		k.apart[key] = x
	}
	return x
}

// apartIn says where code with a learned differs from that with b learned.
func apartIn(a, b []kcore.Learned) *apartness {
	const unknown = -1
	laid := map[uint64][2]int{} // by address: what lies there with a, and with b
	for i, list := range [2][]kcore.Learned{a, b} {
		other := [2][]kcore.Learned{b, a}[i]
		for _, l := range list {
			if l.Was != nil && !slices.ContainsFunc(other, func(o kcore.Learned) bool { return learn.Same(l, o) }) {
				return &apartness{more: true} // it counts among the changes that records tell of
			}
			for n, c := range l.Code {
				at := l.Addr + uint64(n)
				was, ok := laid[at]
				if !ok {
					if was = [2]int{unknown, unknown}; len(l.Had) == len(l.Code) {
						was = [2]int{int(l.Had[n]), int(l.Had[n])}
					}
				}
				was[i] = int(c)
				laid[at] = was
			}
		}
	}
	x := &apartness{}
	for at, is := range laid {
		if is[0] != is[1] || is[0] == unknown {
			x.at = append(x.at, at)
		}
	}
	slices.Sort(x.at)
	return x
}
