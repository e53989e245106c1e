package terminal

import "io"

// Kept is a writer that keeps the first error of another, for who does not ask for it.
type Kept struct {
	io.Writer
	Err error
}

// Write writes to the other.
func (k *Kept) Write(b []byte) (int, error) {
	n, err := k.Writer.Write(b)
	if k.Err == nil {
		k.Err = err
	}
	return n, err
}
