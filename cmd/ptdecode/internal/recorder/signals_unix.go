//go:build unix

package recorder

import (
	"os"
	"syscall"
)

// handedOn are the signals that perf gets where this process does: to end, and SIGUSR2
// for a snapshot of the trace (perf record -S).
func handedOn() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}
}

// ends reports whether a signal tells perf to end.
func ends(s os.Signal) bool { return s != syscall.SIGUSR1 && s != syscall.SIGUSR2 }

// makeFIFO makes a FIFO.
func makeFIFO(name string) error { return syscall.Mkfifo(name, 0o600) }
