// Package heap says how far the heap may grow before the runtime sweeps it, and reads
// how much memory was asked for.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The heap may grow by gcPercent before it is swept, which is more than Go's default.
// What stays is a few ten MiB of symbols and blocks. Decoding a recording of
// 26 million instructions took 0.35 s of CPU and 180 MiB, against 0.48 s and
// 159 MiB with Go's default. Of a recording with millions of changes the same
// percent would be gigabytes: beyond garbage bytes, only leastPercent may be added.
//
// Before the first sweep nothing is known of what stays, and of a short run it need not be:
// firstPercent of the runtime's 4 MiB are 96 MiB. Sweeping that recording twice took a tenth
// of its CPU time, and gave back 7 MiB.
const (
	firstPercent = 2400
	gcPercent    = 400
	garbage      = 128 << 20
	leastPercent = 50
)

// percentOf is by how much a heap may grow of which live bytes stay, percent.
func percentOf(live uint64) int {
	return int(min(max(garbage*100/max(live, 1), leastPercent), gcPercent))
}

// SweepInTime sets how far the heap may grow, and sets it anew after each sweep: the
// runtime calls a finalizer then.
func SweepInTime() {
	debug.SetGCPercent(firstPercent)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	type sweep struct{ _ [16]byte } // large enough to be an object of its own
	percent := firstPercent
	var swept func(*sweep)
	swept = func(x *sweep) {
		metrics.Read(live)
		if p := percentOf(live[0].Value.Uint64()); p != percent {
			percent = p
			debug.SetGCPercent(p)
		}
		runtime.SetFinalizer(x, swept)
	}
	runtime.SetFinalizer(&sweep{}, swept)
}
