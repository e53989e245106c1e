package gist

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// nowhere takes flow and forgets it.
type nowhere struct{}

func (nowhere) Flow(*decoder.Batch) error { return nil }

// TestWatch would catch first lines that differ from those of the whole summary: they are
// counted on the way to another sink. It would also catch lines of more than 80 columns, and
// changes that are said to lie within a time in which they do not.
func TestWatch(t *testing.T) {
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/ftrace/perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var q decoder.Query
	counted := Watch(s, &q)
	if err := s.Flow(t.Context(), q, nowhere{}); err != nil {
		t.Fatal(err)
	}
	only, err := (&filter.Flags{}).Resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	x, err := report.Summarise(t.Context(), s, decoder.Query{})
	if err != nil {
		t.Fatal(err)
	}
	whole := New(s, x, only)
	var got, want bytes.Buffer
	counted(whole.Gaps).Begin(&got)
	whole.Begin(&want)
	if got.String() != want.String() || got.Len() == 0 {
		t.Errorf("first lines:\n%swant\n%s", &got, &want)
	}
	for line := range bytes.Lines(got.Bytes()) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	within := 0
	for k := range s.Pokes() {
		if whole.From <= k.Time && k.Time <= whole.Until {
			within++
		}
	}
	if whole.PokesWithin != within || within == 0 || within == whole.Pokes {
		t.Errorf("%d of %d changes lie within the time, want %d", whole.PokesWithin, whole.Pokes, within)
	}
}
