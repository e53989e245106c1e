package filter

import (
	"math"
	"testing"
)

// TestHighestAddress would catch a filter that lets everything pass, or nothing,
// where its addresses or those of a change reach the highest address there is.
func TestHighestAddress(t *testing.T) {
	const top = math.MaxUint64
	for _, x := range []struct {
		spec    string
		addr, n uint64
		want    bool
	}{
		{"ffffffffffffffff", 0xffffffffa3800490, 1, false},
		{"ffffffffffffffff", 0, 1, false},
		{"ffffffffffffffff", top, 1, true},
		{"ffffffffffffffff", top - 4, 5, true},
		{"ffffffffffffffff", top - 4, 4, false},
		{"fffffffffffffffe", top, 1, false},
		{"fffffffffffffff0-ffffffffffffffff", top - 4, 5, true},
		{"fffffffffffffff0-ffffffffffffffff", top, 1, false},
		{"fffffffffffffff0-ffffffffffffffff", top - 16, 1, false},
		{"fffffffffffffff0-ffffffffffffffff", top - 16, 2, true},
		{"0-10", 0, 1, true},
		{"0-10", 0xf, 1, true},
		{"0-10", 0x10, 1, false},
	} {
		l, err := addresses([]string{x.spec})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.touches(x.addr, x.n); got != x.want {
			t.Errorf("--addr %s: %d bytes at %#x pass: %t", x.spec, x.n, x.addr, got)
		}
	}
}
