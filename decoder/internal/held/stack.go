package held

import (
	"context"
	"sync"
)

// Stack lends things. What was given back last is lent first: so where few are in use, it is always the same
// ones, and what they hold is in the processor's cache.
type Stack[T any] struct {
	mu   sync.Mutex
	idle []T
	some chan struct{} // has as many as idle
}

// NewStack returns a stack of things.
func NewStack[T any](things []T) *Stack[T] {
	s := &Stack[T]{idle: things, some: make(chan struct{}, len(things))}
	for range things {
		s.some <- struct{}{}
	}
	return s
}

// Take lends one, and waits for it if all are lent. An error is ctx's.
func (s *Stack[T]) Take(ctx context.Context) (x T, err error) {
	select {
	case <-s.some:
	case <-ctx.Done():
		return x, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle) - 1
	x, s.idle = s.idle[n], s.idle[:n]
	return x, nil
}

// Give gives x back.
func (s *Stack[T]) Give(x T) {
	s.mu.Lock()
	s.idle = append(s.idle, x)
	s.mu.Unlock()
	s.some <- struct{}{}
}

// Each gives all that are not lent.
func (s *Stack[T]) Each(yield func(T) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.idle {
		if !yield(x) {
			return
		}
	}
}
