package recording

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
)

// TestFilterText would catch a filter of a call that is shown as another.
func TestFilterText(t *testing.T) {
	for in, want := range map[string]string{
		"filter 0xffffffff81000000/0x100":     "filter 0xffffffff81000000/0x100",
		"stop 0x10/16@/bin/a,filter 010/1@/b": "tracestop 0x10/0x10@/bin/a, filter 0x8/0x1@/b",
	} {
		list, err := addrfilter.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		f := newFacts(&Config{})
		f.takeFilters(&Config{Filters: list})
		if f.Meta.Filter != want {
			t.Errorf("%q is shown as %q, want %q", in, f.Meta.Filter, want)
		}
	}
}
