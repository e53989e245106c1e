package srclines

import (
	"strings"
	"testing"
)

// TestManyNames would catch names of a line table that take memory without bound: many entries may share one
// long name. It would also catch a table of usual size that is refused.
func TestManyNames(t *testing.T) {
	long := named{name: strings.Repeat("x", maxName)}
	few, many := make([]named, 100), make([]named, maxNames/maxName+1)
	for _, list := range [][]named{few, many} {
		for i := range list {
			list[i] = long
		}
	}
	if n := len(joined(nil, few, "/d")); n != len(few) {
		t.Errorf("%d names of %d", n, len(few))
	}
	if joined(nil, many, "/d") != nil {
		t.Errorf("%d names of %d bytes are taken", len(many), maxName)
	}
}
