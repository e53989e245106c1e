package counts

import "testing"

// TestWaitsBounded would catch a list that grows as long as the trace states no time. What does not fit has
// no time then, and what comes behind the next one has its own.
func TestWaitsBounded(t *testing.T) {
	var a, b Time
	k := Clock{}
	k.Reach(1000)
	for range maxShares {
		k.Ran(&a, 1)
		k.Ran(&b, 1)
	}
	if len(k.list) > maxShares {
		t.Errorf("%d shares wait, at most %d", len(k.list), maxShares)
	}
	if k.Reach(2000); a != 0 || b != 0 {
		t.Errorf("%v and %v ns are of a part of what ran", a.Nanoseconds(), b.Nanoseconds())
	}
	k.Ran(&a, 1)
	k.Ran(&a, 1)
	if k.Reach(2010); a.Nanoseconds() != 10 {
		t.Errorf("%v ns, want 10", a.Nanoseconds())
	}
}
