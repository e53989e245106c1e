package event

import "testing"

// TestNames would catch a kind, detail or reason that was added without its
// name, whose neighbours would then have each other's.
func TestNames(t *testing.T) {
	for list, names := range map[string][]string{"kinds": kindNames[:], "details": detailNames[:], "reasons": reasonNames[:]} {
		seen := map[string]bool{}
		for i, n := range names {
			if n == "" && (i > 0 || list != "details") || seen[n] {
				t.Errorf("%s: number %d is called %q", list, i, n)
			}
			seen[n] = true
		}
	}
	// The last of each list, by name.
	if End.String() != "end" || Overflow.String() != "overflow" || DetailDataSync.String() != "data-sync" || NoPath.String() != "no-path" {
		t.Error(End, Overflow, DetailDataSync, NoPath)
	}
}
