package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// maxLook bounds how far ahead of a flow is looked, events: for a breakpoint
// that will tell cuts apart, and for where a trap's handler goes on.
const maxLook = 4096

// lookout knows what lies ahead in a segment: breakpoints' exceptions, and
// where the trace breaks off. What it has looked at it does not look at again.
type lookout struct {
	from, to int   // the events [from, to) were looked at
	found    []int // those among them that matter, ascending
}

// nextBreak returns the first breakpoint's exception among the events from i
// on, no more than maxLook of them, and its index. It returns nil if there is
// none before the trace breaks off. The pointer is good until the next call
// that pulls.
func (w *Walker) nextBreak(i int) (at int, e *event.Event) {
	l := &w.lookout
	if i < l.from || i > l.to {
		l.from, l.to, l.found = i, i, l.found[:0]
	}
	if len(l.found) > 16 && l.found[16] < w.events.base { // used by every flow
		used, _ := slices.BinarySearch(l.found, w.events.base)
		l.from, l.found = w.events.base, slices.Delete(l.found, 0, used)
	}
	at, _ = slices.BinarySearch(l.found, i)
	for at == len(l.found) {
		if l.to >= i+maxLook {
			return 0, nil
		}
		if e = w.events.at(l.to); e == nil {
			return 0, nil
		}
		if e.Kind == event.Overflow || e.Kind == event.Trouble || e.Kind == event.Async && w.breaks(e) {
			l.found = append(l.found, l.to)
		}
		l.to++
	}
	if at = l.found[at]; at >= i+maxLook {
		return 0, nil
	}
	if e = w.events.at(at); e.Kind != event.Async {
		return 0, nil
	}
	return at, e
}

// clear forgets everything: another segment begins.
func (l *lookout) clear() { l.from, l.to, l.found = 0, 0, l.found[:0] }
