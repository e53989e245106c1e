package export

import (
	"io"
	"os"

	"github.com/ptdecode/ptdecode/cmd/internal/wholefile"
)

// output is a file that is being written. It appears under its name when it is whole.
type output struct {
	io.Writer
	path string
	f    *os.File // nil: standard output
}

// create begins the file at path; - is stdout.
func create(path string, stdout io.Writer) (*output, error) {
	if path == "-" {
		return &output{Writer: stdout, path: path}, nil
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		// A pipe or a device cannot be replaced.
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &output{f, path, f}, nil
	}
	f, err := wholefile.New(path, ".ptdecode-*")
	if err != nil {
		return nil, err
	}
	return &output{f, path, f}, nil
}

// finish ends the file. Where err is set, what was written is removed.
func (o *output) finish(err error) error {
	if o.f == nil {
		return err
	}
	if e := o.f.Close(); err == nil {
		err = e
	}
	if o.f.Name() == o.path {
		return err
	}
	if err == nil {
		err = os.Chmod(o.f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(o.f.Name(), o.path)
	}
	if err != nil {
		os.Remove(o.f.Name())
	}
	return err
}
