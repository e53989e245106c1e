//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package elfnames

import "os"

// mapped is a file's bytes in memory; files are read here.
type mapped []byte

// mapFile maps nothing.
func mapFile(*os.File, int64) (b mapped, ok bool) { return nil, false }

// Close gives nothing back.
func (b mapped) Close() error { return nil }
