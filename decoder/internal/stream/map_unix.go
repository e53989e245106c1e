//go:build linux || darwin || freebsd || netbsd || openbsd

package stream

import (
	"os"
	"syscall"
)

// mapped maps n bytes of f from off on, read-only. off is a multiple of a page.
func mapped(f *os.File, off, n int64) (b []byte, unmap func(), ok bool) {
	if int64(int(n)) != n {
		return nil, nil, false
	}
	b, err := syscall.Mmap(int(f.Fd()), off, int(n), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, false
	}
	return b, func() { _ = syscall.Munmap(b) }, true
}
