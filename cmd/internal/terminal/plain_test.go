package terminal

import "testing"

// TestPlain would catch a recording that speaks to the terminal.
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"kworker/0:1": "kworker/0:1", "a\x1b[2Jb": "a?[2Jb", "a\nb": "a?b", "\xff\x80": "??", "grün": "grün", "\x7f": "?",
	} {
		if got := string(AppendPlain(nil, in)); got != want || Plain(in) != want {
			t.Errorf("AppendPlain(%q) = %q, Plain %q, want %q", in, got, Plain(in), want)
		}
	}
	for c := range 256 {
		for at := range 8 {
			s := []byte("abcdefgh")
			s[at] = byte(c)
			if got, want := printable(string(s)), c >= ' ' && c <= '~'; got != want && (got || c >= ' ') {
				t.Errorf("printable(%q) = %v", s, got)
			}
		}
	}
}
