package perfdata

import "fmt"

// FormatError is trouble with a file: what was expected at which place and
// what is there. It prints as `<file>+0x<off>: <what>`, What itself having the
// form `<thing>: <both numbers>[; what to do]`.
type FormatError struct {
	File string // as the caller named it, or the file's path inside a directory
	Off  int64  // offset in File, bytes
	What string
	Err  error // the cause below, if any
}

// Error renders the trouble in the grammar of errors.
func (e *FormatError) Error() string {
	s := fmt.Sprintf("%s+0x%x: %s", e.File, e.Off, e.What)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }
