package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns s, a name or a line, as text can have it. What would not print, control a
// terminal or end a line becomes '?'.
func Plain(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf-1 {
			return string(appendRunes(make([]byte, 0, len(s)), s))
		}
	}
	return s
}

// OneLine returns a message in which none of a call's arguments begins a line of its own.
func OneLine(s string, args []string) string {
	for _, a := range args {
		for _, part := range strings.FieldsFunc(a, func(r rune) bool { return r == '=' || r == ',' }) {
			if strings.Contains(part, "\n") && strings.TrimSpace(part) != "" {
				s = strings.ReplaceAll(s, part, Plain(part))
			}
		}
	}
	return s
}

// AppendPlain appends what Plain returns of s.
func AppendPlain(dst []byte, s string) []byte {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if !printable(s[i : i+8]) {
			return appendRunes(dst, s)
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf-1 {
			return appendRunes(dst, s)
		}
	}
	return append(dst, s...)
}

// printable reports whether each of the eight bytes of s is a character that
// prints, ' ' to '~': neither subtracting ' ' nor adding 1 may reach the top bit.
func printable(s string) bool {
	const each = 0x0101010101010101
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (v|(v-' '*each)|(v+each))&(0x80*each) == 0
}

// appendRunes appends the characters of s that print, and '?' for each other.
func appendRunes(dst []byte, s string) []byte {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '?'
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
