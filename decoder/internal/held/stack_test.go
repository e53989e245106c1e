package held

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// TestStack would catch a thing that is lent twice or lost, and another order than the last first. It would also catch a
// Take that does not wait, or does not end with its context.
func TestStack(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := NewStack([]int{1, 2, 3})
	take := func() int {
		x, err := s.Take(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	a, b := take(), take()
	s.Give(a)
	s.Give(b)
	if c := take(); c != b {
		t.Errorf("%d is lent, and %d was given back last", c, b)
	}
	s.Give(b)
	if list := slices.Sorted(s.Each); !slices.Equal(list, []int{1, 2, 3}) {
		t.Errorf("%v are there", list)
	}
	var all sync.WaitGroup
	var held [4]bool // by who has it: the race detector sees two
	for range 8 {
		all.Go(func() {
			for range 1000 {
				x, err := s.Take(ctx)
				if err != nil || held[x] {
					t.Errorf("%d is lent twice, or %v", x, err)
					return
				}
				held[x] = true
				held[x] = false
				s.Give(x)
			}
		})
	}
	all.Wait()
	for range 3 {
		take()
	}
	stop()
	if x, err := s.Take(ctx); err != context.Canceled {
		t.Errorf("%d, %v, though all are lent", x, err)
	}
}
