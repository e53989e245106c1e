package addrfilter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParse would catch a filter read otherwise than perf wrote it.
func TestParse(t *testing.T) {
	for in, want := range map[string][]Filter{
		"":                                      nil,
		"filter 0xffffffff81000000/0x100":       {{Lo: 0xffffffff81000000, Hi: 0xffffffff810000ff}},
		"stop 0x10/16@/bin/a,filter 010/0x1@/b": {{Lo: 16, Hi: 31, Stop: true, File: "/bin/a"}, {Lo: 8, Hi: 8, File: "/b"}},
		"filter 0x1/0x2 , tracestop 0xfffffffffffffff0/0x10":      {{Lo: 1, Hi: 2}, {Lo: 0xfffffffffffffff0, Hi: 0xffffffffffffffff, Stop: true}},
		"filter 0x1/0x2@/x/y filter 0x1/0x2@/x/z, stop 0x5/0x1@q": {{Lo: 1, Hi: 2, File: "/x/y"}, {Lo: 1, Hi: 2, File: "/x/z"}, {Lo: 5, Hi: 5, Stop: true, File: "q"}},
	} {
		got, err := Parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
	for _, in := range []string{"filter", "start 0x1000", "stop 0x1000", "filter main", "filter 0x1/", "filter 0x1/0", "filter 0xffffffffffffffff/2", "on 1/2"} {
		if got, err := Parse(in); err == nil {
			t.Errorf("%q: read as %v, want an error", in, got)
		}
	}
}
