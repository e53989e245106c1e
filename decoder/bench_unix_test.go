//go:build unix

package decoder

import "syscall"

// cpuSeconds returns the CPU time that this process has used, which other
// load on the machine changes less than the time of day.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
