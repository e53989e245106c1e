package stream

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// nearest finds the sync point that lies nearest to a place, on either side. It
// remembers the stretch around the last place in which none lies, so that who
// goes through a stream, forwards or backwards, searches each byte once.
type nearest struct {
	f     *finder
	timed bool  // only those that state a time
	reach int64 // how far it looks, bytes

	from, to    int64 // none begins in [from, to)
	left, right event.SyncPoint
	hasLeft     bool // left is the last one before from
	hasRight    bool // right begins at to
}

// everywhere is the reach of a nearest that looks as far as it must.
const everywhere = math.MaxInt64

// lookBytes is how much a nearest searches at once at least.
const lookBytes = 16 << 10

// at begins with x, unless it is known that none lies around it.
func (n *nearest) at(x int64) {
	if x < n.from || x > n.to {
		n.from, n.to, n.hasLeft, n.hasRight = x, x, false, false
	}
}

// search returns the first one in [from, until).
func (n *nearest) search(from, until int64) (s event.SyncPoint, ok bool) {
	for {
		if s, ok = n.f.next(from, until); !ok || s.Timed || !n.timed {
			return s, ok
		}
		from = s.Off + 1
	}
}

// after returns the first one that begins at x or behind it.
func (n *nearest) after(x int64) (s event.SyncPoint, ok bool) {
	size := n.f.st.Size
	until := size
	if x < size-min(n.reach, size) {
		until = x + n.reach
	}
	old := *n
	n.at(x)
	for step := int64(lookBytes); !n.hasRight && n.to < until; step *= 2 {
		end := min(n.to+step, size)
		if n.right, n.hasRight = n.search(n.to, end); n.hasRight {
			end = n.right.Off
		}
		n.to = end
		if x < old.from && n.to >= old.from && n.to < old.to { // what was known goes on here
			n.to, n.right, n.hasRight = old.to, old.right, old.hasRight
		}
	}
	return n.right, n.hasRight && n.right.Off < until
}

// before returns the last one that begins before x.
func (n *nearest) before(x int64) (s event.SyncPoint, ok bool) {
	least := max(0, x-min(n.reach, x))
	old := *n
	n.at(x)
	for step := int64(lookBytes); !n.hasLeft && n.from > least; step *= 2 {
		begin := max(n.from-step, 0)
		for s, ok := n.search(begin, n.from); ok; s, ok = n.search(s.Off+1, n.from) {
			n.left, n.hasLeft = s, true
		}
		if n.from = begin; n.hasLeft {
			n.from = n.left.Off + 1
		}
		if x > old.to && n.from <= old.to && n.from > old.from && !old.hasRight { // what was known goes on here
			n.from, n.left, n.hasLeft = old.from, old.left, old.hasLeft
		}
	}
	return n.left, n.hasLeft && n.left.Off >= least
}
