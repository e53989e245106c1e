package flow

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// node is a piece of what a thread has emitted since the window opened, which is
// a path of them, shared with the threads that split off later.
type node struct {
	parent *node
	id     uint64 // larger than its parent's; another once what it or one before it holds has changed
	refs   int    // threads and nodes that stand on it
	out    Batch
	stamp  uint32
	poke   int // the newest poke that was in question when it began
	seam   int // of the window's seams, the one behind which it begins; 0: none
	held   int // what it counts for Config.MaxRanges
	met    []meeting
	seen   int      // the newest look for a meeting that came by
	marks  []marked // where its flow was confirmed or became doubtful, ascending; of what confirms, with nothing between, the last
}

// marked is a place up to which flow was confirmed, or is doubtful.
type marked struct {
	extent
	odd bool       // doubtful
	by  *event.Gap // what tells of that; nil: nothing is to be learned from it
}

// doubtLast makes the last range of the flow that ends at n Ambiguous.
func (n *node) doubtLast() {
	for ; n != nil; n = n.parent {
		if k := len(n.out.Ranges); k > 0 {
			n.out.Ranges[k-1].Verdict = Ambiguous
			return
		}
	}
}

// markSure records that what ran up to n's end did run.
func (n *node) markSure() {
	p := whole(&n.out)
	if k := len(n.marks); k > 0 && !n.marks[k-1].odd {
		gap := false
		for _, x := range n.out.Notes[n.marks[k-1].notes:] {
			gap = gap || x.Kind == NoteGap
		}
		if !gap {
			n.marks[k-1].extent = p
			return
		}
	}
	n.marks = append(n.marks, marked{extent: p})
}

// putNote puts x at index at of n's notes, behind all others before its range.
func (n *node) putNote(at int, x Note) {
	n.out.Notes = slices.Insert(n.out.Notes, at, x)
	for i := range n.marks {
		if m := &n.marks[i]; m.ranges > x.At {
			m.notes++
		}
	}
}

// markOdd records that what ran up to n's end is in doubt, as before a gap; by says
// what tells of it.
func (n *node) markOdd(by *event.Gap) { n.marks = append(n.marks, marked{whole(&n.out), true, by}) }

const (
	stampSize = 2  // as Config.MaxRanges counts: 16 bytes are one
	noteSize  = 16 // a Note without others
)

// size is what n counts for Config.MaxRanges.
func (n *Note) size() int { return noteSize + 2*len(n.Others) }

// maxSpare bounds what is kept to be used again: nodes, and ranges, stamps or
// notes of each.
const maxSpare = 1 << 11

// spares is threads and nodes that were used and can be again.
type spares struct {
	threads []*thread
	nodes   []*node
	held    int    // by nodes that are in use, as Config.MaxRanges counts
	ids     uint64 // given so far
}

// hold counts n more as held by nd.
func (s *spares) hold(nd *node, n int) {
	nd.held += n
	s.held += n
}

func (s *spares) thread() *thread {
	n := len(s.threads)
	if n == 0 {
		return new(thread)
	}
	t := s.threads[n-1]
	s.threads = s.threads[:n-1]
	return t
}

// node returns an empty node that its caller holds.
func (s *spares) node() *node {
	s.ids++
	k := len(s.nodes)
	if k == 0 {
		return &node{refs: 1, id: s.ids}
	}
	n := s.nodes[k-1]
	s.nodes = s.nodes[:k-1]
	n.id = s.ids
	return n
}

// unhold lets go of n, and of those before it that nothing else stands on.
func (s *spares) unhold(n *node) {
	for n != nil {
		if n.refs--; n.refs > 0 {
			return
		}
		p, out, met, marks := n.parent, n.out, n.met, n.marks
		s.held -= n.held
		if cap(out.Ranges) > maxSpare || cap(out.Stamps) > maxSpare || cap(out.Notes) > maxSpare {
			out = Batch{} // few nodes grow so long
		}
		clear(out.Notes) // of what they refer to
		out.Reset()
		clear(met)
		*n = node{refs: 1, out: out, met: met[:0], marks: marks[:0]}
		if len(s.nodes) < maxSpare {
			s.nodes = append(s.nodes, n)
		}
		n = p
	}
}
