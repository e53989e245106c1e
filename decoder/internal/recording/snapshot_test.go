package recording

import "testing"

// TestTicks would catch timestamps of a snapshot that become the wrong
// nanoseconds, at any frequency that its files may state.
func TestTicks(t *testing.T) {
	for _, x := range []struct{ freq, ticks, want uint64 }{
		{0, 12345, 12345}, {1e9, 12345, 12345}, {25e6, 1 << 40, 40 << 40}, {500e6, 1000, 2000}, {1, 7, 7e9},
		{24e6, 24e6 * 3600, 3600e9}, {3e9, 3e12, 1e12}, {1 << 62, 1 << 62, 1e9}, {1<<64 - 1, 1 << 63, 5e8},
	} {
		c := ticksOf(x.freq)
		got, slack := c.Hi(x.ticks), 1+x.want>>30
		if got+slack < x.want || got > x.want+slack {
			t.Errorf("%d ticks of %d Hz: %d ns, want %d", x.ticks, x.freq, got, x.want)
		}
	}
}
