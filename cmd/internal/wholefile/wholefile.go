// Package wholefile writes files that never stand half written under their own name. A file
// is made beside its place under another name, and renamed when it is whole.
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

// Keep closes f, which New made, and gives it its name. Where err, which says how writing
// ended, is not nil, or f cannot be closed or renamed, f is removed. Keep returns the first
// error.
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
