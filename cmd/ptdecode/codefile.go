package main

import (
	"errors"
	"fmt"
	"github.com/ptdecode/ptdecode/decoder"
	"strconv"
	"strings"
)

// parseCodeFile reads FILE[@ADDR]; ADDR is hexadecimal, with or without 0x. What
// follows the last @ is an address only if it reads as one, so a file's name
// may hold an @.
func parseCodeFile(s string) (decoder.CodeFile, error) {
	if s == "" {
		return decoder.CodeFile{}, errors.New("text source: empty; want FILE or FILE@ADDR")
	}
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return decoder.CodeFile{Path: s}, nil
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(s[i+1:], "0x"), "0X")
	addr, err := strconv.ParseUint(digits, 16, 64)
	switch {
	case err == nil && i == 0:
		return decoder.CodeFile{}, fmt.Errorf("text source %q: no file before the @", s)
	case err == nil:
		return decoder.CodeFile{Path: s[:i], Addr: addr}, nil
	case errors.Is(err, strconv.ErrRange) || digits == "":
		return decoder.CodeFile{}, fmt.Errorf("text source %q: the address is not 1 to 16 hexadecimal digits", s)
	}
	return decoder.CodeFile{Path: s}, nil
}
