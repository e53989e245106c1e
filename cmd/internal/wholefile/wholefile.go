// Package wholefile gives files their names when they are whole.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// New makes a file that shall have the name when it is whole: beside that, under another
// one, with what pattern says (os.CreateTemp).
func New(name, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(name), pattern)
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		p.Path = name // the other name says nothing to who asked
	}
	return f, err
}

// Keep ends f, which was written under another name, and gives it its name. Where err
// says that it is not whole, or it cannot be ended, it is removed.
func Keep(f *os.File, name string, err error) error {
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
