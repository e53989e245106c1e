package decoder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// partSink keeps what a shard's own part holds, a line for each range and note.
type partSink struct{ lines []string }

// Flow keeps b.
func (p *partSink) Flow(b *flow.Batch) error {
	if b.Part != 0 {
		return nil
	}
	for n, r := range b.All() {
		if n != nil {
			p.lines = append(p.lines, fmt.Sprint(b.Stream, n.Kind, n.IP, n.Poke, n.Event.Off, n.Gap.Off))
		} else {
			p.lines = append(p.lines, fmt.Sprint(b.Stream, r.Block.Addr, r.N, r.Verdict, b.Stamps[r.Stamp].Time))
		}
	}
	return nil
}

// TestShards would catch flow that is lost or given twice at a seam, and parts that are not
// in the order of the whole. With times, without times, and with those that only the packets
// inside of segments state.
func TestShards(t *testing.T) {
	data := os.Getenv("PTDECODE_DATA")
	if data == "" {
		t.Skip("PTDECODE_DATA is not set: no real recordings to decode")
	}
	counts := []int{7}
	if testsize.Full(t) {
		counts = []int{1, 2, 7, 64}
	}
	user := filepath.Join(data, "pt-user", "foo")
	snap := filepath.Join(data, "coresight", "snapshots")
	for name, c := range map[string]Config{
		"kprobes":  {Recording: filepath.Join(data, "kernel-pokes-x86", "kprobes", "perf.data")},
		"no times": {Raw: []RawTrace{{Protocol: IntelPT, Path: filepath.Join(user, "cpu0.pt")}}, Code: []CodeFile{{Path: filepath.Join(user, "text.core")}}},
		"juno":     {Recording: filepath.Join(snap, "juno_r1_1"), AllBuffers: true},
		"TC2":      {Recording: filepath.Join(snap, "TC2"), AllBuffers: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.NoLearn = true
			s, err := Open(c)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, merged := range []bool{true, false} {
				var whole partSink
				if err := s.Flow(context.Background(), Query{Merged: merged}, &whole); err != nil {
					t.Fatal(err)
				}
				for _, n := range counts {
					var parts partSink
					for i := range n {
						if err := s.Flow(context.Background(), Query{Merged: merged, Shard: i + 1, Shards: n, Lead: 4096}, &parts); err != nil {
							t.Fatal(err)
						}
					}
					if !slices.Equal(parts.lines, whole.lines) {
						t.Errorf("merged %v, %d shards: %d ranges and notes, want %d in the same order", merged, n, len(parts.lines), len(whole.lines))
					}
				}
			}
		})
	}
}
