package export

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestSampleTimes would catch a sample long before the trace, or before the last one of its
// thread. Readers take the time between two samples for what the first one took.
func TestSampleTimes(t *testing.T) {
	data := testsize.Recordings(t)
	names := []string{"kprobes", "ftrace", "tracepoints-coarse"}
	for _, name := range testsize.Some(t, names, 1) {
		c := decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86", name, "perf.data")}
		s, err := decoder.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		begins := ^uint64(0)
		for _, st := range s.Streams() {
			if g, ok := st.After(0); ok {
				begins = min(begins, g.Time.Lo)
			}
		}
		out := filepath.Join(t.TempDir(), "stacks")
		runVerb(t, New(testHost(c, io.Discard)), "--with-ambiguous", "-o", "perf-script-stacks:"+out)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		last, n := map[string]uint64{}, 0
		for line := range strings.Lines(string(text)) {
			who, rest, ok := strings.Cut(line, " [")
			if !ok || line[0] == '\t' {
				continue
			}
			f := strings.Fields(rest) // CPU], time, period, event
			at := uint64(0)
			for _, d := range strings.TrimSuffix(f[1], ":") {
				if d != '.' {
					at = at*10 + uint64(d-'0')
				}
			}
			if at < max(begins, last[who]) {
				t.Fatalf("%s: a sample of %s is at %d, the one before at %d, the trace begins at %d", name, who, at, last[who], begins)
			}
			last[who] = at
			n++
		}
		if n < 1000 || begins == 0 {
			t.Errorf("%s: %d samples, from %d on", name, n, begins)
		}
	}
}
