package image

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// TextArg is a source of text as the command line names it.
type TextArg struct {
	Path string
	Addr uint64 // see Options.Addr
}

// ParseTextArg reads FILE[@ADDR]; ADDR is hexadecimal, with or without 0x. What
// follows the last @ is an address only if it reads as one, so a file's name
// may hold an @.
func ParseTextArg(s string) (TextArg, error) {
	if s == "" {
		return TextArg{}, errors.New("text source: empty; want FILE or FILE@ADDR")
	}
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return TextArg{Path: s}, nil
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(s[i+1:], "0x"), "0X")
	addr, err := strconv.ParseUint(digits, 16, 64)
	switch {
	case err == nil && i == 0:
		return TextArg{}, fmt.Errorf("text source %q: no file before the @", s)
	case err == nil:
		return TextArg{Path: s[:i], Addr: addr}, nil
	case errors.Is(err, strconv.ErrRange) || digits == "":
		return TextArg{}, fmt.Errorf("text source %q: the address is not 1 to 16 hexadecimal digits", s)
	}
	return TextArg{Path: s}, nil
}
