package main

import (
	"os"
	"syscall"
)

// peakOf returns the most memory that an ended process had, MiB. It is at least what this program had when it started
// that process, so this program holds no input.
func peakOf(s *os.ProcessState) float64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return float64(u.Maxrss) / 1024 // of KiB
	}
	return 0
}
