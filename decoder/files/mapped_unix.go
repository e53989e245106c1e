//go:build linux || darwin || freebsd || netbsd || openbsd

package files

import (
	"os"
	"syscall"
)

func mapFile(f *os.File, size int) ([]byte, bool) {
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE)
	return b, err == nil
}

func unmap(b []byte) error { return syscall.Munmap(b) }
