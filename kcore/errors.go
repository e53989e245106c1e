package kcore

import (
	"errors"
	"fmt"
)

// FormatError is trouble with a file: where, and which rule it breaks.
type FormatError struct {
	File string
	Off  int64  // bytes from the start of the file, after decompression
	What string // "<thing>: <what, with both numbers>"
	Err  error  // the cause, may be nil
}

// Error renders `<file>+0x<off>: <thing>: <what>`.
func (e *FormatError) Error() string {
	s := fmt.Sprintf("%s+0x%x: %s", e.File, e.Off, e.What)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// ErrRestricted is in the chain of the error for symbols whose addresses the
// kernel did not show.
var ErrRestricted = errors.New("the kernel hid them (kernel.kptr_restrict): record as root, or with sysctl kernel.kptr_restrict=0")

// ErrTooLarge is in the chain of the error for a compressed file that unpacks
// to more than the limit.
var ErrTooLarge = errors.New("more than the limit")
