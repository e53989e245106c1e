package tables

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// BenchmarkCalls measures rows of the table calls, from a recording: as calls, and as any other row.
func BenchmarkCalls(b *testing.B) {
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(b), "kernel-pokes-x86", "tracepoints", "perf.data")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var list []calls.Call
	enough := errors.New("enough")
	tree := &calls.Tree{Session: s, OnEnd: func(c *calls.Call) { list = append(list, *c) }}
	err = s.Flow(b.Context(), decoder.Query{Merged: true, Bounds: true}, sinkOf(func(x *decoder.Batch) error {
		if len(list) > 4*rowsPerGroup {
			return enough
		}
		return tree.Flow(x)
	}))
	if !errors.Is(err, enough) {
		b.Fatal(err)
	}
	c, _ := Choose("calls")
	for name, as := range map[string]bool{"rows": false, "calls": true} {
		b.Run(name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what packs counts, too
			p, err := NewParquet(os.DevNull, c)
			if err != nil {
				b.Fatal(err)
			}
			k := New(s, &host.Filter{}, p, Options{Choice: c})
			if !as {
				k.calls = nil
			}
			best := time.Hour
			for b.Loop() {
				begun := time.Now()
				for i := range list {
					k.call(&list[i])
				}
				best = min(best, time.Since(begun))
			}
			if err := p.Close(k.err); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(best)/float64(len(list)), "best-ns/row")
		})
	}
}

// sinkOf is a function as a decoder.Sink.
type sinkOf func(*decoder.Batch) error

// Flow takes b.
func (f sinkOf) Flow(b *decoder.Batch) error { return f(b) }
