package decoder

import (
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestUnknownCut would catch a cut that came to unknown code and costs the true one
// anything. The recording is of one CPU, and the page of code that a wrong cut comes
// to, which never ran, is left out. What was executed is from the emulator's log.
func TestUnknownCut(t *testing.T) {
	dir := filepath.Join(dataDir(t), "kernel-pokes-arm64", "repro")
	s := opened(t, Config{Recording: filepath.Join(dir, "snapshot"), Events: filepath.Join(dir, "events.jsonl")})
	got := prints{}
	if err := s.Flow(t.Context(), Query{Jobs: 1}, got); err != nil {
		t.Fatal(err)
	}
	want := testsize.Executed(t, filepath.Join(dir, "truth.id10.ips.zst"))
	p := got[0]
	right := 0
	for i := range min(len(want), len(p.ips)) {
		if p.ips[i] == want[i] {
			right++
		}
	}
	for _, q := range p.parts {
		if q.gap != nil {
			t.Errorf("%v", q.gap)
		} else if q.ambiguous {
			t.Errorf("ambiguous from instruction %d on", q.from)
		}
	}
	if right != len(want) || len(p.ips) != len(want) {
		t.Errorf("%d instructions, %d of %d right", len(p.ips), right, len(want))
	}
}
