package rows

import "testing"

// TestCallStack would catch a tree that drifts: returns that leave several
// calls, returns that no call awaits, and more calls than are remembered.
func TestCallStack(t *testing.T) {
	s := &callStack{}
	for i := range 5 {
		if d := s.enter(frame{ret: uint64(100 + i)}); d != i {
			t.Fatalf("call %d has depth %d", i, d)
		}
	}
	if s.leave(102) != true || s.depth() != 2 {
		t.Errorf("a return over two calls: depth %d, want 2", s.depth())
	}
	if s.leave(999) != false || s.depth() != 2 {
		t.Errorf("a return that no call awaits: depth %d, want 2", s.depth())
	}
	for range 4 {
		s.pop()
	}
	if s.depth() != 0 {
		t.Errorf("a return out of everything: depth %d, want 0", s.depth())
	}
	for i := range 3 * maxCalls {
		s.enter(frame{ret: uint64(i)})
	}
	if len(s.frames) > maxCalls {
		t.Errorf("%d calls are remembered, at most %d", len(s.frames), maxCalls)
	}
	if s.leave(3*maxCalls-1) != true || s.depth() != 3*maxCalls-1 {
		t.Errorf("after many calls: depth %d, want %d", s.depth(), 3*maxCalls-1)
	}
	s.clear()
	for _, f := range []frame{{ret: 1}, {}, {ret: 2}, {ret: 3}} {
		s.enter(f)
	}
	if s.resume(); s.depth() != 1 {
		t.Errorf("back from an interrupt: depth %d, want 1", s.depth())
	}
	if s.resume(); s.depth() != 1 {
		t.Errorf("back from an interrupt that was not seen: depth %d, want 1", s.depth())
	}
}

// TestTrampoline would catch a trampoline that counts as a level, and a depth that goes astray
// where calls are forgotten, unwound, or left behind with the trampoline's own.
func TestTrampoline(t *testing.T) {
	var s callStack
	for i := range 3 * maxCalls {
		if d := s.enter(frame{ret: uint64(i + 1), hidden: i%3 == 1}); i%3 != 1 && d != i-(i+1)/3 {
			t.Fatalf("call %d lies at depth %d", i, d)
		}
	}
	for i := 3*maxCalls - 1; i >= 3*maxCalls-60; i -= 2 {
		if !s.leave(uint64(i+1)) || s.depth() != i-(i+1)/3 {
			t.Fatalf("%d calls behind the return from call %d, want %d", s.depth(), i, i-(i+1)/3)
		}
	}
	if s.clear(); s.depth() != 0 {
		t.Errorf("%d calls in an empty stack", s.depth())
	}
}
