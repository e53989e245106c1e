package spread

import "testing"

// TestSpread would catch a quantile that some calls too few do not exceed, or one that is
// off by more than 0.1 %.
func TestSpread(t *testing.T) {
	var s Spread
	for i := range uint64(10_000) {
		s.Count(i * 1000)
	}
	for q, want := range map[uint64]uint64{50: 4_999_000, 99: 9_899_000} {
		if got := s.Quantile(q); got > want || got < want-want/1000 {
			t.Errorf("%d %%: %d, want %d", q, got, want)
		}
	}
	if s.Least != 0 || s.Most != 9_999_000 || s.N != 10_000 || s.Sum != 49_995_000_000 {
		t.Errorf("%d calls from %d to %d, together %d", s.N, s.Least, s.Most, s.Sum)
	}
}
