package testsize

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// heard is a test that keeps what it is told.
type heard struct {
	testing.TB
	log     []string
	skipped string
}

func (h *heard) Helper()          {}
func (h *heard) Log(args ...any)  { h.log = append(h.log, fmt.Sprint(args...)) }
func (h *heard) Skip(args ...any) { h.skipped = fmt.Sprint(args...) }

// TestForms would catch a small form that nobody hears of, and a full one that
// is not what the environment asks for.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		env  string
		want int
		logs int
		all  int
	}{{"", 3, 1, 3}, {"1", 300, 0, 300}, {"all", 300, 0, 3000}} {
		t.Setenv("PTDECODE_FULL", c.env)
		h := &heard{TB: t}
		if n := Of(h, 3, 300); n != c.want {
			t.Errorf("PTDECODE_FULL=%q: %d, want %d", c.env, n, c.want)
		}
		if n := Of(&heard{TB: t}, 3, 300, 3000); n != c.all {
			t.Errorf("PTDECODE_FULL=%q: %d of 3000, want %d", c.env, n, c.all)
		}
		if got := Some(&heard{TB: t}, []int{0, 1, 2, 3, 4, 5, 6}, 3); c.env == "" && !slices.Equal(got, []int{0, 2, 4}) || c.env != "" && len(got) != 7 {
			t.Errorf("PTDECODE_FULL=%q: of 7 it takes %v", c.env, got)
		}
		if len(h.log) != c.logs || c.logs > 0 && !strings.Contains(h.log[0], "PTDECODE_FULL") {
			t.Errorf("PTDECODE_FULL=%q: the log says %q", c.env, h.log)
		}
	}
}

// TestRecordings would catch a test that runs on without recordings, and a skip
// that does not name the variable.
func TestRecordings(t *testing.T) {
	t.Setenv("PTDECODE_DATA", "/somewhere")
	h := &heard{TB: t}
	if dir := Recordings(h); dir != "/somewhere" || h.skipped != "" {
		t.Errorf("folder %q, skipped for %q", dir, h.skipped)
	}
	t.Setenv("PTDECODE_DATA", "")
	Recordings(h)
	if !strings.Contains(h.skipped, "PTDECODE_DATA") {
		t.Errorf("skipped for %q", h.skipped)
	}
}
