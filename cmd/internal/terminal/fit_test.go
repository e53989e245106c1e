package terminal

import (
	"strings"
	"testing"
)

// TestFit would catch names that are too long, and such as lose more than they must.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		want string
	}{
		{"schedule", 8, "schedule"},
		{"schedule", 0, "schedule"},
		{"a_name_of_some_length", 20, "a_name_of_some_leng…"},
		{"a_name_of_some_length", 3, "a_name_of…"},
		{"malloc (/usr/lib/libc.so.6)", 27, "malloc (/usr/lib/libc.so.6)"},
		{"malloc (/usr/lib/libc.so.6)", 26, "malloc (libc.so.6)"},
		{"malloc (/usr/lib/libc.so.6)", 17, "malloc (libc.so.…"},
		{"schedule_timeout+0x1c", 16, "schedule_t…+0x1c"},
		{"schedule+0x1c (/usr/bin/x)", 14, "schedule+0x1c"},
		{"±±±±±±±±±±±±", 12, "±±±±±±±±±±±±"},
	} {
		if got := Fit(c.name, c.n); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.name, c.n, got, c.want)
		}
	}
	long := strings.Repeat("\x00", 41)
	if got := Quote(long[:40]) + Quote(long); len(got) != 2*(40*4+2)+3 || !strings.HasSuffix(got, `\x00"...`) {
		t.Errorf("quoted %s", got)
	}
	if got := Rest(80, "±2.0us "); got != 73 {
		t.Errorf("%d columns are left, want 73", got)
	}
	if got := Rest(5, "count total"); got != 1 {
		t.Errorf("%d columns are left, want 1", got)
	}
}
