package terminal

import (
	"fmt"
	"time"
)

// Progress renders how far work has come, in bytes, and how long it may still take. took is
// since it began.
func Progress(done, total int64, took time.Duration) string {
	s := fmt.Sprintf("%3d%% of %.1f MiB", done*100/total, float64(total)/(1<<20))
	if done <= 0 || done >= total || took < time.Second {
		return s
	}
	left := time.Duration(float64(took) * float64(total-done) / float64(done))
	return s + ", " + short(left) + " left"
}

// short renders a duration in one or two units.
func short(d time.Duration) string {
	switch s := int64((d + time.Second/2) / time.Second); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
	}
}
