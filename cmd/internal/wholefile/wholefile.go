// Package wholefile gives files their names when they are whole.
package wholefile

import "os"

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
