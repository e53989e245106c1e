package demo

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestDraw would catch a mark in the wrong place, one without its label, labels that lie on
// each other, and a line of more than 80 columns.
func TestDraw(t *testing.T) {
	const line = `{"time":1345,"cpu":0,"old_disasm":"nopl (%rax)","new_disasm":"jmp 0x10","cpus":[
{"cpu":1,"last_old":{"time":1000,"until":1050,"verdict":"certain"},"first_trap":{"time":1100,"verdict":"exception"},"first_new":{"time":1690,"verdict":"certain"}},
{"cpu":2,"first_new":{"time":1345,"verdict":"trace"}}]}`
	var b strings.Builder
	if err := draw(&b, line); err != nil {
		t.Fatal(err)
	}
	dots := func(n int) string { return strings.Repeat("·", n) }
	gap := func(n int) string { return strings.Repeat(" ", n) }
	want := "# One column is 10 ns. A bar is as long as the moment is uncertain.\n" +
		"# cpu0    " + dots(34) + "◆" + dots(35) + "\n" +
		"#         " + gap(34) + "└ the record: nopl → jmp\n" +
		"# cpu1    ■■■■■■" + dots(4) + "▲" + dots(58) + "□\n" +
		"#         └ old: nopl, certain" + gap(31) + "new: jmp, certain ┘\n" +
		"#         " + gap(10) + "└ trap\n" +
		"# cpu2    " + dots(34) + "□" + dots(35) + "\n" +
		"#         " + gap(34) + "└ new: jmp, trace\n#\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, b.String())
	}
	for l := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
	if err := draw(&b, "no JSON"); err == nil {
		t.Error("no error of a line that is no JSON")
	}
}
