package perfetto

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestCounted would catch instructions or gaps that the sink counts twice or not at all, or with the wrong kind.
func TestCounted(t *testing.T) {
	for _, name := range []string{"kernel-pokes-x86/tracepoints-coarse/perf.data", "kernel-pokes-arm64/repro/snapshot"} {
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), name)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var got Counts
		k := New(s, io.Discard, Options{Counted: func(n Counts) { got = n }})
		c := counts.New(s, &host.Filter{}, counts.Options{Bare: true})
		err = s.Flow(t.Context(), decoder.Query{Merged: true, Bounds: true}, sinkOf(func(b *decoder.Batch) error {
			if err := c.Flow(b); err != nil {
				return err
			}
			return k.Flow(b)
		}))
		if err == nil {
			err = k.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := (Counts{c.Instructions.N, c.Instructions.Ambiguous, c.Gaps}); got != want || want.Ambiguous == 0 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// sinkOf is a function as a decoder.Sink.
type sinkOf func(*decoder.Batch) error

// Flow takes b.
func (f sinkOf) Flow(b *decoder.Batch) error { return f(b) }
