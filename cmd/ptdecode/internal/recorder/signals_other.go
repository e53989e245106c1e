//go:build !unix

package recorder

import (
	"errors"
	"os"
)

// handedOn are the signals that perf gets where this process does.
func handedOn() []os.Signal { return []os.Signal{os.Interrupt} }

// ends reports whether a signal tells perf to end.
func ends(os.Signal) bool { return true }

// makeFIFO makes a FIFO, where the system has them.
func makeFIFO(string) error { return errors.ErrUnsupported }
