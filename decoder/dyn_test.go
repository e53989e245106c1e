package decoder

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/pt"
)

// TestMissingText would catch a walk that runs on into code it does not have,
// hides where it stopped, or does not take the flow up again. The reference
// decoder takes the flow up at sync points only. When this test does so too,
// the reference decoder's instructions must be what is left.
func TestMissingText(t *testing.T) {
	dir := filepath.Join(dataDir(t), "pt-user", "dyn_test")
	s := opened(t, Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: filepath.Join(dir, "cpu0.pt")}}, Kcore: filepath.Join(dir, "text.core"), Model: pt.Model{Family: 6, Model: 94}})
	got := flowed(t, s, steps{})
	var b [1]byte
	held := func(ip uint64) bool { return s.Text().Image().ReadAt(b[:], ip) == 1 }
	g := readGolden(t, dir)
	h := sha256.New()
	segs := slices.Collect(s.Streams()[0].Segments())
	n, gaps, until := uint64(0), 0, int64(0)
	for _, x := range got[0] {
		if x.gap != nil {
			gaps++
			if x.gap.Reason != event.NoText || held(x.gap.IP) {
				t.Errorf("%v: want no-text at an address that is not held", x.gap)
			}
			i := sort.Search(len(segs), func(i int) bool { return segs[i].Off > x.gap.Off })
			until = max(until, segs[min(i, len(segs)-1)].Off)
			continue
		}
		if !held(x.ip) {
			t.Errorf("%#x printed, which is not held", x.ip)
		}
		if x.off < until {
			continue
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, x.ip))
		n++
	}
	if sum := fmt.Sprintf("%x", h.Sum(nil)); n != g.Instructions || sum != g.SHA {
		t.Errorf("%d instructions %s, want %d %s", n, sum, g.Instructions, g.SHA)
	}
	if gaps < 14 {
		t.Errorf("%d gaps, want one for each of at least 14 exits", gaps)
	}
}

var _ flow.Sink = steps{}
