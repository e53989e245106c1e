package tables

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// BenchmarkCalls measures rows of the table calls, from a recording.
func BenchmarkCalls(b *testing.B) {
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(b), "kernel-pokes-x86", "tracepoints", "perf.data")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var list []calls.Rows
	enough := errors.New("enough")
	tree := &calls.Tree{Session: s, Brief: true, OnRows: func(rows *calls.Rows) *calls.Rows { list = append(list, *rows); return rows }}
	err = s.Flow(b.Context(), decoder.Query{Merged: true, Bounds: true}, sinkOf(func(x *decoder.Batch) error {
		if len(list)*maxWaiting > 4*rowsPerGroup {
			return enough
		}
		return tree.Flow(x)
	}))
	if !errors.Is(err, enough) {
		b.Fatal(err)
	}
	c, _ := Choose("calls")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what packs counts, too
	p, err := NewParquet(os.DevNull, c)
	if err != nil {
		b.Fatal(err)
	}
	best := time.Hour
	for b.Loop() {
		begun := time.Now()
		for i := range list {
			if _, err := p.(callTaker).takesCalls(tree, &list[i]); err != nil {
				b.Fatal(err)
			}
		}
		best = min(best, time.Since(begun))
	}
	if err := p.Close(nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(best)/float64(len(list)*maxWaiting), "best-ns/row")
}

// sinkOf is a function as a decoder.Sink.
type sinkOf func(*decoder.Batch) error

// Flow takes b.
func (f sinkOf) Flow(b *decoder.Batch) error { return f(b) }
