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
	events *queue
	text   Text
	breaks []uint64 // entry addresses of the breakpoint exception's handler

	from, to int   // the events [from, to) were looked at
	found    []int // those among them that matter, ascending
}

// nextBreak returns the first breakpoint's exception among the events from i
// on, no more than maxLook of them, and its index. It returns nil if there is
// none before the trace breaks off. The pointer is good until the next call
// that pulls.
func (l *lookout) nextBreak(i int) (at int, e *event.Event) {
	if i < l.from || i > l.to {
		l.from, l.to, l.found = i, i, l.found[:0]
	}
	if len(l.found) > 16 && l.found[16] < l.events.base { // used by every flow
		used, _ := slices.BinarySearch(l.found, l.events.base)
		l.from, l.found = l.events.base, slices.Delete(l.found, 0, used)
	}
	at, _ = slices.BinarySearch(l.found, i)
	for at == len(l.found) {
		if l.to >= i+maxLook {
			return 0, nil
		}
		if e = l.events.at(l.to); e == nil {
			return 0, nil
		}
		if e.Kind == event.Overflow || e.Kind == event.Trouble || e.Kind == event.Async && l.isBreak(e) {
			l.found = append(l.found, l.to)
		}
		l.to++
	}
	if at = l.found[at]; at >= i+maxLook {
		return 0, nil
	}
	if e = l.events.at(at); e.Kind != event.Async {
		return 0, nil
	}
	return at, e
}

// clear forgets everything: another segment begins.
func (l *lookout) clear() { l.from, l.to, l.found = 0, 0, l.found[:0] }

// isBreak reports whether e is a breakpoint's exception.
func (l *lookout) isBreak(e *event.Event) bool {
	return e.Flags&event.FlagBreak != 0 || (e.Flags&event.FlagIntr == 0 && slices.Contains(l.breaks, e.IP))
}

// trapAhead reports whether a and b, alike but for what they ran, come to a
// breakpoint that only one of them can meet. The other ran that poke's new
// code. Then they are not one yet.
func (l *lookout) trapAhead(a, b *thread) bool {
	if slices.Equal(a.ran, b.ran) {
		return false
	}
	for i, e := l.nextBreak(a.q); e != nil && i < a.q+maxLook; i, e = l.nextBreak(i + 1) {
		if l.ranAt(a, b, e.From) || l.ranAt(b, a, e.From) {
			return true
		}
	}
	return false
}

// ranAt reports whether a ran the new text of a poke at ip and b did not.
func (l *lookout) ranAt(a, b *thread, ip uint64) bool {
	for _, k := range a.ran {
		if !slices.Contains(b.ran, k) && l.text.Poke(int(k)).Addr == ip {
			return true
		}
	}
	return false
}
