package decoder_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// floorsHead begins the table of floors in docs/architecture.md.
const floorsHead = "| floor | packages | may import |\n|---|---|---|\n"

// TestFloorsTable would catch a table of floors in docs/architecture.md that lacks a
// package, or says another floor than the one that is enforced.
func TestFloorsTable(t *testing.T) {
	text, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), floorsHead)
	table, _, ended := strings.Cut(table, "\n\n")
	if want := floorsTable(rooms); !found || !ended || table+"\n" != want {
		t.Errorf("docs/architecture.md: the table of floors is not that of decoder/house_floors_test.go, which is\n%s%s", floorsHead, want)
	}
}

// floorsTable is the table of floors, without its head: the highest first, packages of equal
// rules in one row.
func floorsTable(rooms map[string]room) string {
	type rule struct {
		floor    int
		testOnly bool
		imports  string
	}
	rows := map[rule][]string{}
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		r := rooms[name]
		row := rule{floor: r.floor, testOnly: r.testOnly, imports: mayImport(&r)}
		rows[row] = append(rows[row], "`"+name+"`")
	}
	order := slices.SortedFunc(maps.Keys(rows), func(a, b rule) int {
		return cmp.Or(b.floor-a.floor, slices.Compare(rows[a], rows[b]))
	})
	var b strings.Builder
	for _, r := range order {
		names := strings.Join(rows[r], ", ")
		if r.testOnly {
			names = "for tests: " + names
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", r.floor, names, r.imports)
	}
	return b.String()
}

// mayImport says what a package may import of the project.
func mayImport(r *room) string {
	quoted := func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
	below := map[int]string{0: "nothing", 1: "floor 0"}[r.floor]
	switch {
	case r.only != nil:
		below = "of what lies below " + quoted(r.only)
	case below == "":
		below = fmt.Sprintf("floors 0-%d", r.floor-1)
	}
	if r.beside == nil {
		return below
	}
	return below + "; beside it " + quoted(r.beside)
}
