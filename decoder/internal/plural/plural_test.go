package plural

import "testing"

// TestCount would catch "1 bytes", and "0 byte".
func TestCount(t *testing.T) {
	for n, want := range []string{"0 bytes", "1 byte", "2 bytes"} {
		if got := Count(n, "byte"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Word(uint64(1), "is", "are") + Word(int64(0), "is", "are"); got != "isare" {
		t.Error(got)
	}
}
