package recording

import "fmt"

// CallError is a Config that does not fit what it names: not the recording is
// at fault, but what was asked for.
type CallError struct {
	What string
}

// Error returns what does not fit.
func (e *CallError) Error() string { return e.What }

func callf(format string, args ...any) error { return &CallError{fmt.Sprintf(format, args...)} }
