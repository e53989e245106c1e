package tables

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestToldCrossings would catch an execution of a changed site that a sink does not tell of while it counts.
// The crossings would not be those of who goes over all ranges.
func TestToldCrossings(t *testing.T) {
	for _, name := range testsize.Some(t, []string{"tracepoints-coarse", "kprobes", "ftrace", "tracepoints"}, 2) {
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "perf.data")})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		only, _ := Choose("blocks,crossings")
		enc, err := NewParquet(os.DevNull, only)
		if err != nil {
			t.Fatal(err)
		}
		all, told := &report.Crossings{Session: s}, &report.Crossings{Session: s}
		k := New(s, &host.Filter{}, enc, Options{Choice: only, Each: told.Ran})
		if !k.TellsEach() {
			t.Fatal("the sink tells of no ranges")
		}
		err = s.Flow(t.Context(), decoder.Query{Merged: true, Bounds: true}, sinkOf(func(b *decoder.Batch) error {
			told.Between(b)
			if err := k.Flow(b); err != nil {
				return err
			}
			return all.Flow(b)
		}))
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		crossed := 0
		for p := range s.Pokes() {
			got, want := told.By(p.Index), all.By(p.Index)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: poke %d:\n got %+v\nwant %+v", name, p.Index, got, want)
			}
			crossed += len(want)
		}
		if crossed < 3 || told.Gaps != all.Gaps || !reflect.DeepEqual(told.Shown, all.Shown) {
			t.Errorf("%s: %d crossings; %d gaps, want %d; shown %+v, want %+v", name, crossed, told.Gaps, all.Gaps, told.Shown, all.Shown)
		}
	}
}
