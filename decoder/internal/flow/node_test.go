package flow

import "testing"

// TestSpares would catch a node that is used again with what it held, or while
// something still stands on it. It would also catch a count of what is held that
// goes wrong, and memory that is kept for ever because one flow was long.
func TestSpares(t *testing.T) {
	var s spares
	root := s.node()
	s.hold(root, 5)
	a, b := s.node(), s.node()
	for _, n := range []*node{a, b} {
		n.parent = root
		n.met, n.seam, n.poke = append(n.met, meeting{}), 2, 3
		n.out.Notes = append(n.out.Notes, Note{Others: make([]Stretch, 3)})
		s.hold(n, 7)
	}
	root.refs++
	if s.held != 19 {
		t.Errorf("%d held, want 19", s.held)
	}
	if s.unhold(a); s.held != 12 || len(s.nodes) != 1 {
		t.Errorf("%d held and %d nodes free while one stands on the root", s.held, len(s.nodes))
	}
	if s.unhold(b); s.held != 0 || len(s.nodes) != 3 {
		t.Errorf("%d held and %d nodes free in the end", s.held, len(s.nodes))
	}
	for range 3 {
		n := s.node()
		if n.refs != 1 || n.parent != nil || n.seam+n.poke+n.held+len(n.out.Notes)+len(n.met) > 0 {
			t.Errorf("a node is used again with what it held: %+v", n)
		}
		if k := cap(n.out.Notes); k > 0 && n.out.Notes[:k][0].Others != nil {
			t.Error("a free node keeps what its notes refer to")
		}
	}
	long := s.node()
	long.out.Ranges = make([]Range, maxSpare+1)
	s.unhold(long)
	if n := s.node(); cap(n.out.Ranges) > maxSpare {
		t.Errorf("memory for %d ranges is kept", cap(n.out.Ranges))
	}
}
