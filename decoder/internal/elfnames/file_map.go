//go:build linux || darwin || freebsd || netbsd || openbsd

package elfnames

import (
	"os"
	"syscall"
)

// mapped is a file's bytes in memory, read when they are first touched. They
// may be written to; the file stays as it is.
type mapped []byte

// mapFile maps size bytes of f; ok is false where that cannot be.
func mapFile(f *os.File, size int64) (b mapped, ok bool) {
	if size <= 0 || int64(int(size)) != size {
		return nil, false
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	return b, err == nil
}

// Close gives the memory back.
func (b mapped) Close() error { return syscall.Munmap(b) }
