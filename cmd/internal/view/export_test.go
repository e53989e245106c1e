package view

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExportedCalls would catch an exported page that counts other calls of a function than the
// server does for the same window, and than the command below them prints.
func TestExportedCalls(t *testing.T) {
	v := serverOf(t, manyPokes(t))
	at := v.rec.From + v.rec.length()/2
	from, until := at-aroundPoke, at+aroundPoke
	a, err := exporter{v, exportSteps}.gatherAnswers(t.Context(), from, until)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for addr, got := range a.Function {
		if n++; n > 20 {
			break
		}
		if d := cmp.Diff(ask[function](t, v, fmt.Sprintf("/api/function?addr=%s&from=%d&until=%d", addr, from, until)), *got); d != "" {
			t.Errorf("%s (-server +page):\n%s", got.Sym, d)
		}
	}
	if n < 5 {
		t.Errorf("%d functions", n)
	}
}
