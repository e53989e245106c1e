package terminal

import (
	"bytes"
	"fmt"
	"testing"
)

// TestWrap would catch lines that are too wide though blanks are there, blanks in a line that
// are lost, and a line that is wrapped where it fits.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{
		{"one two three", 13, "one two three"},
		{"one two three", 0, "one two three"},
		{"one two three", 12, "one two\n    three"},
		{"  one  two  three", 11, "  one  two\n    three"},
		{"a_word_of_its_own_length and more", 8, "a_word_of_its_own_length\n    and\n    more"},
		{"±±± ±±±", 7, "±±± ±±±"},
		{"       one two", 14, "       one two"},
		{"       one two", 12, "       one\n      two"},
		{"     one two", 11, "     one\n     two"},
		{"ke  a_word_of_its_own_length", 10, "ke  a_word_of_its_own_length"},
		{"one two   ", 8, "one two   "},
		{"", 8, ""},
	} {
		if got := string(Wrap(nil, c.line, c.width, 4)); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.line, c.width, got, c.want)
		}
	}
}

// TestWrapped would catch lines that come in pieces and are wrapped as if each were a line.
func TestWrapped(t *testing.T) {
	var b bytes.Buffer
	w := Wrapped(&b, 8, 2)
	for _, s := range []string{"one t", "wo three\nfo", "ur\n", "five six seven\n\n"} {
		if n, err := fmt.Fprint(w, s); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got, want := b.String(), "one two\n  three\nfour\nfive six\n  seven\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
