package terminal

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// leastName is to how many columns a name is shortened at most.
const leastName = 10

// Fit shortens a name so that it takes n columns: of a path in brackets at its end only the last
// part stays. What is still too long is cut, before an offset of the form +0x12. A name keeps 10 columns. With n 0 it stays as it is.
func Fit(name string, n int) string {
	if n == 0 || utf8.RuneCountInString(name) <= n {
		return name
	}
	if at := strings.LastIndex(name, " (/"); at >= 0 && strings.HasSuffix(name, ")") {
		name = name[:at] + " (" + path.Base(name[at+2:len(name)-1]) + ")"
	}
	n = max(n, leastName)
	if utf8.RuneCountInString(name) <= n {
		return name
	}
	offset := ""
	if at := strings.LastIndex(name, "+0x"); at > 0 {
		offset, _, _ = strings.Cut(name[at:], " ")
		name = name[:at]
	}
	r := []rune(name)
	if keep := n - len(offset); len(r) > keep {
		return string(r[:max(keep, 2)-1]) + "…" + offset
	}
	return name + offset
}

// Quote renders what a file holds for a message, cut where it is long.
func Quote(text string) string {
	const most = 40 // bytes
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}

// Rest returns how many of width columns are left behind what stands before them, for Fit.
// With width 0 any number is.
func Rest(width int, before string) int {
	if width == 0 {
		return 0
	}
	return max(width-utf8.RuneCountInString(before), 1)
}
