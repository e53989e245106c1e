package wire

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// ParseBytes reads the bytes that words write in hex, one at least.
func ParseBytes(words []string) ([]byte, error) {
	raw, err := hex.DecodeString(strings.Join(words, ""))
	if err != nil || len(raw) == 0 {
		return nil, fmt.Errorf("%q: need bytes of two hex digits", strings.Join(words, " "))
	}
	return raw, nil
}

// Assemble appends what parse makes of each line of text. What follows a # and
// empty lines are passed over.
func Assemble(dst []byte, text string, parse func(line string) ([]byte, error)) ([]byte, error) {
	err := Lines(text, func(line string) error {
		raw, err := parse(line)
		dst = append(dst, raw...)
		return err
	})
	return dst, err
}

// Lines calls take for each line of text, up to the first error, which it
// returns with the line's number. What follows a # and empty lines are passed
// over.
func Lines(text string, take func(line string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := take(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}
