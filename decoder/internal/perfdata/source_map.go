//go:build linux || darwin || freebsd || netbsd || openbsd

package perfdata

import (
	"fmt"
	"os"
	"syscall"
)

// mapBytes maps the first size bytes of f, read-only.
func mapBytes(f *os.File, size int64) ([]byte, func() error, error) {
	if int64(int(size)) != size {
		return nil, nil, fmt.Errorf("%d bytes do not fit this system's address space", size)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return b, func() error { return syscall.Munmap(b) }, nil
}
