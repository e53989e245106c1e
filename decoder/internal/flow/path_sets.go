package flow

// PathSets is paths of walkers that take turns with them, a set for each way in which they read text. One worker uses it.
type PathSets[K comparable] struct{ of map[K]*Paths }

// Of returns the paths of walkers that read text as k says.
func (s *PathSets[K]) Of(k K) *Paths {
	p := s.of[k]
	if p == nil {
		if s.of == nil {
			s.of = map[K]*Paths{}
		}
		p = new(Paths)
		s.of[k] = p
	}
	return p
}

// Forget has s know no path, and keeps the memory: code may be another one now.
func (s *PathSets[K]) Forget() {
	for _, p := range s.of {
		p.startAnew()
	}
}
