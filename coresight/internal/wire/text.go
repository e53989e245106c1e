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
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		raw, err := parse(line)
		if err != nil {
			return dst, fmt.Errorf("line %d: %w", n, err)
		}
		dst = append(dst, raw...)
	}
	return dst, nil
}
