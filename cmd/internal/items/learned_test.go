package items

import (
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
)

// TestWasLearned would catch code that is said to have been learned though it is as the images have it, and one behind such
// code that is not.
func TestWasLearned(t *testing.T) {
	list := []kcore.Learned{
		{Addr: 0x1000, Code: []byte{1, 2}, Had: []byte{1, 2}, Others: [][]byte{{3, 4}}, Either: true},
		{Addr: 0x1002, Code: []byte{5}, Had: []byte{6}},
	}
	for _, x := range []struct {
		addr, n uint64
		want    bool
	}{{0x1000, 2, false}, {0x1000, 3, true}, {0x1002, 1, true}, {0x1003, 4, false}, {0xff0, 4, false}} {
		if got := WasLearned(list, x.addr, x.n); got != x.want {
			t.Errorf("%d bytes at %#x: %v, want %v", x.n, x.addr, got, x.want)
		}
	}
}
