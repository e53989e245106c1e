// Package badfile is the error of all that reads files: which file, where in it,
// and what is wrong there.
package badfile

import "fmt"

// Error is trouble with a file. Whoever opens a recording, an image or a
// snapshot finds it in the chain of the error with errors.As.
type Error struct {
	File string // as the caller named it, or the file's path inside a directory
	Off  int64  // where the trouble is, bytes from the start, after decompression
	What string // "<thing>: <what, with both numbers>[; what to do]"
	Err  error  // the cause, may be nil
}

// Error renders `<file>+0x<off>: <thing>: <what>`.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s+0x%x: %s", e.File, e.Off, e.What)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
