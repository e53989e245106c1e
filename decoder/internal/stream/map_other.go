//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package stream

import "os"

// mapped maps nothing here: the bytes are read into memory instead.
func mapped(*os.File, int64, int64) ([]byte, func(), bool) { return nil, nil, false }
