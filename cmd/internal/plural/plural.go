// Package plural renders numbers of things for people.
package plural

import "fmt"

// whole is what things are counted with.
type whole interface {
	~int | ~int64 | ~uint8 | ~uint32 | ~uint64
}

// Count renders how many things there are: "1 byte", "2 bytes". noun is the name of one.
func Count[N whole](n N, noun string) string {
	return fmt.Sprintf("%d %s", n, Word(n, noun, noun+"s"))
}

// Word returns the word for n things: one for a single thing, many for others.
func Word[N whole](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
