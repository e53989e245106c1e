package filter

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestUnlisted would catch Ctrl-C in the second pass that ends as if nothing had run, and a hint
// that fails to come.
func TestUnlisted(t *testing.T) {
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := (&Flags{Syms: []string{"schedule"}}).Resolve(s)
	if err != nil {
		t.Fatal(err)
	}
	if hint, err := f.Unlisted(context.Background(), decoder.Query{}, items.StreamsOf(s), rows.LevelCall); err != nil || len(hint) != 1 {
		t.Errorf("%q, %v; want a hint", hint, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if hint, err := f.Unlisted(ctx, decoder.Query{}, items.StreamsOf(s), rows.LevelCall); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %q, %v", hint, err)
	}
}
