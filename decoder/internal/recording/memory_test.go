package recording

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestLinesMemory would catch room that is asked for each line of an event stream:
// a record, or a buffer for a long line. What is asked for is the list of pokes,
// which grows in steps, and their bytes, twice: as read, and as held.
func TestLinesMemory(t *testing.T) {
	for _, c := range []struct {
		what string
		n    int    // pokes
		size int    // bytes of a side
		most uint64 // bytes that a poke may ask for
	}{
		{"short lines", 20_000, 5, 700},
		{"lines longer than the reader's buffer", 200, 65535, 4*65535 + 16<<10},
	} {
		var asked [2]uint64
		for i := range asked {
			n := c.n / testsize.Of(t, 2, 1) << i
			var in strings.Builder
			for k := range n {
				fmt.Fprintf(&in, "{\"type\":\"text_poke\",\"time\":%d,\"addr\":\"ffffffff81000000\",\"old\":\"%s\",\"new\":\"%s\"}\n",
					k, strings.Repeat("00", c.size), strings.Repeat("90", c.size))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, err := Lines(strings.NewReader(in.String()), "lines")
			runtime.ReadMemStats(&after)
			if err != nil || len(r.Pokes) != n {
				t.Fatalf("%s: %d pokes, want %d: %v", c.what, len(r.Pokes), n, err)
			}
			asked[i] = after.TotalAlloc - before.TotalAlloc
			t.Logf("%s: %d pokes ask for %d bytes each", c.what, n, asked[i]/uint64(n))
			if asked[i]/uint64(n) > c.most {
				t.Errorf("%s: %d pokes: %d bytes each, want %d at most", c.what, n, asked[i]/uint64(n), c.most)
			}
		}
		if float64(asked[1]) > 2.3*float64(asked[0]) {
			t.Errorf("%s: twice the pokes ask for %d bytes after %d, want 2.3 times as many at most", c.what, asked[1], asked[0])
		}
	}
}
