package recording

import (
	"strings"
	"testing"
)

// TestWithModules would catch a module that came meanwhile and has no name, one that is
// named twice, and names of slots, which only records time.
func TestWithModules(t *testing.T) {
	const early = "ffffffff81000000 T _stext\nffffffffc0000000 t a\t[stays]\nffffffffc0010000 t b\t[goes]\nffffffffc0020000 t c\t[moves]"
	const late = "ffffffff81000000 T _stext\nffffffffc0000000 t a\t[stays]\nffffffffc0000010 t a2\t[stays]\nffffffffc0030000 t c\t[moves]\n" +
		"ffffffffc0040000 t d\t[comes]\nffffffffc0050000 t bpf_prog_1\t[bpf]\nffffffffc0060000 t slot\t[__builtin__kprobes]\n0000000000000000 t e\t[hidden]\n"
	got := withModules(early, late)
	if want := early + "\nffffffffc0030000 t c\t[moves]\nffffffffc0040000 t d\t[comes]\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := withModules(early, strings.ReplaceAll(early, "\n", "\n\n")); got != early+"\n" {
		t.Errorf("nothing came: %s", got)
	}
}
