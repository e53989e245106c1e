//go:build !unix

package decoder

// cpuSeconds is not known on this system.
func cpuSeconds() float64 { return 0 }
