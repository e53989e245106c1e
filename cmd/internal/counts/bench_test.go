package counts

import (
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/recorded"
	"github.com/ptdecode/ptdecode/decoder"
)

// BenchmarkCount decodes and counts a recording.
func BenchmarkCount(b *testing.B) {
	for s, _ := recorded.Pokes(b, "tracepoints"); b.Loop(); {
		c := New(s, &host.Filter{}, Options{})
		if err := s.Flow(b.Context(), decoder.Query{}, c); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(c.Instructions.N), "insns")
		n := 0
		for _, x := range c.All(0).nodes {
			n += int(x.n)
		}
		b.ReportMetric(float64(n), "ranges")
		b.ReportMetric(float64(len(c.All(0).nodes)), "nodes")
		b.ReportMetric(float64(len(c.All(0).stray)), "stray")
	}
}
