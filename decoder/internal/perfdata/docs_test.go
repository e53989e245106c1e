package perfdata

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestDocs catches a record type that the format's page does not list, or
// lists under another number or name.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../../docs/formats/perf-data.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[Type]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \| ([A-Z_0-9]+) \| `).FindAllSubmatch(b, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		if Type(n).String() != string(m[2]) {
			t.Errorf("type %d is %s, the page has %s", n, Type(n), m[2])
		}
		listed[Type(n)] = true
	}
	for n, s := range typeNames {
		if s != "" && !listed[Type(n)] {
			t.Errorf("type %d %s is not on the page", n, s)
		}
	}
}
