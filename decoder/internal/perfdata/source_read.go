//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package perfdata

import (
	"errors"
	"os"
)

// mapBytes maps nothing here: the file is read into memory instead.
func mapBytes(*os.File, int64) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
