package etmv4

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// TestPointsAnywhere would catch sync points that depend on where the search
// begins or ends: among runs of zeros, A-Syncs that cannot be entered, and such
// that are cut short.
func TestPointsAnywhere(t *testing.T) {
	c := Config{Trace: testConfigs[units[0]]}
	r := rand.New(rand.NewPCG(13, 14))
	entry := async + "\x01\x00\x04\x85\x00\x10\x00\x00\x00\x00\x00\x00\x31\xf7"
	parts := []string{entry, entry, entry, async, async[:5], "\x00", "\x80", "\xf7", "\x04"}
	for range 300 {
		var buf []byte
		for range 1 + r.IntN(40) {
			buf = append(buf, parts[r.IntN(len(parts))]...)
		}
		size := int64(len(buf))
		segs, first := Plan(wire.Whole(buf), size, 0, c)
		p := NewPoints(wire.Whole(buf), size, c)
		if p.First() != first {
			t.Fatalf("the first sync point lies at %d, want %d", p.First(), first)
		}
		for _, piece := range []int64{1, 5, 12, 100, 1 << 20} {
			got := packets.SyncPoints(p, size, piece)
			if len(got) != len(segs) {
				t.Fatalf("%x: pieces of %d bytes: %d sync points, want %d", buf, piece, len(got), len(segs))
			}
			for i, s := range got {
				if g := &segs[i]; s.Off != g.Off || s.First != g.Starts || s.Timed {
					t.Fatalf("%x: pieces of %d bytes: sync point %d: %+v, want that of %+v", buf, piece, i, s, g)
				}
			}
		}
	}
}

// Catches a search that misses an A-Sync at either end, returns one cut short, or takes
// zeros before it for its own.
func TestFindSync(t *testing.T) { packets.FindSync(t, nil) }
