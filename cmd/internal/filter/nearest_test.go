package filter

import (
	"slices"
	"testing"
)

// TestSuggested would catch a name that is refused and suggested at once.
func TestSuggested(t *testing.T) {
	if got, want := Nearest("vfs_read", slices.Values([]string{"vfs_read", "vfs_reads", "vfs_ready"})), `; is it "vfs_reads" or "vfs_ready"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestNearestOf would catch a list of three numbers that reads as if there were no more.
func TestNearestOf(t *testing.T) {
	made := map[int64]bool{17: true, 110: true, 111: true}
	if got, want := nearestOf(made, stretch{lo: 113, hi: 113}), "there is 17, 110, 111"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	made[112], made[114] = true, true
	if got, want := nearestOf(made, stretch{lo: 7, hi: 7}), "of 5 the nearest are 17, 110, 111"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
